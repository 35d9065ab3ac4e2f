/** Defines the tool that pushes one file, and shows the outcome. */
import { z } from 'zod';
import type { CallerName } from '../../common/principal.ts';
import { ADDS, defineTool } from '../../gateway/tool.ts';
import { limits } from '../../limits/service.ts';
import { pushArguments, withDevice } from '../push/input.ts';
import type { Push } from '../push/push.ts';
import type { PushResult } from '../push/step.ts';

/** An accepted change. */
export const pushedSchema = z.object({
  vault_id: z.string(),
  path: z.string(),
  sha256: z.string().describe('For a delete: of the deleted content'),
  git_sha: z.string().describe('Git blob id of the content, as of git hash-object'),
  hlc: z.string(),
  previous_hlc: z.string().nullable().describe('Clock of the previous version; null: new path'),
  size_bytes: z.int().nonnegative(),
  executable: z.boolean().describe('Whether the file may be run as a program'),
  stored_at: z.string().describe('ISO 8601 UTC, rising with seq'),
  seq: z.int().positive().describe('Number of the change in its vault'),
  status: z.enum(['created', 'updated', 'deleted', 'renamed', 'restored', 'unchanged']),
  warnings: z.array(z.string()),
});

/** `deviceOf`: the default device id of a caller. */
export function syncPush(push: Push, deviceOf: CallerName) {
  return defineTool({
    name: 'sync_push',
    title: 'Write, rename or delete a file',
    access: 'account',
    description:
      'Writes one file, renames it or deletes it. A new file needs path and content; a change needs the base_sha that you read, and is stored as a conflict if the file changed since.',
    input: pushArguments,
    output: pushedSchema,
    annotations: ADDS,
    takesContents: true,
    example: { path: 'notes/today.md', content: '# Today\n' },
    async handle(args, principal, caller) {
      if (args.encoding === 'chunks') caller.linger(limits.chunkedPushSeconds, () => {});
      const result = await push.push(principal.accountId, withDevice(args, undefined, deviceOf(principal)));
      return { structured: pushedView(result), text: pushedText(result) };
    },
  });
}

export function pushedView({ vaultId, status, record, previousHlc, warnings }: PushResult) {
  return {
    vault_id: vaultId,
    path: record.path,
    sha256: record.sha256,
    git_sha: record.git_sha,
    hlc: record.hlc,
    previous_hlc: previousHlc,
    size_bytes: record.size_bytes,
    executable: record.executable,
    stored_at: new Date(record.stored_ms).toISOString(),
    seq: record.seq,
    status,
    warnings: [...warnings],
  };
}

export function pushedText({ status, record, warnings }: PushResult): string {
  return [`${record.path} is ${status}, #${record.seq}, sha256 ${record.sha256}`, ...warnings].join('\n');
}
