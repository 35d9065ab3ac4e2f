/**
 * Defines the tables of tasks and categories. Tasks are found through `task_rows`: one small row per order of a task,
 * in the space of its bucket. Counters contain the number of tasks in each bucket.
 */
import type { Signed } from '../common/principal.ts';
import { type Codec, recordCodec, versionedTextCodec } from '../store/codec.ts';
import { type AnyTable, defineTable } from '../store/table.ts';

export const KANBAN_STATUSES = ['backlog', 'todo', 'in_progress', 'done'] as const;

export type KanbanStatus = (typeof KANBAN_STATUSES)[number];

export interface TaskRecord extends Signed {
  /** Numbered per account. */
  readonly id: number;
  readonly content: string;
  /** YYYY-MM-DD. */
  readonly due_date: string | null;
  readonly is_important: boolean;
  /** True exactly when the status is `done`. */
  readonly completed: boolean;
  readonly completed_at: string | null;
  readonly category_id: number | null;
  readonly kanban_status: KanbanStatus;
  /** From 1; rises by one with each change of the fields above, except when the category is deleted. */
  readonly version: number;
  readonly created_at: string;
  readonly updated_at: string;
  /** Time of deletion; null: live. A deleted task is in no order and no counter. */
  readonly deleted_at: string | null;
}

export interface CategoryRecord {
  /** Numbered per account and never reused. */
  readonly id: number;
  readonly name: string;
  /** #rrggbb, lower case. */
  readonly color: string | null;
  readonly position: number;
  readonly created_at: string;
  readonly updated_at: string;
}

/** One row per account: the last used numbers. */
export interface TaskHead {
  readonly task_id: number;
  readonly category_id: number;
  /** Creation time of the newest task; creation times never decrease, so ids rise with them. */
  readonly created_at: string;
}

/** Number of tasks in each bucket of a scope; eight numbers of four bytes. */
export interface BucketCounts {
  readonly counts: readonly number[];
}

const TASKS = 'tasks';

const taskTextCodec = versionedTextCodec(3);

/** Due day of an index row: days since 1970-01-01. */
const dayCodec: Codec<number> = {
  encode(day) {
    const bytes = Buffer.allocUnsafe(4);
    bytes.writeInt32BE(day);
    return bytes;
  },
  decode: (bytes) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getInt32(0),
};

type TaskKey = [accountId: string, taskId: number];

/** JSON of a task in public form; the internal member comes last, and only for deleted tasks. */
const taskCodec: Codec<TaskRecord> = {
  encode({ deleted_at, ...shown }) {
    return taskTextCodec.encode(JSON.stringify(deleted_at === null ? shown : { ...shown, deleted_at }));
  },
  decode(bytes) {
    const task = JSON.parse(taskTextCodec.decode(bytes)) as Omit<TaskRecord, 'deleted_at'> & { deleted_at?: string };
    return Object.assign(task, { deleted_at: task.deleted_at ?? null });
  },
};

export const tasks = defineTable<TaskKey, TaskRecord>(TASKS, taskCodec, { account: 0 });

/** The same rows as text: a list is assembled from encoded tasks. */
export const taskTexts = defineTable<TaskKey, string>(TASKS, taskTextCodec, {});

const countsCodec: Codec<BucketCounts> = {
  encode({ counts }) {
    const bytes = Buffer.allocUnsafe(counts.length * 4);
    for (const [bucket, count] of counts.entries()) bytes.writeUInt32BE(count, bucket * 4);
    return bytes;
  },
  decode(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return { counts: Array.from({ length: bytes.length / 4 }, (_, bucket) => view.getUint32(bucket * 4)) };
  },
};

export const taskHeads = defineTable<[accountId: string], TaskHead>('task_heads', recordCodec(1), { account: 0 });

/** Live tasks in each order, by space (scope, order and bucket). The value is the due day, for filtering. */
export const taskRows = defineTable<[accountId: string, space: string, value: number | string, taskId: number], number>(
  'task_rows',
  dayCodec,
  { account: 0 },
);

/** Number of live tasks by scope: the whole account, or one category. */
export const taskCounts = defineTable<[accountId: string, scope: string], BucketCounts>('task_counts', countsCodec, {
  account: 0,
});

/** Number of live tasks by scope and due day. */
export const taskDays = defineTable<[accountId: string, scope: string, day: number], BucketCounts>(
  'task_days',
  countsCodec,
  { account: 0 },
);

/** Deleted tasks, oldest first over all accounts. */
export const taskBin = defineTable<[deletedMs: number, accountId: string, taskId: number], Record<string, never>>(
  'task_bin',
  recordCodec(1),
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

/** Deleted categories still present in many task records; no read shows them there. */
export const clearedCategories = defineTable<[accountId: string, categoryId: number], Record<string, never>>(
  'task_cleared_categories',
  recordCodec(1),
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
  clearedCategories,
];
