/** Tells the events of an account: from a cursor on as they happen, or the newest first. Nothing is stored for events. */
import { activityChanges, activityHeads } from '../activity/records.ts';
import type { ThingKindName } from '../ids/thing.ts';
import { limits } from '../limits/service.ts';
import { Changes } from '../live/changes.ts';
import { heads } from '../mirror/records.ts';
import type { Store } from '../store/store.ts';
import { accountOfVault, vaultHeads } from '../sync/log/records.ts';
import { Waiters } from '../sync/pull/waiters.ts';
import { isChangeWanted, type ToldEvent, type WantedChanges } from './event.ts';
import { type ChangeRef, EventLogs } from './logs.ts';
import { EVENTS_START, type EventPosition, eventsGone, formatEventCursor, readEventCursor } from './position.ts';

/** The tables that every event writes to. */
const eventTables = [activityHeads, vaultHeads, heads];

interface AccountEventsOptions {
  readonly store: Store;
  readonly epoch: string;
  /** A keyed hash of a text, as hex. */
  readonly hash: (text: string) => string;
}

/** Which events are told. Undefined: all. */
export interface EventFilter extends WantedChanges {
  readonly kinds?: readonly ThingKindName[] | undefined;
}

interface EventQuery extends EventFilter {
  readonly limit: number;
}

export interface EventPage {
  readonly events: readonly ToldEvent[];
  /** After the last of them, and after others that the query left out. */
  readonly position: EventPosition;
  readonly hasMore: boolean;
}

/** A change, and what undoes it: undefined for what cannot be undone. */
interface PastChange {
  readonly event: ToldEvent;
  readonly ref: ChangeRef | undefined;
}

/** A page of what happened, the newest first. */
export interface PastPage {
  readonly changes: readonly PastChange[];
  /** Before the last of them; undefined: there is nothing earlier. */
  readonly next: EventPosition | undefined;
  /** Everybody who changed something then, also those whom the filter left out. */
  readonly names: ReadonlySet<string>;
}

export class AccountEvents {
  readonly #options: AccountEventsOptions;
  readonly #logs: EventLogs;
  readonly #waiters: Waiters;
  readonly #changes: Changes;

  constructor(options: AccountEventsOptions) {
    this.#options = options;
    const { store } = options;
    this.#logs = new EventLogs(store);
    this.#changes = new Changes(store, eventTables, accountOfVault(store));
    this.#waiters = new Waiters(this.#changes);
  }

  /**
   * The position of a cursor; `now`: after all that happened; undefined: before the oldest that is kept. Throws Refusal
   * `invalid_fields` and `events_gone`.
   */
  positionOf(accountId: string, after: string | undefined): EventPosition {
    if (after === undefined) return { ...EVENTS_START, records: this.#dropped(accountId) };
    if (after === 'now') return this.#logs.end(accountId);
    return readEventCursor(after, { ...this.#options, accountId, way: 'on' });
  }

  /** The position before what happened at a time, or before the oldest that is kept. */
  positionAt(accountId: string, ms: number): EventPosition {
    const { records, ...others } = this.#logs.before(accountId, ms);
    return { ...others, records: Math.max(records, this.#dropped(accountId)) };
  }

  cursorOf(accountId: string, position: EventPosition): string {
    return formatEventCursor(position, { ...this.#options, accountId, way: 'on' });
  }

  /** The events after a position, oldest first. Throws Refusal `events_gone` when some of them are no longer kept. */
  page(accountId: string, after: EventPosition, { limit, ...filter }: EventQuery): EventPage {
    if (this.missedAfter(accountId, after) !== undefined) {
      throw eventsGone('changes after this cursor are no longer kept');
    }
    let position = this.#logs.known(accountId, after);
    const events: ToldEvent[] = [];
    let steps = 0;
    for (const { atMs, event, move } of this.#logs.on(accountId, position)) {
      if (filter.untilMs !== undefined && atMs > filter.untilMs) break;
      if (events.length === limit || steps === limits.eventStepsMax) return { events, position, hasMore: true };
      steps += 1;
      position = move(position);
      if (event !== undefined && isTold(event, filter)) events.push(event);
    }
    return { events, position, hasMore: false };
  }

  /** The events before a position, or before `untilMs`, newest first. */
  past(accountId: string, before: EventPosition | undefined, { limit, ...filter }: EventQuery): PastPage {
    const { sinceMs = 0, untilMs } = filter;
    const end = untilMs === undefined ? this.#logs.end(accountId) : this.#logs.before(accountId, untilMs + 1);
    let position = before === undefined ? end : this.#logs.known(accountId, before);
    const changes: PastChange[] = [];
    const names = new Set<string>();
    let steps = 0;
    for (const { atMs, event, ref, move } of this.#logs.back(accountId, position)) {
      if (atMs < sinceMs) break;
      if (changes.length === limit || steps === limits.eventStepsMax) return { changes, next: position, names };
      steps += 1;
      position = move(position);
      if (event?.by != null) names.add(event.by);
      if (event !== undefined && isTold(event, filter)) changes.push({ event, ref });
    }
    return { changes, next: undefined, names };
  }

  /** Reads and writes the cursors of `past`. */
  readonly pastCursors = {
    read: (accountId: string, text: string) => readEventCursor(text, { ...this.#options, accountId, way: 'back' }),
    format: (accountId: string, position: EventPosition) =>
      formatEventCursor(position, { ...this.#options, accountId, way: 'back' }),
  };

  /**
   * How many changes after a position are no longer kept, and the position after them, from where nothing is missing.
   * Undefined: none. Only the log of tasks and documents forgets changes.
   */
  missedAfter(
    accountId: string,
    after: EventPosition,
  ): { readonly count: number; readonly position: EventPosition } | undefined {
    const dropped = this.#dropped(accountId);
    if (after.records >= dropped) return undefined;
    return { count: dropped - after.records, position: { ...after, records: dropped } };
  }

  /** Like `page`, and waits up to `ms` for the first event. `gone`: as of a request that may be abandoned. */
  async pageOrWait(
    accountId: string,
    after: EventPosition,
    query: EventQuery & { readonly ms: number },
    gone: (notify: () => void) => void,
  ): Promise<EventPage> {
    const untilMs = performance.now() + query.ms;
    for (let from = after; ; ) {
      const page = this.page(accountId, from, query);
      if (page.events.length > 0) return page;
      from = page.position;
      if (page.hasMore) await new Promise(setImmediate);
      else if (!(await this.#waiters.next(accountId, untilMs - performance.now(), gone))) return page;
    }
  }

  /** Calls `heard` after each change of an account. Returns a function that stops it. */
  watch(accountId: string, heard: () => void): () => void {
    return this.#changes.watch(accountId, heard);
  }

  /** Ends all waiting, now and later. */
  close(): void {
    this.#waiters.close();
  }

  /** Time of the oldest change of tasks and documents that is kept; undefined: all are. */
  recordsKeptFrom(accountId: string): number | undefined {
    if (this.#dropped(accountId) === 0) return undefined;
    return this.#options.store.range(activityChanges, { prefix: [accountId], limit: 1 })[0]?.value.at_ms;
  }

  /** Number of the newest change that was removed to make room; 0: none. */
  #dropped(accountId: string): number {
    return this.#options.store.get(activityHeads, [accountId])?.dropped ?? 0;
  }
}

function isTold(event: ToldEvent, filter: EventFilter): boolean {
  if (filter.kinds !== undefined && !filter.kinds.includes(event.kind)) return false;
  return isChangeWanted(filter, Date.parse(event.at), event.by);
}
