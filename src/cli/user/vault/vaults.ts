/** Finds the vaults of an account by name, without creating one. */
import { z } from 'zod';
import { ClientError } from '../../../client/client-error.ts';
import { readAs } from '../../../client/sync/remote-record.ts';
import type { ToolClient } from '../../../client/tools.ts';
import { nearest } from '../../../text/nearest.ts';

const listSchema = z.object({
  vaults: z.array(
    z.object({
      vault_id: z.string(),
      name: z.string(),
      is_primary: z.boolean(),
      file_count: z.number(),
      total_size_bytes: z.number(),
      last_synced_at: z.string().nullable(),
      pending_conflicts: z.number(),
    }),
  ),
});

export type ListedVault = z.infer<typeof listSchema>['vaults'][number];

/** Every vault of the account, oldest first. */
export async function listVaults(tools: ToolClient): Promise<readonly ListedVault[]> {
  return readAs(listSchema, (await tools.call('vault_list', {})).structured).vaults;
}

/**
 * Finds a vault by name, ignoring case; without a name, the primary vault. Throws ClientError when it does not exist.
 */
export async function vaultNamed(tools: ToolClient, name: string | undefined): Promise<ListedVault> {
  const vaults = await listVaults(tools);
  const found = vaults.find((vault) => (name === undefined ? vault.is_primary : folded(vault.name) === folded(name)));
  if (found !== undefined) return found;
  if (name === undefined) throw new ClientError('this account has no primary vault; name a vault with --vault.');
  const guess = nearest(
    name,
    vaults.map((vault) => vault.name),
  );
  const hint = guess === undefined ? 'run `cairn vault list`' : `did you mean ${guess}?`;
  throw new ClientError(`there is no vault named ${name}; ${hint}`);
}

const folded = (name: string): string => name.normalize('NFC').toLowerCase();
