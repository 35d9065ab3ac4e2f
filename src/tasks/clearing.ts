/**
 * Removes a deleted category from its tasks. Few tasks are changed in the decision that deletes it. Many would block
 * the writer for seconds, so that decision records the category as one to clear: from its commit on, every read shows
 * its tasks without it, and they are rewritten in bounded batches. The record survives a crash, and the next start
 * continues.
 */
import type { ActorRegistry } from '../actors/registry.ts';
import { limits } from '../limits/service.ts';
import type { Batch } from '../store/group-commit.ts';
import { unlessDamaged } from '../store/intact.ts';
import type { Store } from '../store/store.ts';
import type { Reader } from '../store/table.ts';
import type { TaskRecord } from './declared.ts';
import { BUCKETS, IndexChange, spaceOf } from './indexes.ts';
import { clearedCategories, taskCounts, taskRows, tasks } from './records.ts';

export interface ClearingOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
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

  /** Must be called before a decision that may call `take`. */
  expect(accountId: string): void {
    this.#accounts.add(accountId);
  }

  /** Within the decision that deletes a category: removes it from its tasks, or records it for clearing. */
  take(batch: Batch, accountId: string, categoryId: number): void {
    const counts = batch.get(taskCounts, [accountId, String(categoryId)])?.counts ?? [];
    const tasksLeft = counts.reduce((all, count) => all + count, 0);
    if (tasksLeft <= limits.categoryClearTasksMax) clearSome(batch, accountId, categoryId);
    else batch.put(clearedCategories, [accountId, categoryId], {});
  }

  /** Returns the deleted categories still present in task records of an account. */
  of(reader: Pick<Reader, 'keysIn'>, accountId: string): ReadonlySet<number> {
    if (!this.#accounts.has(accountId)) return NONE;
    return new Set(Array.from(reader.keysIn(clearedCategories, { prefix: [accountId] }), ([, id]) => id));
  }

  /** Clears the recorded categories in the background. Resolves with the number of categories fully cleared. */
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
        const one = () => actor.ask((batch) => clearSome(batch, accountId, key[1]));
        let isLeft: boolean | undefined = true;
        while (isLeft === true) {
          if (this.#isClosed) return cleared;
          isLeft = await unlessDamaged<boolean | undefined>(one, undefined);
        }
        if (isLeft === undefined) continue;
        await actor.ask((batch) => batch.remove(clearedCategories, key));
        cleared += 1;
      }
    }
    return cleared;
  }
}

/** Returns a task without its category when that was deleted. */
export function withoutCleared(task: TaskRecord, cleared: ReadonlySet<number>): TaskRecord {
  return task.category_id !== null && cleared.has(task.category_id) ? { ...task, category_id: null } : task;
}

/** Removes a category from some of its tasks; false: from all remaining. Deleted tasks keep it until restored. */
function clearSome(batch: Batch, accountId: string, categoryId: number): boolean {
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
  return left === 0;
}
