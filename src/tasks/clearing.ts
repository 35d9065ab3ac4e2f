/**
 * Owns how a deleted category leaves its tasks. Few tasks are cleared in the decision that deletes it. Many would hold the
 * writer for seconds, so that decision notes the category as one to clear: from its commit on, every read shows its tasks
 * without it, and they are rewritten a bounded number at a time. A crash in between leaves the note, and the next start
 * goes on.
 */
import type { ActorRegistry } from '../actors/registry.ts';
import { limits } from '../limits/service.ts';
import type { Batch } from '../store/group-commit.ts';
import type { Store } from '../store/store.ts';
import type { Reader } from '../store/table.ts';
import { BUCKETS, IndexChange, spaceOf } from './indexes.ts';
import { clearedCategories, type TaskRecord, taskCounts, taskRows, tasks } from './records.ts';

export interface ClearingOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
}

const NONE: ReadonlySet<number> = new Set();

export class CategoryClearing {
  readonly #options: ClearingOptions;
  /** Accounts that may have a category to clear, so that the others need not look; never fewer than those that have one. */
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

  /** In the decision that deletes a category: takes it off its tasks, or notes that it is to be taken off. */
  take(batch: Batch, accountId: string, categoryId: number): void {
    const counts = batch.get(taskCounts, [accountId, String(categoryId)])?.counts ?? [];
    const tasksLeft = counts.reduce((all, count) => all + count, 0);
    if (tasksLeft <= limits.categoryClearTasksMax) clearSome(batch, accountId, categoryId);
    else batch.put(clearedCategories, [accountId, categoryId], {});
  }

  /** The deleted categories that tasks of an account still have in their records. */
  of(reader: Pick<Reader, 'range'>, accountId: string): ReadonlySet<number> {
    if (!this.#accounts.has(accountId)) return NONE;
    return new Set(reader.range(clearedCategories, { prefix: [accountId] }).map(({ key }) => key[1]));
  }

  /** Takes categories off the tasks that were left, in the background. Resolves with how many were taken off all of them. */
  run(): Promise<number> {
    const next = this.#running.catch(() => 0).then(() => this.#clearAll());
    this.#running = next;
    return next;
  }

  /** Stops after the decision that runs. */
  async close(): Promise<void> {
    this.#isClosed = true;
    // What failed was told to whoever started it.
    await this.#running.catch(() => 0);
  }

  async #clearAll(): Promise<number> {
    let cleared = 0;
    for (const accountId of this.#accounts) {
      const actor = this.#options.actors.account(accountId);
      for (const { key } of this.#options.store.range(clearedCategories, { prefix: [accountId] })) {
        for (let isLeft = true; isLeft; ) {
          if (this.#isClosed) return cleared;
          isLeft = await actor.ask((batch) => clearSome(batch, accountId, key[1]));
        }
        await actor.ask((batch) => batch.remove(clearedCategories, key));
        cleared += 1;
      }
    }
    return cleared;
  }
}

/** A task as it is shown: without a category that was deleted. */
export function withoutCleared(task: TaskRecord, cleared: ReadonlySet<number>): TaskRecord {
  return task.category_id !== null && cleared.has(task.category_id) ? { ...task, category_id: null } : task;
}

/** Takes a category off some of its tasks; false: off all that were left. Binned tasks keep it, and lose it when restored. */
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
