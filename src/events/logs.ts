/**
 * Reads the logs that the changes of an account are written to in their own commit, as one, in either direction: activity,
 * the logs of its vaults, the order of its backups.
 */
import type { ChangeRecord } from '../activity/records.ts';
import { activityChanges, activityHeads, type ChangedKind } from '../activity/records.ts';
import type { ThingKindName } from '../ids/thing.ts';
import { limits } from '../limits/service.ts';
import { UNKNOWN_GROUP } from '../mirror/declared.ts';
import { blobs, heads, order } from '../mirror/records.ts';
import type { Store } from '../store/store.ts';
import type { RangeQuery } from '../store/table.ts';
import { SyncReader } from '../sync/log/reader.ts';
import { vaults, versions } from '../sync/log/records.ts';
import type { VersionMeta, VersionStatus } from '../sync/log/version.ts';
import { fileUri } from '../sync/tools/uri.ts';
import { foldCase } from '../text/fold-case.ts';
import type { ToldEvent } from './event.ts';
import type { EventPosition } from './position.ts';

/** What names a change for an undo: a version in the log of a vault, or a change in the activity of the account. */
export type ChangeRef = FileChangeRef | RecordChangeRef;

export interface FileChangeRef {
  readonly of: 'file';
  readonly vaultId: string;
  readonly seq: number;
  readonly path: string;
  /** The path that the file left; the tombstone there is the change before this one. */
  readonly from: string | undefined;
}

export interface RecordChangeRef {
  readonly of: 'record';
  /** Its number in the activity. */
  readonly number: number;
  readonly kind: ChangedKind;
  /** Number of the task or document. */
  readonly item: number;
}

/** A place in one log. Undefined event: nothing that is told. */
interface Step {
  readonly atMs: number;
  readonly event: ToldEvent | undefined;
  readonly ref?: ChangeRef;
  /** The position past it, in the direction of the walk. */
  readonly move: (position: EventPosition) => EventPosition;
}

/** On: what is after a position, oldest first. Back: what is up to it, newest first. */
type Way = 'on' | 'back';

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

export class EventLogs {
  readonly #store: Store;
  readonly #reader: SyncReader;

  constructor(store: Store) {
    this.#store = store;
    this.#reader = new SyncReader(store);
  }

  /** After all that happened. */
  end(accountId: string): EventPosition {
    return {
      records: this.#store.get(activityHeads, [accountId])?.number ?? 0,
      backups: this.#store.get(heads, [accountId])?.sequence ?? 0,
      vaults: this.#ofVaults(accountId, (id) => this.#reader.head(id).seq),
    };
  }

  /** After all that happened before a moment in milliseconds. */
  before(accountId: string, ms: number): EventPosition {
    const end = this.end(accountId);
    const first = <T>(generator: Generator<T>) => generator.next().value as T | undefined;
    const before = (last: number, from: (after: number) => Generator<NumberedStep>) =>
      numberBefore(ms, last, (after) => first(from(after)));
    return {
      records: before(end.records, (after) => this.#records(accountId, after, 'on')),
      backups: before(end.backups, (after) => this.#backups(accountId, after, 'on')),
      vaults: this.#ofVaults(accountId, (id) => before(end.vaults[id] ?? 0, (after) => this.#files(id, after, 'on'))),
    };
  }

  /** A position in the vaults that the account has now. */
  known(accountId: string, position: EventPosition): EventPosition {
    return { ...position, vaults: this.#ofVaults(accountId, (id) => position.vaults[id] ?? 0) };
  }

  /** What happened after a position, oldest first. */
  on(accountId: string, after: EventPosition): Generator<Step> {
    return this.#merged(accountId, after, 'on');
  }

  /** What happened up to a position, newest first. */
  back(accountId: string, from: EventPosition): Generator<Step> {
    return this.#merged(accountId, from, 'back');
  }

  #ofVaults(accountId: string, numberOf: (vaultId: string) => number): Record<string, number> {
    const ids = Array.from(this.#store.keys(vaults, [accountId]), ([, id]) => id);
    return Object.fromEntries(ids.map((id) => [id, numberOf(id)]));
  }

  #merged(accountId: string, { records, backups, vaults: ofVaults }: EventPosition, way: Way): Generator<Step> {
    return inOrder(
      [
        this.#records(accountId, records, way),
        this.#backups(accountId, backups, way),
        ...Object.entries(ofVaults).map(([id, seq]) => this.#files(id, seq, way)),
      ],
      way,
    );
  }

  *#records(accountId: string, from: number, way: Way): Generator<NumberedStep> {
    for (const { key, value } of rowsOf(this.#store, activityChanges, accountId, from, way)) {
      const [, number] = key;
      yield {
        number,
        atMs: value.at_ms,
        event: eventOfChange(number, value),
        ref: { of: 'record', number, kind: value.kind, item: value.item },
        move: (position) => ({ ...position, records: past(number, way) }),
      };
    }
  }

  *#backups(accountId: string, from: number, way: Way): Generator<NumberedStep> {
    const store = this.#store;
    for (const { key, value } of rowsOf(store, order, accountId, from, way)) {
      const [, sequence] = key;
      const { commit_sha: commit, sha256 } = value;
      const blob = store.get(blobs, [accountId, commit, sha256]);
      const group = blob?.repository_id ?? UNKNOWN_GROUP;
      yield {
        number: sequence,
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
        move: (position) => ({ ...position, backups: past(sequence, way) }),
      };
    }
  }

  *#files(vaultId: string, from: number, way: Way): Generator<NumberedStep> {
    for (let beyond = from; ; ) {
      const query = { prefix: [vaultId], limit: limits.eventRowsRead };
      const keys = [...this.#store.keysIn(versions, { ...query, ...beyondOf(beyond, way) })];
      for (const [, seq] of keys) {
        beyond = past(seq, way);
        const meta = this.#reader.versionMeta(vaultId, seq);
        if (meta === undefined) continue;
        const { path, renamed_from: left } = meta;
        yield {
          number: seq,
          atMs: Date.parse(meta.stored_at),
          event: this.#isLeft(vaultId, meta) ? undefined : fileEvent(vaultId, meta),
          ref: { of: 'file', vaultId, seq, path, from: left },
          move: (position) => ({ ...position, vaults: { ...position.vaults, [vaultId]: past(seq, way) } }),
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

/** A step with its number in its log. */
interface NumberedStep extends Step {
  readonly number: number;
}

/** Where a walk goes on after a number. */
const past = (number: number, way: Way): number => (way === 'on' ? number : number - 1);

const beyondOf = (position: number, way: Way): Pick<RangeQuery, 'beyond' | 'reverse'> =>
  way === 'on' ? { beyond: position } : { beyond: position + 1, reverse: true };

/** The rows of an account in a numbered log, a few at a time: an iterator of the store would hold a snapshot. */
function* rowsOf<V>(
  store: Store,
  table: Parameters<typeof store.range<[string, number], V>>[0],
  accountId: string,
  from: number,
  way: Way,
) {
  for (let beyond = from; ; ) {
    const rows = store.range(table, { prefix: [accountId], limit: limits.eventRowsRead, ...beyondOf(beyond, way) });
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < limits.eventRowsRead) return;
    beyond = past(last.key[1], way);
  }
}

/** The greatest number of a log before a moment, by halves, as times rise with the numbers; 0: none. */
function numberBefore(
  ms: number,
  last: number,
  firstAfter: (number: number) => Pick<NumberedStep, 'number' | 'atMs'> | undefined,
): number {
  let [low, high] = [0, last + 1];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const found = firstAfter(middle - 1);
    if (found !== undefined && found.number < high && found.atMs < ms) low = found.number;
    else high = middle;
  }
  return low;
}

/** Merges logs that are each in order. What is undated goes first. */
function* inOrder(logs: readonly Generator<Step>[], way: Way): Generator<Step> {
  const next = (log: Generator<Step>) => {
    const { value, done } = log.next();
    return done === true ? [] : [{ log, step: value as Step }];
  };
  const firsts = logs.flatMap(next);
  const isNext = way === 'on' ? (a: Step, b: Step) => a.atMs <= b.atMs : (a: Step, b: Step) => a.atMs > b.atMs;
  while (firsts.length > 0) {
    const first = firsts.reduce((best, one) => (isNext(best.step, one.step) ? best : one));
    yield first.step;
    firsts.splice(firsts.indexOf(first), 1, ...next(first.log));
  }
}

/** How a change of a task or document is told. */
export function eventOfChange(
  number: number,
  { kind, item, act, name, at_ms: atMs, by, after }: ChangeRecord,
): ToldEvent {
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
