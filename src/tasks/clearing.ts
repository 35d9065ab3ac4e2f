/**
 * Removes a deleted category from its tasks. The decision that deletes it records it as one to clear: from its commit on,
 * every read shows its tasks without it. While it is in the trash, their records keep it, so that it can be restored with
 * them. Then they are rewritten in bounded batches. The record survives a crash, and the next start continues.
 */
import type { ActorRegistry } from '../actors/registry.ts';
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
    for (const [accountId] of options.store.keys(clearedCategories)) this.#accounts.add(accountId);
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

  /** Clears the recorded categories that are no longer in the trash, in the background. Resolves with the number of categories fully cleared. */
  run(): Promise<number> {
    const next = this.#running.catch(() => 0).then(() => this.#clearAll());
    this.#running = next;
    return next;
  }

  /** Stops after the current decision. */
  async close(): Promise<void> {
    this.#isClosed = true;
    // The caller of `run` received the error.
    await this.#running.catch(() => 0);
  }

  async #clearAll(): Promise<number> {
    let cleared = 0;
    for (const accountId of this.#accounts) {
      const actor = this.#options.actors.account(accountId);
      for (const key of Array.from(this.#options.store.keys(clearedCategories, [accountId]))) {
        if (this.#isKept(this.#options.store, key)) continue;
        const one = () => actor.ask((batch) => !this.#isKept(batch, key) && clearSome(batch, accountId, key[1]));
        let isLeft: boolean | undefined = true;
        while (isLeft === true) {
          if (this.#isClosed) return cleared;
          isLeft = await unlessDamaged<boolean | undefined>(one, undefined);
        }
        if (isLeft === false) cleared += 1;
      }
    }
    return cleared;
  }

  /** True: it can be restored, or was. */
  #isKept(reader: Pick<Reader, 'get'>, key: [accountId: string, categoryId: number]): boolean {
    const binned = reader.get(categoryBin, key);
    if (binned === undefined) return reader.get(clearedCategories, key) === undefined;
    return Date.parse(binned.deleted_at) > binCutoffMs(this.#options.now());
  }
}

/** Returns a task without its category when that was deleted. */
export function withoutCleared(task: TaskRecord, cleared: ReadonlySet<number>): TaskRecord {
  return task.category_id !== null && cleared.has(task.category_id) ? { ...task, category_id: null } : task;
}

/** What is stored of a task that is shown without its deleted category: with it, so that restoring it finds its tasks. */
export function withDeleted(next: TaskRecord, stored: TaskRecord, cleared: ReadonlySet<number>): TaskRecord {
  const { category_id } = stored;
  return category_id !== null && cleared.has(category_id) ? { ...next, category_id } : next;
}

/** Removes a category from some of its tasks; false: from all remaining. Deleted tasks keep it until restored. */
function clearSome(batch: Batch, accountId: string, categoryId: number): boolean {
  // From now on it cannot be restored: some of its tasks are without it.
  batch.remove(categoryBin, [accountId, categoryId]);
  const change = new IndexChange(batch, accountId);
  let left: number = limits.categoryClearTasksMax;
  for (const { bucket } of BUCKETS) {
    const prefix = [accountId, spaceOf(String(categoryId), 'created', bucket)];
    for (const { key } of batch.range(taskRows, { prefix, limit: left })) {
      const task = batch.get(tasks, [accountId, key[3]]);
      if (task === undefined) continue;
      const next = { ...task, category_id: null };
      batch.put(tasks, [accountId, task.id], next);
      change.move(task, next);
      left -= 1;
    }
    if (left === 0) break;
  }
  change.finish();
  if (left > 0) batch.remove(clearedCategories, [accountId, categoryId]);
  return left === 0;
}
