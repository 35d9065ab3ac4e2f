/** Finds the vault that a sync command names, or creates it. */
import { z } from 'zod';
import { ClientError } from '../client-error.ts';
import { shownLine } from '../shown.ts';
import type { ToolClient } from '../tools.ts';
import { readAs } from './remote-record.ts';

const vaultSchema = z.object({ vault_id: z.string() });
const vaultsSchema = z.object({
  vaults: z.array(z.object({ vault_id: z.string(), name: z.string(), is_primary: z.boolean() })),
});

/**
 * Finds a vault by name, or creates it when `mayCreate`, called with the existing names, allows that; without a name,
 * finds the primary vault.
 */
export async function findVault(
  tools: ToolClient,
  name: string | undefined,
  mayCreate: (name: string, existing: readonly string[]) => Promise<boolean>,
): Promise<string> {
  const { vaults } = readAs(vaultsSchema, (await tools.call('vault_list', {})).structured);
  if (name !== undefined) {
    const found = vaults.find((vault) => vault.name === name);
    if (found !== undefined) return found.vault_id;
    const isAllowed = await mayCreate(
      name,
      vaults.map((vault) => vault.name),
    );
    if (!isAllowed) throw new ClientError(`no vault ${name} was created.`);
    return readAs(vaultSchema, (await tools.call('vault_create', { name })).structured).vault_id;
  }
  const primary = vaults.find((vault) => vault.is_primary);
  if (primary === undefined) {
    const names = vaults.map((vault) => shownLine(vault.name)).join(', ');
    const there = vaults.length === 0 ? 'There is none yet, so it is created.' : `There is: ${names}.`;
    throw new ClientError(`name a vault with --vault. ${there}`);
  }
  return primary.vault_id;
}
