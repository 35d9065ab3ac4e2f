/** Defines the tools that list, create, rename and delete vaults. */
import { z } from 'zod';
import { planOnce } from '../../actors/once/calls.ts';
import { confirmFirst } from '../../gateway/asking/ask.ts';
import { DESTROYS, defineTool, READS, SETS, type Tool } from '../../gateway/tool.ts';
import { headed, plural } from '../../gateway/words.ts';
import { limits } from '../../limits/service.ts';
import type { VaultRemoval } from '../history/vault-removal.ts';
import { vaultName } from '../vaults/name.ts';
import type { Vaults } from '../vaults/vaults.ts';

const vaultSchema = z.object({
  vault_id: z.string(),
  name: z.string(),
  is_primary: z.boolean().describe('The default vault of calls without vault_id'),
  file_count: z.int().nonnegative(),
  total_size_bytes: z.int().nonnegative().describe('Content bytes of the current files'),
  last_synced_at: z.string().nullable().describe('Time of the last change, ISO 8601 UTC'),
  pending_conflicts: z.int().nonnegative(),
  protected_paths: z.array(z.string()).nullable().describe('Its own list of globs; null: the default list'),
});

export function vaultList(vaults: Vaults): Tool {
  return defineTool({
    name: 'vault_list',
    title: 'List vaults',
    access: 'account',
    description: 'Lists vaults, oldest first. Tools without vault_id use the primary one.',
    input: z.strictObject({}),
    output: z.object({ vaults: z.array(vaultSchema), count: z.int().nonnegative() }),
    annotations: READS,
    example: {},
    handle(_args, { accountId }) {
      const found = vaults.list(accountId).map(({ id, record, head }) => ({
        vault_id: id,
        name: record.name,
        is_primary: record.is_primary,
        file_count: head.files,
        total_size_bytes: head.bytes,
        last_synced_at: head.seq === 0 ? null : new Date(head.stored_ms).toISOString(),
        pending_conflicts: head.pending,
        protected_paths: shownGlobs(record.protected_paths),
      }));
      const text = found.length === 0 ? 'no vaults yet; the first push creates one' : vaultsText(found);
      return { structured: { vaults: found, count: found.length }, text };
    },
  });
}

const vaultIdRequired = z.string().max(limits.vaultIdCharsMax);

export function vaultCreate(vaults: Vaults): Tool {
  return defineTool({
    name: 'vault_create',
    title: 'Create a vault',
    access: 'account',
    description: 'Creates a vault, or returns the existing one of this name. protected_paths replaces its list.',
    input: z.strictObject({
      name: vaultName.describe('Unique, in any case'),
      protected_paths: z
        .array(z.string().min(1).max(limits.globCharsMax))
        .max(limits.protectedGlobsMax)
        .nullable()
        .optional()
        .describe('Globs of files changed only with base_sha; null: the default list'),
    }),
    output: z.object({
      vault_id: z.string(),
      name: z.string(),
      status: z.enum(['created', 'existing', 'updated']),
      protected_paths: z.array(z.string()).nullable(),
    }),
    annotations: { ...SETS, openWorldHint: true },
    example: { name: 'notes' },
    async handle({ name, protected_paths: globs }, { accountId }) {
      const { id, record, status } = await vaults.create(accountId, name, globs);
      return {
        structured: { vault_id: id, name: record.name, status, protected_paths: shownGlobs(record.protected_paths) },
        text: `vault ${record.name} is ${id} (${status})`,
      };
    },
  });
}

export function vaultRename(vaults: Vaults): Tool {
  return defineTool({
    name: 'vault_rename',
    title: 'Rename a vault',
    access: 'account',
    description: 'Renames a vault. Its id, files and history stay the same.',
    input: z.strictObject({ vault_id: vaultIdRequired, name: vaultName }),
    output: z.object({ vault_id: z.string(), name: z.string(), former_name: z.string() }),
    annotations: SETS,
    example: { vault_id: 'v_0123456789abcdef', name: 'notes' },
    async handle({ vault_id: vaultId, name }, { accountId }) {
      const { id, record, formerName } = await vaults.rename(accountId, vaultId, name);
      return {
        structured: { vault_id: id, name: record.name, former_name: formerName },
        text: `vault ${formerName} is now named ${record.name} (${id})`,
      };
    },
  });
}

export function vaultDelete(vaults: Vaults, removal: Pick<VaultRemoval, 'begin'>): Tool {
  return defineTool({
    name: 'vault_delete',
    title: 'Permanently delete a vault',
    access: 'account',
    description:
      'Permanently deletes a vault with all files, versions and conflicts. This cannot be undone; confirm must be the exact name of the vault.',
    input: z.strictObject({
      vault_id: vaultIdRequired,
      confirm: z.string().max(limits.vaultNameCharsMax).describe('Its exact name'),
    }),
    output: z.object({
      vault_id: z.string(),
      name: z.string(),
      status: z.literal('deleted'),
      file_count: z.int().nonnegative().describe('Deleted files'),
      total_size_bytes: z.int().nonnegative(),
    }),
    annotations: DESTROYS,
    example: { vault_id: 'v_0123456789abcdef', confirm: 'notes' },
    async handle({ vault_id: vaultId, confirm }, { accountId }, { ask }) {
      const asked = async () => {
        const { record, head } = vaults.toDelete(accountId, vaultId, confirm);
        await confirmFirst(
          ask,
          `Permanently delete the vault "${record.name}" with ${plural(head.files, 'file')} and all their versions? This cannot be undone.`,
        );
      };
      const { id, record, head } = await planOnce(['delete'], asked, () => vaults.delete(accountId, vaultId, confirm));
      removal.begin();
      return {
        structured: {
          vault_id: id,
          name: record.name,
          status: 'deleted' as const,
          file_count: head.files,
          total_size_bytes: head.bytes,
        },
        text: `vault ${record.name} was deleted with ${head.files} files and all their versions`,
      };
    },
  });
}

function vaultsText(found: readonly z.infer<typeof vaultSchema>[]): string {
  return headed(
    plural(found.length, 'vault'),
    found,
    ({ vault_id: id, name, file_count, pending_conflicts, is_primary }) => {
      const waiting = pending_conflicts === 0 ? '' : `, ${plural(pending_conflicts, 'pending conflict')}`;
      return `${id} ${name}: ${plural(file_count, 'file')}${waiting}${is_primary ? ' (primary)' : ''}`;
    },
  );
}

function shownGlobs(globs: readonly string[] | null): string[] | null {
  return globs === null ? null : [...globs];
}
