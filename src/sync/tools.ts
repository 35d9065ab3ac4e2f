/** The tools over vaults and the log. */
import { z } from 'zod';
import { ADDS, defineTool, READS, SETS, type Tool } from '../gateway/tool.ts';
import { limits } from '../limits.ts';
import { compareTools } from './compare-tools.ts';
import type { PushResult } from './push.ts';
import { pushArguments } from './push-input.ts';
import type { Sync } from './service.ts';

const vaultSchema = z.object({
  vault_id: z.string(),
  name: z.string(),
  is_primary: z.boolean().describe('The vault that is meant when a call names none'),
  file_count: z.int().nonnegative(),
  total_size_bytes: z.int().nonnegative().describe('Content bytes of the current files'),
  last_synced_at: z.string().nullable().describe('When it last changed, ISO 8601 UTC'),
  pending_conflicts: z.int().nonnegative(),
  protected_paths: z.array(z.string()).nullable().describe('Its own list of globs; null: the default list'),
});

/** Every tool of this capability. */
export function syncTools(sync: Sync): Tool[] {
  return [vaultList(sync), vaultCreate(sync), syncPush(sync), ...compareTools(sync)];
}

function vaultList({ vaults }: Sync): Tool {
  return defineTool({
    name: 'vault_list',
    access: 'account',
    description: 'Lists the vaults of the account, oldest first.',
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
        protected_paths: record.protected_paths === null ? null : [...record.protected_paths],
      }));
      const lines = found.map((vault) => `${vault.vault_id} ${vault.name}: ${vault.file_count} files`);
      return {
        structured: { vaults: found, count: found.length },
        text: [`${found.length} vaults`, ...lines].join('\n'),
      };
    },
  });
}

function vaultCreate({ vaults }: Sync): Tool {
  return defineTool({
    name: 'vault_create',
    access: 'account',
    description:
      'Makes a vault, or gives the one that has this name. A list of protected paths replaces the one it has.',
    input: z.strictObject({
      name: z
        .string()
        .trim()
        .min(1)
        .max(limits.vaultNameCharsMax)
        .regex(/^[^\p{Cc}\p{Cs}]+$/u, 'must hold no control character')
        .describe('Name, unique in the account without case'),
      protected_paths: z
        .array(z.string().min(1).max(limits.globCharsMax))
        .max(limits.protectedGlobsMax)
        .nullable()
        .optional()
        .describe('Globs of files that are changed only with base_sha; null: the default list'),
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
      const shown = record.protected_paths === null ? null : [...record.protected_paths];
      return {
        structured: { vault_id: id, name: record.name, status, protected_paths: shown },
        text: `vault ${record.name} is ${id} (${status})`,
      };
    },
  });
}

function syncPush({ push }: Sync): Tool {
  return defineTool({
    name: 'sync_push',
    access: 'account',
    description:
      'Sends one file to the hub, or deletes it. A push that meets a change which it does not build on is refused and kept as a conflict.',
    input: pushArguments,
    output: z.object({
      vault_id: z.string(),
      path: z.string(),
      sha256: z.string(),
      git_sha: z.string().describe('Id that git gives the content, as git hash-object'),
      hlc: z.string(),
      previous_hlc: z.string().nullable().describe('Clock of the version before; null: the path is new'),
      size_bytes: z.int().nonnegative(),
      stored_at: z.string().describe('ISO 8601 UTC, rising with seq'),
      seq: z.int().positive().describe('Number of the change in its vault'),
      status: z.enum(['created', 'updated', 'deleted', 'unchanged']),
      warnings: z.array(z.string()),
    }),
    annotations: ADDS,
    example: {
      path: 'notes/today.md',
      content: '# Today\n',
      sha256: '0438e1f6a52d130aff81d4002078707dc706c86de3753ceb933e2ae59f0d758c',
      hlc: '2026-11-20T20:18:57.123Z-0000-89e4f1c2a0b3d756',
      device_id: 'laptop',
      mtime: '2026-11-20T20:18:50.000Z',
    },
    async handle(args, { accountId }) {
      const result = await push.push(accountId, args);
      return { structured: pushView(result), text: pushText(result) };
    },
  });
}

function pushView({ vaultId, status, record, previousHlc, warnings }: PushResult) {
  return {
    vault_id: vaultId,
    path: record.path,
    sha256: record.sha256,
    git_sha: record.git_sha,
    hlc: record.hlc,
    previous_hlc: previousHlc,
    size_bytes: record.size_bytes,
    stored_at: new Date(record.stored_ms).toISOString(),
    seq: record.seq,
    status,
    warnings: [...warnings],
  };
}

function pushText({ status, record, warnings }: PushResult): string {
  return [`${record.path} is ${status} as #${record.seq}, sha256 ${record.sha256}`, ...warnings].join('\n');
}
