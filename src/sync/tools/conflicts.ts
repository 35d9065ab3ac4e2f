/** Defines the tools that list pending conflicts and resolve one. */
import { z } from 'zod';
import { invalidField } from '../../common/fault.ts';
import { ADDS, defineTool, READS, type Tool } from '../../gateway/tool.ts';
import { headed, plural } from '../../gateway/words.ts';
import { limits } from '../../limits/service.ts';
import type { Conflicts, PendingConflict } from '../conflicts/conflicts.ts';
import { deviceIdArgument, pathArgument, vaultIdArgument } from '../push/input.ts';

const sha = z.string().nullable();

const conflictSchema = z.object({
  conflict_id: z.string(),
  path: z.string(),
  kind: z.enum(['edit/edit', 'edit/delete', 'delete/edit', 'create/create']).describe('Yours, then the hub’s'),
  status: z.enum(['pending', 'resolved', 'superseded', 'dismissed']),
  your_sha256: sha.describe('Of the rejected content; null: a delete'),
  your_hlc: z.string(),
  device_id: z.string(),
  size_bytes: z.int().nonnegative(),
  encoding: z.enum(['utf-8', 'base64', 'chunks']),
  server_sha256: sha.describe('The current version when it was rejected; null: no file'),
  server_hlc: z.string().nullable(),
  base_sha: sha.describe('base_sha of the rejected push'),
  current_sha256: sha.describe('The current version; null: no file'),
  detected_at: z.string(),
});

export function syncPendingConflicts(conflicts: Conflicts): Tool {
  return defineTool({
    name: 'sync_pending_conflicts',
    title: 'List conflicts',
    access: 'account',
    description: 'Lists pending conflicts: rejected pushes, kept until resolved.',
    input: z.strictObject({
      path: pathArgument.optional(),
      limit: z.int().min(1).max(limits.conflictsMax).optional().describe(`Default ${limits.conflictsDefault}`),
      cursor: z.string().max(limits.conflictCursorCharsMax).optional().describe('From an earlier answer'),
      vault_id: vaultIdArgument,
    }),
    output: z.object({
      vault_id: z.string(),
      count: z.int().nonnegative().describe('Conflicts in this answer'),
      conflicts: z.array(conflictSchema),
      cursor: z.string().nullable().describe('For the next page; null: last page'),
    }),
    annotations: READS,
    example: {},
    async handle({ path, limit, cursor, vault_id: vaultId }, { accountId }) {
      const query = { path, vaultId, cursor, limit: limit ?? limits.conflictsDefault };
      const page = await conflicts.pending(accountId, query);
      const found = page.conflicts.map(conflictView);
      const payload = { vault_id: page.vaultId, count: found.length, conflicts: found };
      return {
        structured: { ...payload, cursor: page.cursor ?? null },
        text: headed(pendingHeadline(found.length, page.cursor), found, conflictLine),
        resource: { uri: `cairn://vaults/${page.vaultId}/conflicts`, json: payload },
      };
    },
  });
}

export function syncResolveConflict(conflicts: Conflicts): Tool {
  return defineTool({
    name: 'sync_resolve_conflict',
    title: 'Resolve a conflict',
    access: 'account',
    description:
      'Resolves a conflict, or all of a path, with the version on the hub (theirs) or the rejected push (yours), or both: the push becomes a second file. To keep a merge, use sync_push with resolves.',
    input: z.strictObject({
      conflict_id: z.string().min(1).max(limits.vaultIdCharsMax).optional(),
      path: pathArgument.optional().describe('Instead of conflict_id'),
      keep: z.enum(['theirs', 'yours', 'both']),
      base_sha: z.string().max(64).optional().describe('sha256 that must be current; empty: no file'),
      device_id: deviceIdArgument.optional().describe('Default: hub'),
      vault_id: vaultIdArgument,
    }),
    output: z.object({
      vault_id: z.string(),
      path: z.string(),
      settled: z.array(z.string()).describe('Ids of the conflicts'),
      status: z.enum(['resolved', 'dismissed']),
      seq: z.int().positive().nullable().describe('Newest change of the path'),
      current_sha256: sha.describe('The current version; null: no file'),
      copies: z.array(z.string()).optional().describe('With both: paths of the second files'),
    }),
    annotations: ADDS,
    example: { path: 'notes/today.md', keep: 'theirs' },
    async handle(args, { accountId }) {
      const { vaultId, path, settled, file, copies } = await resolve(conflicts, accountId, args);
      const also = copies.length === 0 ? {} : { copies };
      const status = args.keep === 'theirs' ? ('dismissed' as const) : ('resolved' as const);
      const current = currentSha(file);
      return {
        structured: {
          vault_id: vaultId,
          path,
          settled,
          status,
          seq: file?.seq ?? null,
          current_sha256: current,
          ...also,
        },
        text: `${settled.length} conflicts of ${path} are ${status}; current is ${current ?? 'no file'}${copies.map((copy) => `; ${copy} is the other side`).join('')}`,
      };
    },
  });
}

interface ResolveArguments {
  readonly conflict_id?: string | undefined;
  readonly path?: string | undefined;
  readonly keep: 'theirs' | 'yours' | 'both';
  readonly base_sha?: string | undefined;
  readonly device_id?: string | undefined;
  readonly vault_id?: string | undefined;
}

async function resolve(conflicts: Conflicts, accountId: string, args: ResolveArguments) {
  const { conflict_id: conflictId, path } = args;
  const common = {
    vaultId: args.vault_id,
    keep: { side: args.keep },
    baseSha: args.base_sha,
    deviceId: args.device_id,
  };
  if (path !== undefined && conflictId === undefined) {
    return { ...(await conflicts.resolvePath(accountId, { ...common, path })), path };
  }
  if (conflictId === undefined) throw invalidField('conflict_id', 'conflict_id is required, or path');
  if (path !== undefined) throw invalidField('path', 'path cannot be combined with conflict_id; send one of them');
  const { vaultId, conflict, file, copy } = await conflicts.resolve(accountId, { ...common, conflictId });
  const copies = copy === undefined ? [] : [copy];
  return { vaultId, path: conflict.record.path, settled: [conflict.id], file, copies };
}

function pendingHeadline(count: number, cursor: string | undefined): string {
  if (count === 0) return 'No pending conflicts.';
  const more = cursor === undefined ? '' : `; there are more, continue with cursor ${JSON.stringify(cursor)}`;
  return `${plural(count, 'pending conflict')} (sync_merge with conflict_id merges one)${more}`;
}

function conflictLine(one: z.infer<typeof conflictSchema>): string {
  const sides = `yours ${one.your_sha256 ?? 'deleted'}, now ${one.current_sha256 ?? 'no file'}`;
  return `${one.conflict_id} ${one.path} (${one.kind}, from ${one.device_id}, ${one.detected_at}; ${sides})`;
}

function conflictView({ id, record, file }: PendingConflict): z.infer<typeof conflictSchema> {
  return {
    conflict_id: id,
    path: record.path,
    kind: record.kind,
    status: record.status,
    your_sha256: record.your_sha256,
    your_hlc: record.your_hlc,
    device_id: record.device_id,
    size_bytes: record.size_bytes,
    encoding: record.encoding,
    server_sha256: record.server_sha256,
    server_hlc: record.server_hlc,
    base_sha: record.base_sha,
    current_sha256: currentSha(file),
    detected_at: record.detected_at,
  };
}

function currentSha(file: PendingConflict['file']): string | null {
  return file === undefined || file.deleted ? null : file.sha256;
}
