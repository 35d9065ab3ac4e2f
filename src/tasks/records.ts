/**
 * Owns the tables of tasks and categories. The account's tasks are found through `task_rows`: one small row for each
 * order that a task stands in, in the space of its bucket. Counters say how many stand in each bucket.
 */
import { type Codec, recordCodec, versionedTextCodec } from '../store/codec.ts';
import { type AnyTable, defineTable } from '../store/table.ts';

export const KANBAN_STATUSES = ['backlog', 'todo', 'in_progress', 'done'] as const;

export type KanbanStatus = (typeof KANBAN_STATUSES)[number];

export interface TaskRecord {
  /** Counted per account. */
  readonly id: number;
  readonly content: string;
  /** YYYY-MM-DD. */
  readonly due_date: string | null;
  readonly is_important: boolean;
  /** Always agrees with the status `done`. */
  readonly completed: boolean;
  readonly completed_at: string | null;
  readonly category_id: number | null;
  readonly kanban_status: KanbanStatus;
  readonly created_at: string;
  readonly updated_at: string;
  /** When it went to the bin; null: it is live. A binned task stands in no order and no counter. */
  readonly deleted_at: string | null;
}

export interface CategoryRecord {
  /** Counted per account and never given again. */
  readonly id: number;
  readonly name: string;
  /** #rrggbb, lower case. */
  readonly color: string | null;
  readonly position: number;
  readonly created_at: string;
  readonly updated_at: string;
}

/** One row per account: the last numbers given. */
export interface TaskHead {
  readonly task_id: number;
  readonly category_id: number;
  /** When the newest task was made; creation times never run backwards, so ids rise with them. */
  readonly created_at: string;
}

/** How many tasks stand in each bucket of a scope; eight of them, of four bytes each. */
export interface BucketCounts {
  readonly counts: readonly number[];
}

const TASKS = 'tasks';

const taskTextCodec = versionedTextCodec(2);

/** The due day of an index row: days since 1970-01-01. */
const dayCodec: Codec<number> = {
  encode(day) {
    const bytes = Buffer.allocUnsafe(4);
    bytes.writeInt32BE(day);
    return bytes;
  },
  decode: (bytes) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getInt32(0),
};

type TaskKey = [accountId: string, taskId: number];

/** JSON of a task as both doors show it; what they do not show comes last, and only in the trash. */
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

/** The same rows as text: a list is put together from finished tasks. */
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

/** Live tasks in each order, by space (scope, order and bucket). The value is the due day, to filter on. */
export const taskRows = defineTable<[accountId: string, space: string, value: number | string, taskId: number], number>(
  'task_rows',
  dayCodec,
  { account: 0 },
);

/** Live tasks by scope: all of the account, or one category. */
export const taskCounts = defineTable<[accountId: string, scope: string], BucketCounts>('task_counts', countsCodec, {
  account: 0,
});

/** Live tasks by scope and due day. */
export const taskDays = defineTable<[accountId: string, scope: string, day: number], BucketCounts>(
  'task_days',
  countsCodec,
  { account: 0 },
);

/** Binned tasks, oldest first over all accounts. */
export const taskBin = defineTable<[deletedMs: number, accountId: string, taskId: number], Record<string, never>>(
  'task_bin',
  recordCodec(1),
  { account: 1 },
);

/** The order that people gave the tasks of a column by hand. */
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

/** Deleted categories that many tasks still have in their records; no read shows them there. */
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
