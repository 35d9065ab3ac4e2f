/**
 * Defines the tables of tasks and categories. Tasks are found through `task_rows`: one small row per order of a task,
 * in the space of its bucket. Counters contain the number of tasks in each bucket.
 */
import { emptyRecordCodec, recordCodec, spacious, versionedTextCodec } from '../store/codec.ts';
import { type AnyTable, defineHeads, defineTable } from '../store/table.ts';
import type { CategoryRecord, KanbanStatus, TaskRecord } from './declared.ts';

/** One row per account: the last used numbers. */
export interface TaskHead {
  readonly task_id: number;
  readonly category_id: number;
  /** Creation time of the newest task. A clock that is set back by seconds makes no task older than the one before. */
  readonly created_at: string;
}

/** Number of tasks in each bucket of a scope; eight numbers of four bytes. */
export interface BucketCounts {
  readonly counts: readonly number[];
}

const TASKS = 'tasks';

const taskTextCodec = versionedTextCodec(3);

/** Due day of an index row: days since 1970-01-01. */
const dayCodec = spacious<number>({
  encodeWith(day, spare) {
    const bytes = Buffer.allocUnsafe(4 + spare);
    bytes.writeInt32BE(day);
    return bytes;
  },
  decode: (bytes) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getInt32(0),
});

type TaskKey = [accountId: string, taskId: number];

/** Occurs once in the JSON of a live task: within a JSON string the quotes are escaped, and it is never the first member. */
const NOT_DELETED = ',"deleted_at":null';

/** The texts of records, which do not change: a row, a cache and an answer are made of the same one. */
const texts = new WeakMap<TaskRecord, string>();

/** JSON of a task in public form, as it is stored; the internal member comes last, and only for deleted tasks. */
export function taskJson(task: TaskRecord): string {
  let text = texts.get(task);
  if (text === undefined) {
    text = jsonOf(task);
    texts.set(task, text);
  }
  return text;
}

function jsonOf(task: TaskRecord): string {
  if (task.deleted_at === null) return JSON.stringify(task).replace(NOT_DELETED, '');
  const { deleted_at, ...shown } = task;
  return JSON.stringify({ ...shown, deleted_at });
}

const taskCodec = spacious<TaskRecord>({
  encodeWith: (task, spare) => taskTextCodec.encodeWith(taskJson(task), spare),
  decode(bytes) {
    const task = JSON.parse(taskTextCodec.decode(bytes)) as Omit<TaskRecord, 'deleted_at'> & { deleted_at?: string };
    return Object.assign(task, { deleted_at: task.deleted_at ?? null });
  },
});

export const tasks = defineTable<TaskKey, TaskRecord>(TASKS, taskCodec, { account: 0 });

/** The same rows as text: a list is assembled from encoded tasks. */
export const taskTexts = defineTable<TaskKey, string>(TASKS, taskTextCodec, {});

const countsCodec = spacious<BucketCounts>({
  encodeWith({ counts }, spare) {
    const bytes = Buffer.allocUnsafe(counts.length * 4 + spare);
    for (let bucket = 0; bucket < counts.length; bucket += 1) bytes.writeUInt32BE(counts[bucket] ?? 0, bucket * 4);
    return bytes;
  },
  decode(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const counts: number[] = [];
    for (let at = 0; at < bytes.length; at += 4) counts.push(view.getUint32(at));
    return { counts };
  },
});

export const taskHeads = defineHeads<[accountId: string], TaskHead>('task_heads', recordCodec(1), { account: 0 });

/** Live tasks in each order, by space (scope, order and bucket). The value is the due day, for filtering. */
export const taskRows = defineTable<[accountId: string, space: string, value: number | string, taskId: number], number>(
  'task_rows',
  dayCodec,
  { account: 0 },
);

/** Number of live tasks by scope: the whole account, or one category. */
export const taskCounts = defineHeads<[accountId: string, scope: string], BucketCounts>('task_counts', countsCodec, {
  account: 0,
});

/** Number of live tasks by scope and due day. */
export const taskDays = defineHeads<[accountId: string, scope: string, day: number], BucketCounts>(
  'task_days',
  countsCodec,
  { account: 0 },
);

/** Deleted tasks, oldest first over all accounts. */
export const taskBin = defineTable<[deletedMs: number, accountId: string, taskId: number], Record<string, never>>(
  'task_bin',
  emptyRecordCodec(1),
  { account: 1 },
);

/** Manual order of the tasks in a column. */
export const taskPlaces = defineTable<[accountId: string, status: KanbanStatus], { readonly ids: readonly number[] }>(
  'task_places',
  recordCodec(1),
  { account: 0 },
);

export const categories = defineTable<[accountId: string, categoryId: number], CategoryRecord>(
  'task_categories',
  recordCodec(1),
  { account: 0 },
);

export interface BinnedCategory extends CategoryRecord {
  readonly deleted_at: string;
}

/** Categories in the trash. Their tasks keep them in their records, so that restoring one is one small decision. */
export const categoryBin = defineTable<[accountId: string, categoryId: number], BinnedCategory>(
  'task_category_bin',
  recordCodec(1),
  { account: 0 },
);

/** Deleted categories that task records may still have; no read shows them there. */
export const clearedCategories = defineTable<[accountId: string, categoryId: number], Record<string, never>>(
  'task_cleared_categories',
  emptyRecordCodec(1),
  { account: 0 },
);

export const taskTables: readonly AnyTable[] = [
  tasks,
  taskHeads,
  taskRows,
  taskCounts,
  taskDays,
  taskBin,
  taskPlaces,
  categories,
  categoryBin,
  clearedCategories,
];
