/** Creates, lists, changes and deletes categories. Every write goes through the account's actor. */
import type { z } from 'zod';
import type { ActorRegistry } from '../actors/registry.ts';
import type { Store } from '../store/store.ts';
import type { Reader } from '../store/table.ts';
import type { CategoryClearing } from './clearing.ts';
import type { CategoryRecord } from './declared.ts';
import type { CategoryFields, newCategory } from './fields.ts';
import { categories, taskCounts, taskHeads } from './records.ts';
import { categoryNotFound, decideCreateCategory, decidePatchCategory } from './rules.ts';

export interface Category extends CategoryRecord {
  /** Number of live tasks. */
  readonly task_count: number;
}

export interface CategoriesOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly clearing: CategoryClearing;
  readonly now: () => number;
}

export class Categories {
  readonly #options: CategoriesOptions;

  constructor(options: CategoriesOptions) {
    this.#options = options;
  }

  /** The name of a category. Undefined: there is none with this number. */
  nameOf(accountId: string, id: number): string | undefined {
    return categoryName(this.#options.store, accountId, id);
  }

  /** Lists all categories of an account by position, each with its number of tasks. */
  list(accountId: string): Category[] {
    const { store } = this.#options;
    return recordsOf(store, accountId)
      .sort((a, b) => a.position - b.position || a.id - b.id)
      .map((record) => withCount(store, accountId, record));
  }

  /** Returns one category. Throws Refusal `not_found`. */
  get(accountId: string, id: number | undefined): Category {
    return withCount(this.#options.store, accountId, existing(this.#options.store, accountId, id));
  }

  async create(accountId: string, fields: z.output<typeof newCategory>): Promise<Category> {
    const { actors, now } = this.#options;
    const record = await actors.account(accountId).once(['category created', fields], (batch) => {
      const head = batch.get(taskHeads, [accountId]);
      const made = decideCreateCategory(fields, recordsOf(batch, accountId), head, now());
      batch.put(taskHeads, [accountId], made.head);
      batch.put(categories, [accountId, made.category.id], made.category);
      return made.category;
    });
    return { ...record, task_count: 0 };
  }

  /** Updates the given fields of a category. Throws Refusal `not_found`. */
  async patch(accountId: string, id: number, fields: CategoryFields): Promise<Category> {
    const { actors, now } = this.#options;
    return actors.account(accountId).once(['category changed', id, fields], (batch) => {
      const category = existing(batch, accountId, id);
      const next = decidePatchCategory(category, fields, recordsOf(batch, accountId), now());
      if (next !== category) batch.put(categories, [accountId, next.id], next);
      return withCount(batch, accountId, next);
    });
  }

  /** Deletes a category, and removes it from its tasks in the same commit. Throws Refusal `not_found`. */
  async remove(accountId: string, id: number | undefined): Promise<void> {
    const { actors, clearing } = this.#options;
    clearing.expect(accountId);
    await actors.account(accountId).once(['category removed', id], (batch) => {
      const category = existing(batch, accountId, id);
      batch.remove(categories, [accountId, category.id]);
      clearing.take(batch, accountId, category.id);
    });
    // Not awaited; the sweep retries after a failure.
    clearing.run().catch(() => undefined);
  }
}

export function categoryName(reader: Pick<Reader, 'get'>, accountId: string, id: number): string | undefined {
  return reader.get(categories, [accountId, id])?.name;
}

export function categoryExists(reader: Pick<Reader, 'get'>, accountId: string, id: number): boolean {
  return reader.get(categories, [accountId, id]) !== undefined;
}

function existing(reader: Pick<Reader, 'get'>, accountId: string, id: number | undefined): CategoryRecord {
  const category = id === undefined ? undefined : reader.get(categories, [accountId, id]);
  if (category === undefined) throw categoryNotFound();
  return category;
}

function recordsOf(reader: Pick<Reader, 'range'>, accountId: string): CategoryRecord[] {
  return reader.range(categories, { prefix: [accountId] }).map(({ value }) => value);
}

function withCount(reader: Pick<Reader, 'get'>, accountId: string, record: CategoryRecord): Category {
  const counts = reader.get(taskCounts, [accountId, String(record.id)])?.counts ?? [];
  return { ...record, task_count: counts.reduce((all, count) => all + count, 0) };
}
