/**
 * Reads the events of an account in order, from the logs that its changes are written to in their own commit: activity,
 * the logs of its vaults, the order of its backups. Nothing is stored for events.
 */
import type { ActivityHead, ChangeRecord } from '../activity/records.ts';
import { activityChanges, activityHeads, type ChangedKind } from '../activity/records.ts';
import type { ThingKindName, ThingReader } from '../ids/thing.ts';
import { limits } from '../limits/service.ts';
import { Changes } from '../live/changes.ts';
import { UNKNOWN_GROUP } from '../mirror/declared.ts';
import { blobs, heads, order } from '../mirror/records.ts';
import type { Store } from '../store/store.ts';
import { SyncReader } from '../sync/log/reader.ts';
import { accountOfVault, vaultHeads, vaults, versions } from '../sync/log/records.ts';
import type { VersionMeta, VersionStatus } from '../sync/log/version.ts';
import { Waiters } from '../sync/pull/waiters.ts';
import { fileUri } from '../sync/tools/uri.ts';
import { foldCase } from '../text/fold-case.ts';
import type { ToldEvent } from './event.ts';
import { EVENTS_START, type EventPosition, eventsGone, formatEventCursor, readEventCursor } from './position.ts';

/** The tables that every event writes to. */
const eventTables = [activityHeads, vaultHeads, heads];

interface AccountEventsOptions {
  readonly store: Store;
  readonly epoch: string;
  /** A keyed hash of a text, as hex. */
  readonly hash: (text: string) => string;
}

interface EventQuery {
  readonly limit: number;
  /** Undefined: all. */
  readonly kinds?: readonly ThingKindName[] | undefined;
}

export interface EventPage {
  readonly events: readonly ToldEvent[];
  /** After the last of them, and after others that the query left out. */
  readonly position: EventPosition;
  readonly hasMore: boolean;
}

/** A place in one log. Undefined event: nothing that is told. */
interface Step {
  readonly atMs: number;
  readonly event: ToldEvent | undefined;
  readonly move: (position: EventPosition) => EventPosition;
}

const RECORD_KINDS: Readonly<Record<ChangedKind, ThingKindName>> = {
  tasks: 'task',
  docs: 'doc',
  handoffs: 'handoff',
  papers: 'paper',
};

const FILE_ACTS: Readonly<Record<VersionStatus, ToldEvent['act']>> = {
  created: 'created',
  updated: 'changed',
  renamed: 'moved',
  restored: 'restored',
  deleted: 'deleted',
};

export class AccountEvents {
  readonly #options: AccountEventsOptions;
  readonly #reader: SyncReader;
  readonly #waiters: Waiters;
  readonly #changes: Changes;

  constructor(options: AccountEventsOptions) {
    this.#options = options;
    const { store } = options;
    this.#reader = new SyncReader(store);
    this.#changes = new Changes(store, eventTables, accountOfVault(store));
    this.#waiters = new Waiters(this.#changes);
  }

  /**
   * The position of a cursor; `now`: after all that happened; undefined: before the oldest that is kept. Throws Refusal
   * `invalid_fields` and `events_gone`.
   */
  positionOf(accountId: string, after: string | undefined): EventPosition {
    if (after === undefined) return { ...EVENTS_START, records: this.#activityHead(accountId)?.dropped ?? 0 };
    if (after === 'now') return this.#end(accountId);
    return readEventCursor(after, { ...this.#options, accountId });
  }

  cursorOf(accountId: string, position: EventPosition): string {
    return formatEventCursor(position, { ...this.#options, accountId });
  }

  /** The events after a position, oldest first. Throws Refusal `events_gone` when some of them are no longer kept. */
  page(accountId: string, after: EventPosition, { limit, kinds }: EventQuery): EventPage {
    if (this.missedAfter(accountId, after) !== undefined) {
      throw eventsGone('changes after this cursor are no longer kept');
    }
    const ids = Array.from(this.#options.store.keys(vaults, [accountId]), ([, id]) => id);
    const known = ids.map((id): [string, number] => [id, after.vaults[id] ?? 0]);
    let position: EventPosition = { ...after, vaults: Object.fromEntries(known) };
    const logs = [
      this.#records(accountId, after.records),
      this.#backups(accountId, after.backups),
      ...known.map(([id, seq]) => this.#files(id, seq)),
    ];
    const events: ToldEvent[] = [];
    let steps = 0;
    for (const { event, move } of oldestFirst(logs)) {
      if (events.length === limit || steps === limits.eventStepsMax) return { events, position, hasMore: true };
      steps += 1;
      position = move(position);
      if (event !== undefined && (kinds === undefined || kinds.includes(event.kind))) events.push(event);
    }
    return { events, position, hasMore: false };
  }

  /**
   * How many changes after a position are no longer kept, and the position after them, from where nothing is missing.
   * Undefined: none. Only the log of tasks and documents forgets changes.
   */
  missedAfter(
    accountId: string,
    after: EventPosition,
  ): { readonly count: number; readonly position: EventPosition } | undefined {
    const dropped = this.#activityHead(accountId)?.dropped ?? 0;
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

  #activityHead(accountId: string): ActivityHead | undefined {
    return this.#options.store.get(activityHeads, [accountId]);
  }

  #end(accountId: string): EventPosition {
    const { store } = this.#options;
    const ofVaults = Array.from(store.keys(vaults, [accountId]), ([, id]) => [id, this.#reader.head(id).seq] as const);
    return {
      records: this.#activityHead(accountId)?.number ?? 0,
      backups: store.get(heads, [accountId])?.sequence ?? 0,
      vaults: Object.fromEntries(ofVaults),
    };
  }

  *#records(accountId: string, after: number): Generator<Step> {
    for (const { key, value } of rowsAfter(this.#options.store, activityChanges, accountId, after)) {
      const [, number] = key;
      yield {
        atMs: value.at_ms,
        event: recordEvent(number, value),
        move: (position) => ({ ...position, records: number }),
      };
    }
  }

  *#backups(accountId: string, after: number): Generator<Step> {
    const { store } = this.#options;
    for (const { key, value } of rowsAfter(store, order, accountId, after)) {
      const [, sequence] = key;
      const { commit_sha: commit, sha256 } = value;
      const blob = store.get(blobs, [accountId, commit, sha256]);
      const group = blob?.repository_id ?? UNKNOWN_GROUP;
      yield {
        atMs: Date.parse(blob?.uploaded_at ?? ''),
        event: blob && {
          id: `b.${sequence}`,
          kind: 'backup',
          act: 'created',
          thing: `cairn://backups/${group}`,
          name: blob.repository_label ?? 'Unknown repository',
          at: blob.uploaded_at,
          by: blob.uploaded_by,
          details: { commit_sha: commit, sha256, repository_id: blob.repository_id, size_bytes: blob.byte_size },
        },
        move: (position) => ({ ...position, backups: sequence }),
      };
    }
  }

  *#files(vaultId: string, after: number): Generator<Step> {
    const { store } = this.#options;
    for (let beyond = after; ; ) {
      const keys = [...store.keysIn(versions, { prefix: [vaultId], beyond, limit: limits.eventRowsRead })];
      for (const [, seq] of keys) {
        beyond = seq;
        const meta = this.#reader.versionMeta(vaultId, seq);
        if (meta === undefined) continue;
        yield {
          atMs: Date.parse(meta.stored_at),
          event: this.#isLeft(vaultId, meta) ? undefined : fileEvent(vaultId, meta),
          move: (position) => ({ ...position, vaults: { ...position.vaults, [vaultId]: seq } }),
        };
      }
      if (keys.length < limits.eventRowsRead) return;
    }
  }

  /** True for the tombstone that a move leaves: the change after it, in the same commit, tells of the move. */
  #isLeft(vaultId: string, { type, seq, path }: VersionMeta): boolean {
    if (type !== 'deleted') return false;
    const from = this.#reader.versionMeta(vaultId, seq + 1)?.renamed_from;
    return from !== undefined && foldCase(from) === foldCase(path);
  }
}

/** The rows of an account in a numbered log, a few at a time: an iterator of the store would hold a snapshot. */
function* rowsAfter<V>(
  store: ThingReader,
  table: Parameters<typeof store.range<[string, number], V>>[0],
  accountId: string,
  after: number,
) {
  for (let beyond = after; ; ) {
    const rows = store.range(table, { prefix: [accountId], beyond, limit: limits.eventRowsRead });
    yield* rows;
    if (rows.length < limits.eventRowsRead) return;
    beyond = rows.at(-1)?.key[1] ?? beyond;
  }
}

/** Merges logs that are each in order. What is undated goes first. */
function* oldestFirst(logs: readonly Generator<Step>[]): Generator<Step> {
  const next = (log: Generator<Step>) => {
    const { value, done } = log.next();
    return done === true ? [] : [{ log, step: value as Step }];
  };
  const firsts = logs.flatMap(next);
  while (firsts.length > 0) {
    const oldest = firsts.reduce((best, one) => (best.step.atMs <= one.step.atMs ? best : one));
    yield oldest.step;
    firsts.splice(firsts.indexOf(oldest), 1, ...next(oldest.log));
  }
}

function recordEvent(number: number, { kind, item, act, name, at_ms: atMs, by, after }: ChangeRecord): ToldEvent {
  return {
    id: `r.${number}`,
    kind: RECORD_KINDS[kind],
    act,
    thing: `cairn://${kind}/${item}`,
    name,
    at: new Date(atMs).toISOString(),
    by,
    details: act === 'changed' ? { fields: Object.keys(after) } : {},
  };
}

function fileEvent(vaultId: string, meta: VersionMeta): ToldEvent {
  const { path, seq, sha256, size_bytes: sizeBytes, renamed_from: from } = meta;
  return {
    id: `f.${vaultId}.${seq}`,
    kind: 'file',
    act: from === undefined ? FILE_ACTS[meta.status] : 'moved',
    thing: fileUri(vaultId, path),
    name: path.slice(path.lastIndexOf('/') + 1),
    at: meta.stored_at,
    by: meta.device_id,
    details: { vault_id: vaultId, path, seq, sha256, size_bytes: sizeBytes, ...(from && { renamed_from: from }) },
  };
}
