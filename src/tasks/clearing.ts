/**
 * Removes a deleted category from its tasks. The decision that deletes it records it as one to clear: from its commit on,
 * every read shows its tasks without it. While it is in the trash, their records keep it, so that it can be restored with
 * them. Then they are rewritten in bounded batches. The record survives a crash, and the next start continues.
 */
import type { ActorRegistry } from '../actors/registry.ts';
import { turns } from '../common/turns.ts';
import { limits } from '../limits/service.ts';
import type { Batch } from '../store/group-commit.ts';
import { unlessDamaged } from '../store/intact.ts';
import type { Store } from '../store/store.ts';
import type { Reader } from '../store/table.ts';
import type { TaskRecord } from './declared.ts';
import { BUCKETS, IndexChange, spaceOf } from './indexes.ts';
import { categoryBin, clearedCategories, taskRows, tasks } from './records.ts';
import { binCutoffMs } from './rules.ts';

export interface ClearingOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly now: () => number;
}

const NONE: ReadonlySet<number> = new Set();

export class CategoryClearing {
  readonly #options: ClearingOptions;
  /** Accounts that may have a category to clear, so that reads of others skip the look-up. Never misses an account. */
  readonly #accounts = new Set<string>();
  #running: Promise<number> = Promise.resolve(0);
  #isClosed = false;

  constructor(options: ClearingOptions) {
    this.#options = options;
    for (const [accountId] of recorded(options.store)) this.#accounts.add(accountId);
  }

  /** Must be called before a decision that records a category as one to clear. */
  expect(accountId: string): void {
    this.#accounts.add(accountId);
  }

  /** Returns the deleted categories still present in task records of an account. */
  of(reader: Pick<Reader, 'keysIn'>, accountId: string): ReadonlySet<number> {
    if (!this.#accounts.has(accountId)) return NONE;
    return new Set(Array.from(reader.keysIn(clearedCategories, { prefix: [accountId] }), ([, id]) => id));
  }

  /**
   * Clears the recorded categories that are no longer in the trash, in the background. `byAge`: also those that have been in
   * it too long, which needs a right clock. Resolves with the number of categories fully cleared.
   */
  run({ byAge }: { readonly byAge: boolean }): Promise<number> {
    const next = this.#running
      .catch(() => 0)
      .then(() => this.#clearAll(byAge ? binCutoffMs(this.#options.now()) : Number.NEGATIVE_INFINITY));
    this.#running = next;
    return next;
  }

  /** Stops after the current decision. */
  async close(): Promise<void> {
    this.#isClosed = true;
    // The caller of `run` received the error.
    await this.#running.catch(() => 0);
  }

  async #clearAll(cutoffMs: number): Promise<number> {
    let cleared = 0;
    for (const accountId of this.#accounts) {
      if (turns.isOver) await turns.next(accountId);
      const ids = new Set(recorded(this.#options.store, [accountId]).map(([, id]) => id));
      for (const id of ids) if (await this.#clear([accountId, id], cutoffMs)) cleared += 1;
    }
    return cleared;
  }

  /** Resolves with true when a category was removed from its last task. */
  async #clear(key: CategoryKey, cutoffMs: number): Promise<boolean> {
    const { store, actors } = this.#options;
    const step = async (): Promise<Cleared> => {
      if (!isDue(store, key, cutoffMs)) return 'none';
      // It may be restored before the turn of the decision.
      return actors.account(key[0]).ask((batch) => (isDue(batch, key, cutoffMs) ? clearSome(batch, key) : 'none'));
    };
    let cleared: Cleared = 'some';
    while (cleared === 'some' && !this.#isClosed) cleared = await unlessDamaged<Cleared>(step, 'none');
    return cleared === 'all';
  }
}

type CategoryKey = [accountId: string, categoryId: number];

/** Deleted categories, most of them twice. One that a build from before the trash has cleared is only in the trash. */
function recorded(store: Pick<Store, 'keys'>, prefix: string[] = []): CategoryKey[] {
  return [...store.keys(clearedCategories, prefix), ...store.keys(categoryBin, prefix)];
}

/** Which of its tasks a category was removed from. */
type Cleared = 'none' | 'some' | 'all';

/** True for a category that can no longer be restored, or was deleted at `cutoffMs` or before. */
function isDue(reader: Pick<Reader, 'get'>, key: CategoryKey, cutoffMs: number): boolean {
  const binned = reader.get(categoryBin, key);
  if (binned === undefined) return reader.get(clearedCategories, key) !== undefined;
  return Date.parse(binned.deleted_at) <= cutoffMs;
}

/** Returns a task without its category when that was deleted. */
export function withoutCleared(task: TaskRecord, cleared: ReadonlySet<number>): TaskRecord {
  return task.category_id !== null && cleared.has(task.category_id) ? { ...task, category_id: null } : task;
}

/**
 * What is stored of a task that is shown without its deleted category: with it, so that restoring it finds its tasks, unless
 * the task has another one now.
 */
export function withDeleted(next: TaskRecord, stored: TaskRecord, cleared: ReadonlySet<number>): TaskRecord {
  const { category_id } = stored;
  const isHidden = next.category_id === null && category_id !== null && cleared.has(category_id);
  return isHidden ? { ...next, category_id } : next;
}

/** Removes a category from some of its tasks, or from all that remain. Deleted tasks keep it until restored. */
function clearSome(batch: Batch, key: CategoryKey): Cleared {
  const [accountId, categoryId] = key;
  // From now on it cannot be restored: some of its tasks are without it.
  batch.remove(categoryBin, key);
  const change = new IndexChange(batch, accountId);
  let left: number = limits.categoryClearTasksMax;
  for (const { bucket } of BUCKETS) {
    const prefix = [accountId, spaceOf(String(categoryId), 'created', bucket)];
    for (const { key: row } of batch.range(taskRows, { prefix, limit: left })) {
      const task = batch.get(tasks, [accountId, row[3]]);
      if (task === undefined) continue;
      const next = { ...task, category_id: null };
      batch.put(tasks, [accountId, task.id], next);
      change.move(task, next);
      left -= 1;
    }
    if (left === 0) break;
  }
  change.finish();
  if (left === 0) return 'some';
  batch.remove(clearedCategories, key);
  return 'all';
}
