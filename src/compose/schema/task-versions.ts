/** Migrates the data file to schema 6: each task has a version. */
import { versionedTextCodec } from '../../store/codec.ts';
import type { Migration } from '../../store/meta/schema.ts';
import { defineUnsummedTable } from '../../store/table.ts';

/** The rows as this migration reads and writes them: a JSON object. */
type TaskKey = [accountId: string, taskId: number];
const oldTasks = defineUnsummedTable<TaskKey, string>('tasks', versionedTextCodec(2), {});
const newTasks = defineUnsummedTable<TaskKey, string>('tasks', versionedTextCodec(3), {});

/** Tasks per commit. Each has at most 10,000 characters, and all of a piece are in memory. */
const PIECE_ROWS = 500;

export const taskVersions: Migration = {
  to: 6,
  what: 'tasks have versions',
  tables: [],
  check: () => [],
  piece(batch, from) {
    const rows = batch.range(oldTasks, {
      prefix: [],
      limit: PIECE_ROWS,
      ...(from === undefined ? {} : { beyond: from }),
    });
    for (const { key, value } of rows) batch.put(newTasks, key, JSON.stringify({ ...JSON.parse(value), version: 1 }));
    return rows.length < PIECE_ROWS ? undefined : rows.at(-1)?.key;
  },
};
