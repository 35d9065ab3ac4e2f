/** Creates, lists, changes and deletes categories. Every write goes through the account's actor. */

import type { z } from 'zod';
import type { ActorRegistry } from '../actors/registry.ts';
import { changeInTrash } from '../fields/not-found.ts';
import { limits } from '../limits/service.ts';
import { intactEntries } from '../store/intact.ts';
import type { Store } from '../store/store.ts';
import type { Reader } from '../store/table.ts';
import { foldCase } from '../text/fold-case.ts';
import { nearestName } from '../text/nearest.ts';
import type { CategoryClearing } from './clearing.ts';
import type { CategoryRecord } from './declared.ts';
import type { CategoryFields, newCategory } from './fields.ts';
import { type BinnedCategory, categories, categoryBin, clearedCategories, taskCounts, taskHeads } from './records.ts';
import { categoryNotFound, decideCreateCategory, decidePatchCategory, decideRestoreCategory } from './rules.ts';

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

  /** The category with a name in any case, or the name of the one that is like it. */
  named(accountId: string, name: string): { readonly id?: number; readonly guess?: string | undefined } {
    const all = recordsOf(this.#options.store, accountId);
    const found = all.find((one) => foldCase(one.name) === foldCase(name.trim()));
    if (found !== undefined) return { id: found.id };
    const names = all.map((one) => one.name);
    return { guess: nearestName(name, names) };
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

  /** Returns the id of a live category, or of one in the trash to restore. Throws Refusal `not_found`. */
  existing(accountId: string, id: number | undefined, restore = false): number {
    const { store } = this.#options;
    const binned = id === undefined ? undefined : store.get(categoryBin, [accountId, id]);
    if (binned !== undefined && !restore) throw changeInTrash('category');
    return (binned ?? existing(store, accountId, id)).id;
  }

  /** Updates the given fields of a category. `restore`: takes it from the trash first. Throws Refusal `not_found`. */
  async patch(accountId: string, id: number | undefined, fields: CategoryFields, restore = false): Promise<Category> {
    const { actors, now } = this.#options;
    return actors.account(accountId).once(['category changed', id, fields, restore], (batch) => {
      const binned = restore && id !== undefined ? batch.get(categoryBin, [accountId, id]) : undefined;
      if (binned !== undefined) {
        const key: [string, number] = [accountId, binned.id];
        const back = decideRestoreCategory(binned, fields, recordsOf(batch, accountId), now());
        batch.put(categories, key, back);
        batch.remove(categoryBin, key);
        batch.remove(clearedCategories, key);
        return withCount(batch, accountId, back);
      }
      const category = existing(batch, accountId, id);
      const next = decidePatchCategory(category, fields, recordsOf(batch, accountId), now());
      if (next !== category) batch.put(categories, [accountId, next.id], next);
      return withCount(batch, accountId, next);
    });
  }

  /**
   * Moves a category to the trash; in the same commit its tasks are without it, for every reader. Resolves with what it
   * was. Throws Refusal `not_found`.
   */
  async remove(accountId: string, id: number | undefined): Promise<Category> {
    const { actors, clearing, now } = this.#options;
    clearing.expect(accountId);
    const { category, isFull } = await actors.account(accountId).once(['category removed', id], (batch) => {
      const found = existing(batch, accountId, id);
      const key: [string, number] = [accountId, found.id];
      const category = withCount(batch, accountId, found);
      const others = binnedOf(batch, accountId);
      batch.remove(categories, key);
      batch.put(categoryBin, key, { ...found, deleted_at: new Date(now()).toISOString() });
      batch.put(clearedCategories, key, {});
      const oldest = others.slice(limits.categoriesBinnedMax - 1);
      for (const one of oldest) batch.remove(categoryBin, [accountId, one.id]);
      return { category, isFull: oldest.length > 0 };
    });
    // Not awaited; the sweep retries after a failure.
    if (isFull) clearing.run({ byAge: false }).catch(() => undefined);
    return category;
  }

  /** Categories in the trash, the newest first. */
  deleted(accountId: string): BinnedCategory[] {
    return binnedOf(this.#options.store, accountId);
  }
}

/** Those of them that can be read, the newest first. */
function binnedOf(reader: Pick<Reader, 'get' | 'keysIn'>, accountId: string): BinnedCategory[] {
  return Array.from(intactEntries(reader, categoryBin, { prefix: [accountId] }), ({ value }) => value).sort(
    (a, b) => b.deleted_at.localeCompare(a.deleted_at) || b.id - a.id,
  );
}

export function categoryName(reader: Pick<Reader, 'get'>, accountId: string, id: number): string | undefined {
  return reader.get(categories, [accountId, id])?.name;
}

export function categoryExists(reader: Pick<Reader, 'get'>, accountId: string, id: number): boolean {
  return reader.get(categories, [accountId, id]) !== undefined;
}

function existing(reader: Pick<Reader, 'get'>, accountId: string, id: number | undefined): CategoryRecord {
  const category = id === undefined ? undefined : reader.get(categories, [accountId, id]);
  if (category !== undefined) return category;
  throw categoryNotFound(id !== undefined && reader.get(categoryBin, [accountId, id]) !== undefined);
}

function recordsOf(reader: Pick<Reader, 'range'>, accountId: string): CategoryRecord[] {
  return reader.range(categories, { prefix: [accountId] }).map(({ value }) => value);
}

function withCount(reader: Pick<Reader, 'get'>, accountId: string, record: CategoryRecord): Category {
  const counts = reader.get(taskCounts, [accountId, String(record.id)])?.counts ?? [];
  return { ...record, task_count: counts.reduce((all, count) => all + count, 0) };
}
