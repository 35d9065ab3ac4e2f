/**
 * The member that reads. It applies the records of the log to its data file, and takes over when it is handed the log,
 * or when reads succeed and find nothing for longer than the owner's lease.
 */
import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal } from '../../common/fault.ts';
import type { Log } from '../../common/log.ts';
import { limits } from '../../limits/service.ts';
import type { LogAck } from '../../store/logged/committer.ts';
import type { LogPlace } from '../../store/logged/place.ts';
import type { ReplicaFile, StoredRow } from '../../store/logged/replica.ts';
import { newEpochRow } from '../../store/meta/epoch.ts';
import { meta } from '../../store/meta/meta.ts';
import type { RowPart } from '../../store/rows.ts';
import { OneBehind, openAhead } from '../ahead.ts';
import { CHAIN_START, type ChainEnd, checkNotBehind, follow } from '../chain.ts';
import { decodeHead, decodeRecord, encodeRecord, type RecordHead } from '../frame.ts';
import { type CommitLog, LogGap, OutcomeUnknown } from '../log/log.ts';
import { readRecords } from '../snapshots/segments.ts';
import { type BeginMark, BegunAgain, checkBegins, OtherIncarnation } from './begin-again.ts';
import type { MemberIdentity } from './identity.ts';
import { type ClockMoment, heardNothingMs, type MemberClock, systemClock } from './lease.ts';
import { ownerNote } from './owner.ts';
import { type MemberState, STATE_SENTENCES } from './states.ts';
import { isFatal, isNewHistory, mayTakeOver, ownerOf } from './take-over.ts';
import { Forked, meet } from './unlogged.ts';

export interface LogFollowerOptions {
  readonly commitLog: CommitLog;
  readonly replica: ReplicaFile;
  readonly identity: MemberIdentity;
  /** When writes are answered once this member owns the log; default: after the log has them. */
  readonly ack?: LogAck;
  readonly leaseMs: number;
  /** Seconds that this member waits longer than others. */
  readonly priority: number;
  readonly log: Log;
  /** Throws StartError when this process could not serve the applied rows. */
  readonly prove: () => void;
  /** Ends the following. */
  readonly signal: AbortSignal;
  readonly clock?: MemberClock;
  /** Set when the data file is a restored hub with which the log is to go on: records are looked at and not applied. */
  readonly begins?: BeginMark | undefined;
}

/** What a member has after it took over. */
export interface TakenOver {
  readonly incarnation: string;
  readonly end: ChainEnd;
  /** The rows of its record. */
  readonly rows: readonly StoredRow[];
  /** When the append of its record began. */
  readonly since: ClockMoment;
  /** True when the log was empty. */
  readonly isFirst: boolean;
}

export class LogFollower {
  state: MemberState = 'joining';
  /** Why this member does not own the log, for the operator. */
  why = 'it has not read the log yet';
  /** The head of the newest record that was read. */
  newest: RecordHead | undefined;
  /** Newest position of the log that is known. */
  last = 0;
  readonly #options: LogFollowerOptions;
  readonly #clock: MemberClock;
  #end: ChainEnd;
  #incarnation: string | undefined;
  #isPartial = false;
  /** When a read last found a record, or first succeeded; undefined while reads fail. */
  #seenAt: ClockMoment | undefined;
  #isProven = false;

  constructor(options: LogFollowerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    const place = options.replica.place;
    this.#end = place === undefined ? CHAIN_START : { position: place.position, hash: place.hash };
    this.#incarnation = options.begins?.begins ?? place?.incarnation;
    this.#isPartial = place?.isPartial === true;
  }

  get end(): ChainEnd {
    return this.#end;
  }

  /** The member that owns the log, as far as this one knows; null: none. While the log is away: the one that did. */
  get owner(): string | null {
    const { leaseMs } = this.#options;
    return ownerOf({ newest: this.newest, silentMs: this.#silentMs(this.#clock.now()), leaseMs });
  }

  #silentMs(now: ClockMoment): number {
    return this.#seenAt === undefined ? 0 : heardNothingMs(this.#seenAt, now);
  }

  /** Follows until this member has taken over, or until the signal: then undefined. Throws when the log is not its own. */
  async run(): Promise<TakenOver | undefined> {
    const { signal, leaseMs } = this.#options;
    const pollMs = Math.min(limits.logPollMsMax, Math.max(limits.logPollMsMin, leaseMs / 20));
    while (!signal.aborted) {
      try {
        const found = this.#options.begins === undefined ? await this.#catchUp() : await this.#lookAtEnd();
        if (found) this.#seenAt = undefined;
        this.#seenAt ??= this.#clock.look();
        if (this.#options.replica.hasRoom) this.#tell('following');
        else this.#tellTrouble('no room');
        const taken = await this.#takeIfDue();
        if (taken !== undefined) return taken;
      } catch (error) {
        // A machine that slept for hours: what it missed is in segments by now.
        const wasAway = error instanceof LogGap && this.state === 'following';
        if (isFatal(error) && !wasAway) throw error;
        this.#seenAt = undefined;
        this.why = error instanceof Error ? error.message : String(error);
        this.#tellTrouble(error instanceof Refusal ? 'no room' : 'apart', error);
      }
      const pauseMs = this.state === 'no room' ? limits.logRetryMsMax : pollMs;
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    }
    return undefined;
  }

  /** Says once what keeps this member from following, or from taking over. */
  #tellTrouble(state: 'no room' | 'apart', error?: unknown): void {
    if (this.state !== state) this.#options.log.warn({ err: error }, `member: ${STATE_SENTENCES[state]}; trying again`);
    this.#tell(state);
  }

  #tell(state: MemberState): void {
    if (this.state === state) return;
    this.state = state;
    this.#options.log.info({ state, position: this.#end.position }, 'member: state');
  }

  /** Reads the newest record of a log that is to go on with this data file. Returns true when it is another one. */
  async #lookAtEnd(): Promise<boolean> {
    const { commitLog, begins } = this.#options;
    const last = (await commitLog.ends())?.last ?? 0;
    if (last === this.#end.position) return false;
    for await (const { position, bytes } of commitLog.read(last)) {
      const head = decodeHead(bytes);
      if (begins !== undefined) checkBegins(begins, head);
      this.newest = head;
      this.last = position;
      this.#end = { position, hash: head.hash };
    }
    return true;
  }

  /** Applies what the log has after the newest applied record. Returns true when there was any. */
  async #catchUp(): Promise<boolean> {
    const applying = new OneBehind();
    try {
      return await this.#applyNew(applying);
    } finally {
      // What failed is thrown already; the next attempt must not meet this one's last write.
      await applying.end().catch(() => undefined);
    }
  }

  async #applyNew(applying: OneBehind): Promise<boolean> {
    const { commitLog } = this.#options;
    let rows: StoredRow[] = [];
    let bytes = 0;
    let found = false;
    let applied = this.#end;
    let { unlogged } = this.#options.replica;
    const isNew = this.state === 'joining' || this.state === 'apart';
    const isWithoutRoom = this.state === 'no room';
    if (isNew || isWithoutRoom) {
      const ends = await commitLog.ends();
      this.last = ends?.last ?? 0;
      checkNotBehind(this.#end, this.last);
      // Without room it stays so until a write succeeds.
      if (isNew && this.last > this.#end.position) this.#tell('catching up');
    }
    // Only a member that comes back may need records that are in segments by now; to look for those costs a request.
    const next = this.#end.position + 1;
    const isBack = isNew || isWithoutRoom || this.state === 'catching up';
    const stored = isBack ? readRecords(commitLog, next) : commitLog.read(next);
    for await (const { record, rows: opened } of openAhead(stored, (part) => this.#value(part))) {
      applied = follow(applied, record);
      if (this.#incarnation !== undefined && record.incarnation !== this.#incarnation)
        throw record.note?.['begins'] === undefined ? new OtherIncarnation(record) : new BegunAgain(record);
      this.#incarnation = record.incarnation;
      if (record.note?.['seed'] !== undefined) this.#isPartial = record.note['seed'] === 'more';
      found = true;
      this.newest = record;
      this.last = Math.max(this.last, record.position);
      const met = meet(record, this.#options.identity.instance, unlogged);
      if (met === 'forked') throw new Forked(record);
      if (met === 'confirm') {
        // Written by this folder before a crash: the file has its rows already, or newer ones.
        await applying.end();
        await this.#options.replica.confirm(Number(record.note?.['through']), this.#placeAt(applied));
        this.#end = applied;
        unlogged = this.#options.replica.unlogged;
        continue;
      }
      for (const row of opened) {
        // An upgrade, or another master key.
        if (row.table === meta.name) this.#isProven = false;
        rows.push(row);
        bytes += row.value?.length ?? 0;
      }
      if (bytes >= limits.logAppliedBytes) {
        const [full, end] = [rows, applied];
        await applying.begin(() => this.#apply(full, end));
        [rows, bytes] = [[], 0];
      }
      if (this.#options.signal.aborted) break;
    }
    if (found) await applying.begin(() => this.#apply(rows, applied));
    await applying.end();
    if (!this.#isProven && this.#end.position > 0) {
      this.#options.prove();
      this.#isProven = true;
    }
    return found;
  }

  async #apply(rows: readonly StoredRow[], end: ChainEnd): Promise<void> {
    await this.#options.replica.apply(rows, this.#placeAt(end));
    this.#end = end;
  }

  #placeAt(end: ChainEnd): LogPlace {
    return { cell: 1, incarnation: this.#incarnation ?? '', ...end, ...(this.#isPartial ? { isPartial: true } : {}) };
  }

  async #value(part: RowPart): Promise<Uint8Array> {
    const bytes = await this.#options.commitLog.getPart(part.name);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    if (sha256 !== part.sha256)
      throw new Error(`the part ${part.name} of the log has other bytes than its record says`);
    return bytes;
  }

  async #takeIfDue(): Promise<TakenOver | undefined> {
    const { commitLog, identity, log, leaseMs, priority } = this.#options;
    const now = this.#clock.look();
    const silentMs = this.#silentMs(now);
    const facts = { newest: this.newest ?? (await this.#newestHead()), identity, silentMs, leaseMs, priority };
    const { isDue, why } = mayTakeOver({ ...facts, isPartial: this.#isPartial, hasRoom: this.state !== 'no room' });
    this.why = why;
    if (!isDue) return undefined;
    // A machine that slept could take a position that was trimmed.
    const last = (await commitLog.ends())?.last ?? 0;
    if (last !== this.#end.position) return undefined;
    this.#tell('taking over');
    const position = last + 1;
    const incarnation = this.#incarnation ?? randomBytes(12).toString('hex');
    const rows = isNewHistory(facts) ? [newEpochRow()] : [];
    const record = await encodeRecord({
      cell: 1,
      incarnation,
      position,
      member: identity.name,
      timeMs: Date.now(),
      kind: 'take-over',
      rows,
      id: randomBytes(12).toString('hex'),
      previousHash: this.#end.hash,
      note: { ...ownerNote(this.#options, leaseMs, position), ...this.#beginNote(facts.newest, incarnation) },
    });
    const since = this.#clock.look();
    const created = await this.#settle(position, record.bytes, since);
    if (created === 'taken') {
      this.#seenAt = undefined;
      return undefined;
    }
    log.info({ position, why }, 'member: took over');
    return { incarnation, end: { position, hash: record.hash }, rows, since, isFirst: position === 1 };
  }

  /** Says in the first record of a restored hub that its rows stand in the place of all before. */
  #beginNote(newest: RecordHead | undefined, incarnation: string): Record<string, string> {
    const isFirst = this.#options.begins !== undefined && newest?.incarnation !== incarnation;
    return isFirst ? { begins: 'restored' } : {};
  }

  /** Asks until the log says whether the record is there. */
  async #settle(position: number, bytes: Uint8Array, since: ClockMoment): Promise<'written' | 'taken'> {
    for (let failures = 0; ; failures += 1) {
      try {
        return await this.#options.commitLog.append(position, bytes, since.wallMs);
      } catch (error) {
        if (!(error instanceof OutcomeUnknown)) throw error;
        this.#tell('unsure');
        await sleep(Math.min(limits.logRetryMsMax, limits.logRetryMs * 2 ** failures));
      }
    }
  }

  /** The head of the newest applied record, after a start that found no new one. */
  async #newestHead(): Promise<RecordHead | undefined> {
    if (this.#end.position === 0) return undefined;
    for await (const { bytes } of this.#options.commitLog.read(this.#end.position)) {
      this.newest = await decodeRecord(bytes);
      break;
    }
    return this.newest;
  }
}
