/** Defines the read-only tools that compare and merge files. */
import { z } from 'zod';
import { defineTool, READS, type Tool } from '../../gateway/tool.ts';
import { plural, withContent } from '../../gateway/words.ts';
import { limits } from '../../limits/service.ts';
import { DIFF_STATUSES, type DiffAnswer, type DiffQuery } from '../compare/diff.ts';
import type { MergeAnswer, MergeQuery } from '../compare/merge.ts';
import type { FileRecord } from '../log/file-record.ts';
import { contentArgument, encodingArgument, pathArgument, vaultIdArgument } from '../push/input.ts';

const baseArgument = z.string().max(64).optional();

const remoteSchema = z.object({
  seq: z.int().positive(),
  sha256: z.string().nullable().describe('Null: it is deleted'),
  git_sha: z.string().nullable(),
  hlc: z.string(),
  size_bytes: z.int().nonnegative(),
  stored_at: z.string(),
  device_id: z.string(),
  remote_mtime: z.string().nullable(),
  executable: z.boolean(),
});

export function compareTools(queries: { readonly diffs: DiffQuery; readonly merges: MergeQuery }): Tool[] {
  return [syncDiff(queries.diffs), syncMerge(queries.merges)];
}

function syncDiff(diffs: DiffQuery): Tool {
  return defineTool({
    name: 'sync_diff',
    title: 'Compare a file',
    access: 'account',
    description: "Compares your copy of a file with the hub's. With only a path, shows its newest change.",
    input: z.strictObject({
      path: pathArgument,
      content: contentArgument.optional().describe('Your copy'),
      encoding: encodingArgument,
      sha256: z.string().max(64).optional().describe('Of your copy; instead of content'),
      base_sha: baseArgument.describe('sha256 or git_sha your copy is based on'),
      context: z.int().min(0).max(limits.diffContextLinesMax).optional().describe('Context lines; default 3'),
      vault_id: vaultIdArgument,
    }),
    output: z.object({
      vault_id: z.string(),
      path: z.string(),
      status: z
        .enum(DIFF_STATUSES)
        .describe('remote_ahead: pull; local_ahead: push; diverged: sync_merge; missing: the hub never had it'),
      remote: remoteSchema.nullable().describe('The newest version on the hub; null when missing'),
      base_available: z.boolean().describe('True: the version of base_sha is kept, so sync_merge can use it'),
      diff: z
        .string()
        .nullable()
        .describe('Unified diff from the hub to your copy; null if the hub does not have your content'),
    }),
    annotations: READS,
    example: { path: 'notes/today.md', content: '# Tomorrow\n' },
    async handle(args, { accountId }) {
      const answer = await diffs.diff(accountId, args);
      return { structured: diffView(answer), text: diffText(answer) };
    },
  });
}

function syncMerge(merges: MergeQuery): Tool {
  return defineTool({
    name: 'sync_merge',
    title: 'Merge a file',
    access: 'account',
    description:
      "Merges your text with the hub's, against their common version. Read-only: push the returned content with the returned base_sha.",
    input: z.strictObject({
      path: pathArgument.optional().describe('Not with conflict_id'),
      content: contentArgument.optional().describe('Your text; not with conflict_id'),
      encoding: encodingArgument,
      base_sha: baseArgument.describe('sha256 or git_sha your text is based on'),
      conflict_id: z
        .string()
        .max(limits.vaultIdCharsMax)
        .optional()
        .describe('Merges the rejected push of this conflict'),
      favor: z
        .enum(['none', 'ours', 'theirs'])
        .optional()
        .describe('Side to choose where both changed: yours (ours) or the hub (theirs); default none: mark conflicts'),
      style: z.enum(['merge', 'diff3']).optional().describe('diff3 also shows the ancestor; default merge'),
      vault_id: vaultIdArgument,
    }),
    output: z.object({
      vault_id: z.string(),
      path: z.string(),
      content: z.string().nullable().describe('Merged text; null: a deleted file, or favor must choose a side'),
      encoding: z.enum(['utf-8', 'base64']),
      sha256: z.string().nullable().describe('SHA-256 of content'),
      deleted: z.boolean().describe('The merge result is a deleted file'),
      has_conflicts: z.boolean(),
      conflict_count: z.int().nonnegative().describe('Parts marked with <<<<<<< yours, =======, >>>>>>> hub'),
      base_sha: z.string().describe('Push the merge with this base_sha'),
      ancestor_found: z.boolean().describe('False: the whole file is one conflict'),
      ancestor_sha: z.string().nullable(),
      server_sha256: z.string().nullable().describe('The file on the hub; null: it is deleted there'),
      server_hlc: z.string().nullable().describe('Null: the path never had a file'),
    }),
    annotations: READS,
    example: { path: 'notes/today.md', content: '# Today\n\nCall the printer.\n' },
    async handle(args, { accountId }) {
      const answer = await merges.merge(accountId, args);
      return { structured: mergeView(answer), text: mergeText(answer) };
    },
  });
}

function remoteView(file: FileRecord) {
  return {
    seq: file.seq,
    sha256: file.deleted ? null : file.sha256,
    git_sha: file.deleted ? null : file.git_sha,
    hlc: file.hlc,
    size_bytes: file.size_bytes,
    stored_at: new Date(file.stored_ms).toISOString(),
    device_id: file.device_id,
    remote_mtime: file.mtime,
    executable: file.executable,
  };
}

function diffView({ vaultId, path, status, file, isBaseKept, diff }: DiffAnswer) {
  return {
    vault_id: vaultId,
    path,
    status,
    remote: file === undefined ? null : remoteView(file),
    base_available: isBaseKept,
    diff: diff ?? null,
  };
}

function diffText({ path, status, file, diff, isBaseKept }: DiffAnswer): string {
  const now = file === undefined || file.deleted ? 'nothing' : `sha256 ${file.sha256}, #${file.seq}`;
  const base = isBaseKept ? '; the version of base_sha is kept' : '';
  const headline = `${path} is ${status}; the hub has ${now}${base}`;
  return diff === undefined || diff === '' ? headline : withContent(headline, diff);
}

function mergeView({ vaultId, path, content, deleted, conflicts, baseSha, ancestorSha, live, serverHlc }: MergeAnswer) {
  return {
    vault_id: vaultId,
    path,
    content: content?.text ?? null,
    encoding: content?.encoding ?? ('utf-8' as const),
    sha256: content?.sha256 ?? null,
    deleted,
    has_conflicts: conflicts > 0,
    conflict_count: conflicts,
    base_sha: baseSha,
    ancestor_found: ancestorSha !== undefined,
    ancestor_sha: ancestorSha ?? null,
    server_sha256: live?.sha256 ?? null,
    server_hlc: serverHlc ?? null,
  };
}

function mergeText(answer: MergeAnswer): string {
  const { path, content, deleted, conflicts, baseSha, live } = answer;
  if (deleted) {
    const next = live === undefined ? 'there is nothing to push' : `push deleted: true with base_sha ${baseSha}`;
    return `${path}: the merge result is a deleted file; ${next}`;
  }
  if (content === undefined)
    return `${path}: the sides cannot be shown as one text; call again with favor ours or theirs`;
  if (content.sha256 === live?.sha256) return `${path}: the merge is what the hub has; there is nothing to push`;
  const form = content.encoding === 'base64' ? ', encoding base64,' : '';
  const push = `push it${form} with base_sha "${baseSha}" and sha256 ${content.sha256}`;
  if (conflicts === 0) return withContent(`${path} is merged: ${push}`, content.text);
  const headline = `${path} has ${plural(conflicts, 'conflict')}: settle the marked parts, then push it with base_sha "${baseSha}"`;
  return withContent(headline, content.text);
}
