/** Defines the tools that list the versions of a path and restore one. */
import { z } from 'zod';
import { invalidField } from '../../common/fault.ts';
import { ADDS, defineTool, READS, type Tool } from '../../gateway/tool.ts';
import { headed, plural } from '../../gateway/words.ts';
import { limits } from '../../limits/service.ts';
import type { History } from '../history/history.ts';
import type { Conflict } from '../log/reader.ts';
import type { VersionMeta } from '../log/version.ts';
import { deviceIdArgument, pathArgument, vaultIdArgument } from '../push/input.ts';
import { pushedSchema, pushedText, pushedView } from './push.ts';

const seqArgument = z.int().min(1).max(Number.MAX_SAFE_INTEGER);

const versionSchema = z.object({
  seq: z.int().positive(),
  path: z.string().describe('As it was spelled then'),
  status: z.enum(['created', 'updated', 'renamed', 'restored', 'deleted']),
  deleted: z.boolean(),
  sha256: z.string(),
  git_sha: z.string(),
  hlc: z.string(),
  size_bytes: z.int().nonnegative(),
  encoding: z.enum(['utf-8', 'base64', 'chunks']),
  stored_at: z.string(),
  device_id: z.string(),
  remote_mtime: z.string().nullable(),
  executable: z.boolean(),
  renamed_from: z.string().nullable().describe('The path that the file had before this version'),
});

const notChosenSchema = z.object({
  conflict_id: z.string(),
  path: z.string(),
  status: z.enum(['resolved', 'superseded', 'dismissed']).describe('How the conflict was settled'),
  device_id: z.string(),
  sha256: z.string(),
  size_bytes: z.int().nonnegative(),
  encoding: z.enum(['utf-8', 'base64', 'chunks']),
  detected_at: z.string(),
  settled_at: z.string().nullable(),
});

type NotChosen = z.infer<typeof notChosenSchema>;
type VersionView = z.infer<typeof versionSchema>;

export function syncHistory(history: History): Tool {
  return defineTool({
    name: 'sync_history',
    title: 'List versions of a file',
    access: 'account',
    description:
      'Lists the kept versions of a file, newest first, including those under its earlier names, and the sides of conflicts that were not chosen. sync_restore brings one back.',
    input: z.strictObject({
      path: pathArgument.describe('May be deleted'),
      limit: z.int().min(1).max(limits.historyMax).optional().describe(`Default ${limits.historyDefault}`),
      before: seqArgument.optional().describe('Only versions before this seq'),
      vault_id: vaultIdArgument,
    }),
    output: z.object({
      vault_id: z.string(),
      path: z.string(),
      versions: z.array(versionSchema),
      count: z.int().nonnegative().describe('Versions in this answer'),
      not_chosen: z
        .array(notChosenSchema)
        .describe('Sides of settled conflicts that are in no version; first page only'),
      has_more: z.boolean().describe('True when there are older ones; continue with before'),
    }),
    annotations: READS,
    example: { path: 'notes/today.md' },
    async handle({ path, limit, before, vault_id: vaultId }, { accountId }) {
      const page = await history.list(accountId, { path, vaultId, limit: limit ?? limits.historyDefault, before });
      const versions = page.versions.map(versionView);
      const oldest = versions.at(-1)?.seq;
      const older = page.hasMore ? `; there are older ones, continue with before ${oldest}` : '';
      return {
        structured: {
          vault_id: page.vaultId,
          path: page.path,
          versions,
          count: versions.length,
          not_chosen: page.notChosen.map(notChosenView),
          has_more: page.hasMore,
        },
        text: [
          headed(`${page.path}: ${plural(versions.length, 'version')}${older}`, versions, versionLine),
          ...page.notChosen.map((conflict) => notChosenLine(notChosenView(conflict))),
        ].join('\n'),
      };
    },
  });
}

export function syncRestore(history: History): Tool {
  return defineTool({
    name: 'sync_restore',
    title: 'Restore a version of a file',
    access: 'account',
    description:
      'Restores an older version of a path, or the side of a conflict that was not chosen, as a new change. The current version stays in the history.',
    input: z.strictObject({
      path: pathArgument.describe('May be deleted'),
      seq: seqArgument.optional().describe('See sync_history'),
      conflict_id: z
        .string()
        .min(1)
        .max(limits.vaultIdCharsMax)
        .optional()
        .describe('Instead of seq: from not_chosen of sync_history'),
      base_sha: z.string().max(64).optional().describe('sha256 that must be current; empty: no file'),
      device_id: deviceIdArgument.optional().describe('Default: hub'),
      vault_id: vaultIdArgument,
    }),
    output: pushedSchema,
    annotations: ADDS,
    example: { path: 'notes/today.md', seq: 1 },
    async handle(args, { accountId }) {
      const { path, base_sha: baseSha, device_id: deviceId, vault_id: vaultId } = args;
      const result = await history.restore(accountId, { path, seq: wantedOf(args), baseSha, deviceId, vaultId });
      return { structured: pushedView(result), text: pushedText(result) };
    },
  });
}

function wantedOf({ seq, conflict_id: conflictId }: { seq?: number | undefined; conflict_id?: string | undefined }) {
  if (seq !== undefined && conflictId === undefined) return seq;
  if (seq === undefined && conflictId !== undefined) return { conflictId };
  throw invalidField('seq', 'name the version with either seq or conflict_id; sync_history lists both');
}

function notChosenLine({
  conflict_id: id,
  path,
  detected_at: at,
  status,
  device_id: device,
  ...side
}: NotChosen): string {
  return `not chosen (${status}): conflict ${id} ${path} ${at} by ${device}, ${side.size_bytes} bytes, sha256 ${side.sha256}`;
}

function notChosenView({ id, record }: Conflict): NotChosen {
  const { path, status, device_id, your_sha256: sha256, size_bytes, encoding, detected_at, settled_at } = record;
  // isNotChosen leaves out pending conflicts and deletes.
  if (status === 'pending' || sha256 === null) throw new Error('a pending conflict or a delete is no version');
  return { conflict_id: id, path, status, device_id, sha256, size_bytes, encoding, detected_at, settled_at };
}

function versionLine({ seq, path, stored_at: at, status, device_id: device, sha256, size_bytes }: VersionView): string {
  return `#${seq} ${path} ${at} ${status} by ${device}, ${size_bytes} bytes, sha256 ${sha256}`;
}

function versionView(meta: VersionMeta): VersionView {
  const { type, deleted_at: _, encoding = 'utf-8', renamed_from: from = null, executable = false, ...rest } = meta;
  return { ...rest, executable, deleted: type === 'deleted', encoding, renamed_from: from };
}
