/**
 * Owns what lists read of the tasks of accounts. What the store holds now is partly remembered, row by row: counters, tasks in
 * the form in which they are shown, and the rows at the ends of orders, which most lists begin with. Of a snapshot nothing is.
 */
import { KnownRows } from '../../cache/rows.ts';
import { limits } from '../../limits/service.ts';
import type { Store } from '../../store/store.ts';
import type { Walkable } from '../../store/table.ts';
import { withoutCleared } from '../clearing.ts';
import { type TaskRecord, taskCounts, taskRows, tasks, taskTexts } from '../records.ts';
import { ShownTask } from '../shown.ts';

/** Where a task stands in an order. */
export interface Row {
  readonly value: number | string;
  readonly id: number;
}

/** The rows of a space from one of its ends on. */
export interface EndRows {
  readonly rows: readonly Row[];
  /** The space has no others. */
  readonly isWhole: boolean;
}

/** An end of a space: that of the greatest values, or of the least. */
type End = 'greatest' | 'least';

type Ends = { readonly [end in End]?: EndRows };

/** What is remembered of the rows as they are now. */
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

  /** How many tasks stand in each bucket of a scope. */
  counts(accountId: string, scope: string): readonly number[] {
    const name = `${accountId} ${scope}`;
    const known = this.#memory?.counts.find(name);
    if (known !== undefined) return known;
    const counts = this.rows.get(taskCounts, [accountId, scope])?.counts ?? NO_COUNTS;
    this.#memory?.counts.keep(name, counts, 1);
    return counts;
  }

  /**
   * Live tasks as they are shown. Ids of binned tasks must not be asked for: no order holds one. `cleared`: categories to leave
   * out.
   */
  shown(accountId: string, ids: readonly number[], cleared: ReadonlySet<number>): ShownTask[] {
    const found = ids.flatMap((id) => this.#shown(accountId, id) ?? []);
    if (cleared.size === 0) return found;
    return found.map(
      ({ json }) => new ShownTask(JSON.stringify(withoutCleared(JSON.parse(json) as TaskRecord, cleared))),
    );
  }

  /** The rows that are remembered of an end of a space, in the order of the walk from there. */
  endRows(accountId: string, space: string, descending: boolean): EndRows | undefined {
    return this.#memory?.ends.find(`${accountId} ${space}`)?.[endOf(descending)];
  }

  /** Takes in the rows that a walk read from an end of a space, if that tells more than what is remembered. */
  keepEndRows(accountId: string, space: string, descending: boolean, { rows, isWhole }: EndRows): void {
    if (this.#memory === undefined) return;
    const name = `${accountId} ${space}`;
    const { ends } = this.#memory;
    const known = ends.find(name) ?? {};
    const end = endOf(descending);
    const before = known[end];
    if (before !== undefined && before.rows.length >= rows.length && before.isWhole === isWhole) return;
    const next: Ends = { ...known, [end]: { rows, isWhole } };
    ends.keep(name, next, 1 + (next.greatest?.rows.length ?? 0) + (next.least?.rows.length ?? 0));
  }

  #shown(accountId: string, id: number): ShownTask | undefined {
    const name = `${accountId} ${id}`;
    const known = this.#memory?.tasks.find(name);
    if (known !== undefined) return known;
    const json = this.rows.get(taskTexts, [accountId, id]);
    if (json === undefined) return undefined;
    const shown = new ShownTask(json);
    this.#memory?.tasks.keep(name, shown, json.length);
    return shown;
  }
}

/** The reads of the store as it is now, which remember, and those of any snapshot of it, which do not. */
export class TaskReaders {
  readonly now: TaskReads;
  readonly #store: Walkable;

  constructor(store: Store) {
    const rowsMax = limits.taskRowsRememberedMax;
    this.#store = store;
    this.now = new TaskReads(store, {
      counts: new KnownRows(store, taskCounts, { parts: 2, weightMax: rowsMax }),
      tasks: new KnownRows(store, tasks, { parts: 2, weightMax: limits.taskCharsRememberedMax }),
      ends: new KnownRows(store, taskRows, { parts: 2, weightMax: rowsMax }),
    });
  }

  /** The reads over the store itself or over a snapshot. */
  over(rows: Walkable): TaskReads {
    return rows === this.#store ? this.now : new TaskReads(rows);
  }
}
