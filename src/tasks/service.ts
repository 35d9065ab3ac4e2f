/** Creates, lists, changes and deletes tasks, for MCP and REST. Every write goes through the account's actor. */
import type { z } from 'zod';
import { forgetChanges } from '../activity/note.ts';
import type { ActorRegistry } from '../actors/registry.ts';
import { type FieldErrors, refuseFields } from '../common/fault.ts';
import { ONE_OF_CATEGORIES } from '../fields/kinds.ts';
import { changeInTrash } from '../fields/not-found.ts';
import { checkFields } from '../fields/read.ts';
import { limits } from '../limits/service.ts';
import type { Quotas } from '../quotas/quotas.ts';
import { countBytes, recordBytes } from '../quotas/usage.ts';
import type { Batch } from '../store/group-commit.ts';
import { readInTurns, type Steps } from '../store/in-turns.ts';
import { intact, isThere, unlessDamaged } from '../store/intact.ts';
import type { Store } from '../store/store.ts';
import { Categories, categoryExists, categoryName } from './categories.ts';
import { CategoryClearing, withDeleted, withoutCleared } from './clearing.ts';
import type { TaskRecord } from './declared.ts';
import type { newTask, TaskFields, taskChange } from './fields.ts';
import { moveInIndexes } from './indexes.ts';
import { findPage, type PageIds, type PageRequest } from './list/page.ts';
import { isAmong } from './list/query.ts';
import { deletedTasks, liveTask, readTasks, twinOf } from './list/reads.ts';
import { type FoundIds, searchTasks, type TaskSearch } from './list/search.ts';
import { TaskReaders } from './list/task-reads.ts';
import { noteTask } from './note.ts';
import { Places } from './places.ts';
import { taskBin, taskHeads, tasks } from './records.ts';
import {
  binCutoffMs,
  decideBinTask,
  decideCreateTask,
  decidePatchTask,
  decideRestore,
  disagreement,
  taskNotFound,
} from './rules.ts';
import { checkVersion, type ShownTask } from './shown.ts';

interface TaskPage<T> {
  readonly tasks: readonly T[];
  /** Number of matches on all pages. */
  readonly total: number;
}

interface TaskFinds<T> extends Omit<FoundIds, 'ids'> {
  readonly tasks: readonly T[];
}

export interface TasksOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly quotas: Quotas;
  readonly now: () => number;
}

export interface PatchOptions {
  /** Who changes it; absent: unknown. */
  readonly by?: string;
  /** Restores the task first, if it is in the trash. */
  readonly restore?: boolean;
}

export class Tasks {
  readonly categories: Categories;
  /** The manual order of the board's columns. */
  readonly places: Places;
  readonly #options: TasksOptions;
  readonly #clearing: CategoryClearing;
  readonly #readers: TaskReaders;

  constructor(options: TasksOptions) {
    this.#options = options;
    this.places = new Places(options);
    this.#readers = new TaskReaders(options.store);
    this.#clearing = new CategoryClearing(options);
    this.categories = new Categories({ ...options, clearing: this.#clearing });
  }

  /** Returns one page and the exact total. */
  list(accountId: string, request: PageRequest): TaskPage<TaskRecord> {
    const cleared = this.#clearing.of(this.#options.store, accountId);
    const { ids, total } = this.#find(accountId, request, cleared);
    return { tasks: this.#read(accountId, ids, cleared), total };
  }

  /** As `list`, each task in public form. */
  listShown(accountId: string, request: PageRequest): TaskPage<ShownTask> {
    const cleared = this.#clearing.of(this.#options.store, accountId);
    const { ids, total } = this.#find(accountId, request, cleared);
    return { tasks: this.#readers.now.shown(accountId, ids, cleared), total };
  }

  /** Returns the first tasks matching a search, from one snapshot; a promise when it takes more than one turn. */
  searchShown(accountId: string, search: TaskSearch): TaskFinds<ShownTask> | Promise<TaskFinds<ShownTask>> {
    const clearing = this.#clearing;
    const readers = this.#readers;
    const steps: Steps<TaskFinds<ShownTask>> = function* (reader) {
      const cleared = clearing.of(reader, accountId);
      if (isAmong(cleared, search.filter)) return { tasks: [], hasMore: false, complete: true };
      const reads = readers.over(reader);
      const { ids, ...rest } = yield* searchTasks(reads, accountId, search);
      return { tasks: reads.shown(accountId, ids, cleared), ...rest };
    };
    return readInTurns(this.#options.store, accountId, steps, limits.taskRowsAtOnce);
  }

  /** Throws Refusal `invalid_fields` for a category that the account does not have. */
  checkCategory(accountId: string, fields: Pick<TaskFields, 'category_id'>): void {
    refuseFields(categoryErrors(this.#options.store, accountId, fields));
  }

  /** Returns the service's time in milliseconds. */
  now(): number {
    return this.#options.now();
  }

  /** Returns one live task. Throws Refusal `not_found`. */
  get(accountId: string, id: number | undefined): TaskRecord {
    const task = id === undefined ? undefined : this.find(accountId, id);
    if (task === undefined) throw taskNotFound(isInBin(this.#options.store, accountId, id));
    return task;
  }

  /** Returns a live task; undefined: there is none with this id. */
  find(accountId: string, id: number): TaskRecord | undefined {
    const task = liveTask(this.#options.store, accountId, id);
    return task && withoutCleared(task, this.#clearing.of(this.#options.store, accountId));
  }

  /** As `find`, also a task in the trash. */
  stored(accountId: string, id: number): TaskRecord | undefined {
    const task = this.#options.store.get(tasks, [accountId, id]);
    return task && withoutCleared(task, this.#clearing.of(this.#options.store, accountId));
  }

  /** As `twinOf` in list/reads.ts. */
  twinOf(accountId: string, task: TaskRecord): number | undefined {
    return twinOf((id) => this.#readers.now.text(accountId, id), task);
  }

  /** Reads a request body. Throws Refusal with all errors, also an unknown category. `whole`: its name in errors. */
  read<S extends typeof newTask | typeof taskChange>(
    accountId: string,
    schema: S,
    document: unknown,
    whole?: string,
  ): z.output<S> {
    const { fields, errors } = checkFields(schema, document, whole);
    refuseFields({ ...disagreement(fields), ...errors, ...categoryErrors(this.#options.store, accountId, fields) });
    return fields as z.output<S>;
  }

  /** Creates a task. `by`: who creates it, for people. */
  create(accountId: string, fields: z.output<typeof newTask>, by?: string): Promise<TaskRecord> {
    const { actors, quotas, now } = this.#options;
    return actors.account(accountId).once(['task created', fields], (batch) => {
      refuseFields(categoryErrors(batch, accountId, fields));
      const { task, head } = decideCreateTask(fields, batch.get(taskHeads, [accountId]), now(), by);
      batch.put(taskHeads, [accountId], head);
      const bytes = grownBytes(undefined, task);
      quotas.check(batch, accountId, 'documents', bytes);
      countBytes(batch, accountId, 'documents', bytes);
      write(batch, accountId, undefined, task);
      noteTask(batch, accountId, undefined, task, now());
      return task;
    });
  }

  /** Returns the id of a live task, or of one in the trash to restore. Throws Refusal `not_found`. */
  existing(accountId: string, id: number | undefined, restore = false): number {
    if (!restore && isInBin(this.#options.store, accountId, id)) throw changeInTrash('task');
    return findTask(this.#options.store, accountId, id, { restore }).id;
  }

  /** Updates the given fields. Throws Refusal `not_found` or `stale_version`. */
  patch(
    accountId: string,
    id: number | undefined,
    fields: TaskFields,
    options: PatchOptions = {},
  ): Promise<TaskRecord> {
    const { actors, quotas, now } = this.#options;
    return actors.account(accountId).once(['task changed', id, fields, options.restore], (batch) => {
      const stored = findTask(batch, accountId, id, options);
      const cleared = this.#clearing.of(batch, accountId);
      const task = withoutCleared(stored, cleared);
      checkVersion(task, fields.expected_version, (one) => categoryName(batch, accountId, one));
      refuseFields(categoryErrors(batch, accountId, fields));
      const nowMs = now();
      const live = task.deleted_at === null ? task : takeFromBin(batch, accountId, task, nowMs, options.by);
      const next = decidePatchTask(live, fields, nowMs, options.by);
      const bytes = grownBytes(stored, next);
      quotas.check(batch, accountId, 'documents', bytes);
      countBytes(batch, accountId, 'documents', bytes);
      if (next === task) return next;
      write(batch, accountId, task.deleted_at === null ? stored : undefined, withDeleted(next, stored, cleared));
      noteTask(batch, accountId, task, next, nowMs);
      return next;
    });
  }

  /**
   * Moves a task to the trash. `wasBinned`: it was there already, and nothing changed. `expected`: the version that the
   * caller read. Throws Refusal `not_found` or `stale_version`.
   */
  async remove(
    accountId: string,
    id: number | undefined,
    by?: string,
    expected?: number,
  ): Promise<{ readonly task: TaskRecord; readonly wasBinned: boolean }> {
    const { actors, now } = this.#options;
    return actors.account(accountId).once(['task removed', id, expected], (batch) => {
      const stored = id === undefined ? undefined : batch.get(tasks, [accountId, id]);
      if (stored === undefined) throw taskNotFound();
      const cleared = this.#clearing.of(batch, accountId);
      const task = withoutCleared(stored, cleared);
      checkVersion(task, expected, (one) => categoryName(batch, accountId, one));
      if (task.deleted_at !== null) return { task, wasBinned: true };
      const binned = decideBinTask(task, now(), by);
      batch.put(tasks, [accountId, task.id], withDeleted(binned, stored, cleared));
      batch.put(taskBin, [Date.parse(binned.deleted_at ?? ''), accountId, task.id], {});
      moveInIndexes(batch, accountId, stored, undefined);
      noteTask(batch, accountId, task, binned, now());
      return { task: binned, wasBinned: false };
    });
  }

  /** As `deletedTasks` in list/reads.ts. */
  deleted(accountId: string): TaskRecord[] | Promise<TaskRecord[]> {
    return deletedTasks(this.#options.store, accountId);
  }

  /** Permanently deletes tasks past their days in the trash. Resolves with the number of deleted tasks. */
  async emptyBin(nowMs: number): Promise<number> {
    const cutoffMs = binCutoffMs(nowMs);
    const { actors } = this.#options;
    const damaged = new Set<string>();
    let removed = 0;
    for (;;) {
      const due = this.#binnedBefore(cutoffMs, damaged);
      if (due.size === 0) return removed;
      for (const [accountId, ids] of due) {
        const work = () => actors.account(accountId).ask((batch) => emptyBinOf(batch, accountId, ids));
        const count = await unlessDamaged(work, undefined);
        if (count === undefined) damaged.add(accountId);
        removed += count ?? 0;
      }
    }
  }

  /** Removes categories past their days in the trash from their tasks. Resolves with the number of categories cleared. */
  clearCategories(): Promise<number> {
    return this.#clearing.run({ byAge: true });
  }

  close(): Promise<void> {
    return this.#clearing.close();
  }

  #find(accountId: string, request: PageRequest, cleared: ReadonlySet<number>): PageIds {
    return isAmong(cleared, request.filter) ? { ids: [], total: 0 } : findPage(this.#readers.now, accountId, request);
  }

  #read(accountId: string, ids: readonly number[], cleared: ReadonlySet<number>): TaskRecord[] {
    return readTasks(this.#options.store, accountId, ids).map((task) => withoutCleared(task, cleared));
  }

  /** Returns the oldest deleted tasks by account, up to a limit, except those of some accounts. */
  #binnedBefore(
    cutoffMs: number,
    without: ReadonlySet<string>,
  ): Map<string, (readonly [deletedMs: number, id: number])[]> {
    const due = new Map<string, (readonly [number, number])[]>();
    let rows = 0;
    for (const [deletedMs, accountId, id] of this.#options.store.keys(taskBin)) {
      if (deletedMs > cutoffMs || rows === limits.binRowsMax) break;
      if (without.has(accountId)) continue;
      due.set(accountId, [...(due.get(accountId) ?? []), [deletedMs, id]]);
      rows += 1;
    }
    return due;
  }
}

function isInBin(reader: Pick<Store, 'get'>, accountId: string, id: number | undefined): boolean {
  const deletedAt = id === undefined ? undefined : reader.get(tasks, [accountId, id])?.deleted_at;
  return deletedAt !== undefined && deletedAt !== null;
}

/** Finds a task to change; a deleted one may only be restored. Throws Refusal `not_found`. */
function findTask(
  reader: Pick<Store, 'get'>,
  accountId: string,
  id: number | undefined,
  { restore = false }: PatchOptions,
): TaskRecord {
  const task = id === undefined ? undefined : reader.get(tasks, [accountId, id]);
  if (task === undefined) throw taskNotFound();
  if (task.deleted_at !== null && !restore) throw taskNotFound(true);
  return task;
}

function categoryErrors(
  reader: Pick<Store, 'get'>,
  accountId: string,
  { category_id: id }: Pick<TaskFields, 'category_id'>,
): FieldErrors {
  if (id === undefined || id === null || categoryExists(reader, accountId, id)) return {};
  return { category_id: [`category_id ${ONE_OF_CATEGORIES}, or null`] };
}

/** Returns the growth in counted bytes between two versions of a task. */
function grownBytes(before: TaskRecord | undefined, after: TaskRecord): number {
  return recordBytes(after.content) - (before === undefined ? 0 : recordBytes(before.content));
}

/** Writes a live task and its index rows. */
function write(batch: Batch, accountId: string, before: TaskRecord | undefined, after: TaskRecord): void {
  batch.put(tasks, [accountId, after.id], after);
  moveInIndexes(batch, accountId, before, after);
}

function takeFromBin(batch: Batch, accountId: string, task: TaskRecord, nowMs: number, by?: string): TaskRecord {
  batch.remove(taskBin, [Date.parse(task.deleted_at ?? ''), accountId, task.id]);
  return decideRestore(task, categoryExists(batch, accountId, task.category_id ?? 0), nowMs, by);
}

function emptyBinOf(batch: Batch, accountId: string, ids: readonly (readonly [number, number])[]): number {
  let removed = 0;
  for (const [deletedMs, id] of ids) {
    const key: [number, string, number] = [deletedMs, accountId, id];
    // Restored since it was listed.
    if (!isThere(batch, taskBin, key)) continue;
    const task = intact(batch, tasks, [accountId, id]);
    if (task !== undefined) countBytes(batch, accountId, 'documents', -recordBytes(task.content));
    batch.remove(taskBin, key);
    batch.remove(tasks, [accountId, id]);
    forgetChanges(batch, accountId, 'tasks', id);
    removed += 1;
  }
  return removed;
}
