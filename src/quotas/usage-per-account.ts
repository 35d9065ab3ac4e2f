/**
 * Migrates the data file to schema 4: counts the usage of each account, and makes the oldest account the operator's.
 */
import { recordCodec, versionedTextCodec } from '../store/codec.ts';
import type { Batch } from '../store/group-commit.ts';
import type { Migration } from '../store/meta/schema.ts';
import { defineUnsummedTable } from '../store/table.ts';

/** The rows as this migration reads and writes them. */
const accounts = defineUnsummedTable<[accountId: string], { readonly created_at: string }>(
  'accounts',
  recordCodec(1),
  {},
);
const blobs = defineUnsummedTable<[accountId: string, commit: string, sha256: string], { readonly byte_size: number }>(
  'mirror_blobs',
  recordCodec(1),
  {},
);
const versions = defineUnsummedTable<
  [accountId: string, space: string, id: number, version: number],
  { size_bytes: number }
>('version_rows', recordCodec(1), {});
const tasks = defineUnsummedTable<[accountId: string, taskId: number], string>('tasks', versionedTextCodec(2), {});
const usage = defineUnsummedTable<[accountId: string, kind: string], { readonly bytes: number }>(
  'account_usage',
  recordCodec(1),
  {},
);
const standings = defineUnsummedTable<[accountId: string], object>('account_standings', recordCodec(1), {});

const COUNTED_BYTES = 1024;

export const usagePerAccount: Migration = {
  to: 4,
  what: 'what an account uses is counted',
  tables: [],
  check: () => [],
  /** One account per piece, ordered by account id. */
  piece(batch, from) {
    const beyond = from === undefined ? {} : { beyond: from };
    const [next] = batch.range(accounts, { prefix: [], limit: 1, ...beyond });
    if (next === undefined) {
      nameOperator(batch);
      return undefined;
    }
    const [accountId] = next.key;
    const blobBytes = sum(batch.range(blobs, { prefix: [accountId] }).map(({ value }) => value.byte_size));
    const textBytes = sum(
      batch.range(versions, { prefix: [accountId] }).map(({ value }) => value.size_bytes + COUNTED_BYTES),
    );
    const taskBytes = sum(batch.range(tasks, { prefix: [accountId] }).map(({ value }) => sizeOf(value)));
    if (blobBytes > 0) batch.put(usage, [accountId, 'blobs'], { bytes: blobBytes });
    if (textBytes + taskBytes > 0) batch.put(usage, [accountId, 'documents'], { bytes: textBytes + taskBytes });
    return [accountId];
  },
};

function nameOperator(batch: Batch): void {
  const all = batch.range(accounts, { prefix: [] });
  const [first] = all.sort((a, b) => a.value.created_at.localeCompare(b.value.created_at));
  if (first === undefined) return;
  batch.put(standings, first.key, { disabled_at: null, operator: true, keeps_writing: false, quotas: {} });
}

function sizeOf(task: string): number {
  const { content } = JSON.parse(task) as { readonly content: string };
  return Buffer.byteLength(content) + COUNTED_BYTES;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
