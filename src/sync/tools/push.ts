/** The tool that sends one file to the hub, and how what became of it is shown. */
import { z } from 'zod';
import { ADDS, defineTool } from '../../gateway/tool.ts';
import { pushArguments } from '../push/input.ts';
import type { Push } from '../push/push.ts';
import type { PushResult } from '../push/step.ts';

/** A change that was taken. */
export const pushedSchema = z.object({
  vault_id: z.string(),
  path: z.string(),
  sha256: z.string().describe('Of a delete: of what was deleted'),
  git_sha: z.string().describe('Id that git gives the content, as git hash-object'),
  hlc: z.string(),
  previous_hlc: z.string().nullable().describe('Clock of the version before; null: the path is new'),
  size_bytes: z.int().nonnegative(),
  stored_at: z.string().describe('ISO 8601 UTC, rising with seq'),
  seq: z.int().positive().describe('Number of the change in its vault'),
  status: z.enum(['created', 'updated', 'deleted', 'renamed', 'restored', 'unchanged']),
  warnings: z.array(z.string()),
});

export function syncPush(push: Push) {
  return defineTool({
    name: 'sync_push',
    access: 'account',
    description:
      'Sends one file to the hub, renames it or deletes it. A push that meets a change which it does not build on is refused and kept as a conflict.',
    input: pushArguments,
    output: pushedSchema,
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
    stored_at: new Date(record.stored_ms).toISOString(),
    seq: record.seq,
    status,
    warnings: [...warnings],
  };
}

export function pushedText({ status, record, warnings }: PushResult): string {
  return [`${record.path} is ${status}, #${record.seq}, sha256 ${record.sha256}`, ...warnings].join('\n');
}
