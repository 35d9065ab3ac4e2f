/** Reads the changes of an account, newest first. */
import type { Store } from '../store/store.ts';
import { activityChanges, activityHeads, activityItems, type ChangedKind, type ChangeRecord } from './records.ts';

export interface NumberedChange extends ChangeRecord {
  readonly number: number;
}

const READ_ROWS = 64;
/** Mostly the newest change decides. */
const READ_OF_ITEM = 8;

export class ActivityLog {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** The changes before a time in milliseconds, newest first. Stop iterating early: there may be thousands. */
  *before(accountId: string, ms: number): Generator<NumberedChange> {
    let beyond = this.#firstNotBefore(accountId, ms);
    for (;;) {
      const rows = this.#store.range(activityChanges, {
        prefix: [accountId],
        reverse: true,
        limit: READ_ROWS,
        ...(beyond === undefined ? {} : { beyond }),
      });
      for (const { key, value } of rows) yield { number: key[1], ...value };
      beyond = rows.at(-1)?.key[1];
      if (rows.length < READ_ROWS) return;
    }
  }

  /** The changes of one item, newest first. */
  of(accountId: string, kind: ChangedKind, item: number, limit: number): NumberedChange[] {
    return this.#store
      .range(activityItems, { prefix: [accountId, kind, item], reverse: true, limit })
      .flatMap(({ key }) => this.get(accountId, key[3]) ?? []);
  }

  /** As `of`, without an end: stop iterating early. */
  *each(accountId: string, kind: ChangedKind, item: number): Generator<NumberedChange> {
    let beyond: number | undefined;
    for (;;) {
      const rows = this.#store.range(activityItems, {
        prefix: [accountId, kind, item],
        reverse: true,
        limit: READ_OF_ITEM,
        ...(beyond === undefined ? {} : { beyond }),
      });
      for (const { key } of rows) {
        const change = this.get(accountId, key[3]);
        if (change !== undefined) yield change;
      }
      beyond = rows.at(-1)?.key[3];
      if (rows.length < READ_OF_ITEM) return;
    }
  }

  /** Whether every change since a time in milliseconds is kept. */
  reachesBackTo(accountId: string, ms: number): boolean {
    if (this.#store.get(activityHeads, [accountId])?.dropped === undefined) return true;
    const [oldest] = this.#store.range(activityChanges, { prefix: [accountId], limit: 1 });
    return oldest !== undefined && oldest.value.at_ms < ms;
  }

  get(accountId: string, number: number): NumberedChange | undefined {
    const change = this.#store.get(activityChanges, [accountId, number]);
    return change && { number, ...change };
  }

  /** Number of the newest change of an item; undefined: none is kept. */
  newestOf(accountId: string, kind: ChangedKind, item: number): number | undefined {
    const [newest] = this.#store.range(activityItems, { prefix: [accountId, kind, item], reverse: true, limit: 1 });
    return newest?.key[3];
  }

  /** The number from which on no change is before a time, by halves; undefined: all are before it. */
  #firstNotBefore(accountId: string, ms: number): number | undefined {
    const end = this.#store.range(activityChanges, { prefix: [accountId], reverse: true, limit: 1 })[0];
    if (end === undefined || end.value.at_ms < ms) return undefined;
    let [low, high] = [0, end.key[1]];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const [next] = this.#store.range(activityChanges, { prefix: [accountId], beyond: middle - 1, limit: 1 });
      if (next === undefined || next.value.at_ms >= ms) high = middle;
      else low = Math.max(middle, next.key[1]) + 1;
    }
    return low;
  }
}
