/**
 * Reads tasks for lists. For the current store it caches rows: counters, tasks in public form, and the rows at the
 * ends of orders, where most lists start. For a snapshot it caches nothing.
 */
import { KnownRows } from '../../cache/rows.ts';
import { limits } from '../../limits/service.ts';
import type { Store } from '../../store/store.ts';
import type { Walkable } from '../../store/table.ts';
import { withoutCleared } from '../clearing.ts';
import type { TaskRecord } from '../declared.ts';
import { taskCounts, taskJson, taskRows, tasks, taskTexts } from '../records.ts';
import { ShownTask } from '../shown.ts';

/** A task's entry in an order. */
export interface Row {
  readonly value: number | string;
  readonly id: number;
}

/** Rows of a space, starting at one of its ends. */
export interface EndRows {
  readonly rows: readonly Row[];
  /** True when the space has no other rows. */
  readonly isWhole: boolean;
}

/** End of a space: the greatest or the least values. */
type End = 'greatest' | 'least';

type Ends = { readonly [end in End]?: EndRows };

/** Caches of the current rows. */
interface Memory {
  readonly counts: KnownRows<readonly number[]>;
  readonly tasks: KnownRows<ShownTask>;
  readonly ends: KnownRows<Ends>;
}

const NO_COUNTS: readonly number[] = [];
const endOf = (descending: boolean): End => (descending ? 'greatest' : 'least');

export class TaskReads {
  readonly rows: Walkable;
  readonly #memory: Memory | undefined;

  constructor(rows: Walkable, memory?: Memory) {
    this.rows = rows;
    this.#memory = memory;
  }

  /** Returns the number of tasks in each bucket of a scope. */
  counts(accountId: string, scope: string): readonly number[] {
    const known = this.#memory?.counts.find(accountId, scope);
    if (known !== undefined) return known;
    const counts = this.rows.get(taskCounts, [accountId, scope])?.counts ?? NO_COUNTS;
    this.#memory?.counts.keep(accountId, scope, counts, 1);
    return counts;
  }

  /**
   * Returns live tasks in public form. `ids` must not contain deleted tasks: no order has them. `cleared`: deleted
   * categories to leave out.
   */
  shown(accountId: string, ids: readonly number[], cleared: ReadonlySet<number>): ShownTask[] {
    const found: ShownTask[] = [];
    for (const id of ids) {
      const task = this.#shown(accountId, id);
      if (task !== undefined) found.push(task);
    }
    if (cleared.size === 0) return found;
    // Unescaped quotes: no content has this text.
    const members = Array.from(cleared, (id) => `"category_id":${id},`);
    return found.map((shown) =>
      members.some((member) => shown.json.includes(member))
        ? new ShownTask(JSON.stringify(withoutCleared(JSON.parse(shown.json) as TaskRecord, cleared)))
        : shown,
    );
  }

  /** Returns the row of a task as text, also of a deleted one. */
  text(accountId: string, id: number): string | undefined {
    return this.#shown(accountId, id)?.json;
  }

  /** Returns the cached rows at an end of a space, in walking order from there. */
  endRows(accountId: string, space: string, descending: boolean): EndRows | undefined {
    return this.#memory?.ends.find(accountId, space)?.[endOf(descending)];
  }

  /** Caches the rows read by a walk from an end of a space, if they extend the cached ones. */
  keepEndRows(accountId: string, space: string, descending: boolean, { rows, isWhole }: EndRows): void {
    if (this.#memory === undefined) return;
    const { ends } = this.#memory;
    const known = ends.find(accountId, space) ?? {};
    const end = endOf(descending);
    const before = known[end];
    if (before !== undefined && before.rows.length >= rows.length && before.isWhole === isWhole) return;
    const next: Ends = { ...known, [end]: { rows, isWhole } };
    ends.keep(accountId, space, next, 1 + (next.greatest?.rows.length ?? 0) + (next.least?.rows.length ?? 0));
  }

  #shown(accountId: string, id: number): ShownTask | undefined {
    const known = this.#memory?.tasks.find(accountId, id);
    if (known !== undefined) return known;
    const json = this.rows.get(taskTexts, [accountId, id]);
    if (json === undefined) return undefined;
    const shown = new ShownTask(json);
    this.#memory?.tasks.keep(accountId, id, shown, json.length);
    return shown;
  }
}

/** What a task is shown as, from what its row is written from. */
function shownOf(task: unknown): { readonly value: ShownTask; readonly weight: number } {
  const json = taskJson(task as TaskRecord);
  return { value: new ShownTask(json), weight: json.length };
}

/** The cached reads of the current store, and the uncached reads of any snapshot. */
export class TaskReaders {
  readonly now: TaskReads;
  readonly #store: Walkable;

  constructor(store: Store) {
    const rowsMax = limits.taskRowsRememberedMax;
    this.#store = store;
    this.now = new TaskReads(store, {
      counts: new KnownRows(store, taskCounts, { parts: 2, weightMax: rowsMax }),
      tasks: new KnownRows(store, tasks, { parts: 2, weightMax: limits.taskCharsRememberedMax, made: shownOf }),
      ends: new KnownRows(store, taskRows, { parts: 2, weightMax: rowsMax }),
    });
  }

  /** Returns the reads over the store or a snapshot. */
  over(rows: Walkable): TaskReads {
    return rows === this.#store ? this.now : new TaskReads(rows);
  }
}
