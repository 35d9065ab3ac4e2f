/**
 * The member that writes. It appends records one at a time, renews its lease with each, and settles every unknown
 * outcome by asking again with the same bytes. A position that another record has means that another member owns the
 * log: this process then ends at once.
 */
import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Histogram } from '../../common/histogram.ts';
import type { Log } from '../../common/log.ts';
import { limits } from '../../limits/service.ts';
import type { LogAck, RecordLog } from '../../store/logged/committer.ts';
import type { LogPlace } from '../../store/logged/place.ts';
import type { LoggedRow, RowPart } from '../../store/rows.ts';
import type { ChainEnd } from '../chain.ts';
import { encodeRecord, type RecordHead } from '../frame.ts';
import type { CommitLog } from '../log/log.ts';
import { PARTS, positionText } from '../names.ts';
import type { MemberIdentity } from './identity.ts';
import type { MemberLease } from './lease.ts';

export interface OwnerOptions {
  readonly commitLog: CommitLog;
  readonly identity: MemberIdentity;
  /** When the writes of this owner are answered; default: after the log has them. */
  readonly ack?: LogAck;
  readonly cell: number;
  readonly incarnation: string;
  /** The record by which this member took over. */
  readonly end: ChainEnd;
  /** Renewed by that record. */
  readonly lease: MemberLease;
  readonly log: Log;
  /** Ends this process at once, after its last words. It does not return. */
  readonly die: (words: string, details: Readonly<Record<string, unknown>>) => void;
}

export class Owner implements RecordLog {
  readonly lease: MemberLease;
  /** Durations of appends, from the first attempt to the answer. */
  readonly appends = new Histogram();
  readonly #options: OwnerOptions;
  /** The position by which this owner took over. */
  readonly #term: number;
  /** Random as well: of two members that race for a position one owns nothing, and a name is never used twice. */
  readonly #partPrefix: string;
  #parts = 0;
  #end: ChainEnd;
  #isPartial = false;
  /** Set while an append is under way: since when, by the monotonic clock, and whether an attempt failed. */
  #pending: { readonly sinceMs: number; failed: boolean } | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #isEnded = false;

  constructor(options: OwnerOptions) {
    this.#options = options;
    this.lease = options.lease;
    this.#end = options.end;
    this.#term = options.end.position;
    this.#partPrefix = `${PARTS}${positionText(this.#term)}-${randomBytes(6).toString('hex')}`;
    this.#timer = setInterval(() => this.#beatIfIdle(), this.lease.ms / 12);
  }

  get ack(): LogAck {
    return this.#options.ack ?? 'log';
  }

  /** The newest record. */
  get end(): ChainEnd {
    return this.#end;
  }

  /** How long the log has not said whether it has the newest record, in milliseconds; 0: it has. */
  get appendingMs(): number {
    return this.#pending === undefined ? 0 : this.lease.clock.now().monotonicMs - this.#pending.sinceMs;
  }

  /** True while the log has not said whether it has a record. */
  get isUnsure(): boolean {
    return this.#pending?.failed === true;
  }

  async putPart(bytes: Uint8Array): Promise<RowPart> {
    this.#parts += 1;
    const name = `${this.#partPrefix}-${this.#parts}`;
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    await this.#untilAnswered('a part', () => this.#options.commitLog.putPart(name, bytes));
    return { name, sha256, bytes: bytes.length };
  }

  async append(rows: readonly LoggedRow[], through?: number): Promise<LogPlace> {
    const fitting = await this.#fit(rows);
    const note = through === undefined ? {} : { through: String(through) };
    return await this.#inTurn(() => this.#put('write', fitting, note));
  }

  /** Appends the rows that a hub had before its log; the last of them says that they are complete. */
  async seed(rows: readonly LoggedRow[], isLast: boolean): Promise<LogPlace> {
    const fitting = await this.#fit(rows);
    return await this.#inTurn(async () => {
      this.#isPartial = !isLast;
      return await this.#put('write', fitting, { seed: isLast ? 'last' : 'more' });
    });
  }

  lost(error: unknown): void {
    this.#options.die('the data file does not take a record that the log has; this member follows after its restart', {
      err: error,
      position: this.#end.position,
    });
  }

  /** Ends the ownership with a record, so that another member need not wait. Nothing may be served from now on. */
  async handOver(to: string | undefined): Promise<void> {
    this.lease.end();
    this.stop();
    await this.#inTurn(() => this.#put('hand-over', [], to === undefined ? {} : { to }));
    this.#options.log.info({ position: this.#end.position, to }, 'member: handed over');
  }

  /** Stops the beats. */
  stop(): void {
    this.#isEnded = true;
    clearInterval(this.#timer);
  }

  #beatIfIdle(): void {
    if (this.#isEnded || this.#pending !== undefined || this.lease.silentMs() < this.lease.ms / 3) return;
    void this.#inTurn(async () => {
      if (!this.#isEnded) await this.#put('beat', []);
    });
  }

  /** Puts values beside the log until the rows fit into a record. */
  async #fit(rows: readonly LoggedRow[]): Promise<readonly LoggedRow[]> {
    const bytes = (all: readonly LoggedRow[]) => all.reduce((sum, { value }) => sum + (value?.length ?? 0), 0);
    let fitting = rows;
    for (let least = limits.logPartBytesMin; bytes(fitting) > limits.logGroupBytesMax && least >= 1024; least /= 4) {
      const from = least;
      fitting = await Promise.all(
        fitting.map(async (row) => {
          if (row.value === undefined || row.value.length < from) return row;
          return { table: row.table, key: row.key, part: await this.putPart(row.value) };
        }),
      );
    }
    return fitting;
  }

  async #put(
    kind: RecordHead['kind'],
    rows: readonly LoggedRow[],
    note: Record<string, string> = {},
  ): Promise<LogPlace> {
    const { cell, incarnation, identity, commitLog, die } = this.#options;
    const position = this.#end.position + 1;
    const fields = { cell, incarnation, position, kind, rows, previousHash: this.#end.hash };
    const told = { ...note, ...ownerNote(this.#options, this.lease.ms, this.#term) };
    const id = randomBytes(12).toString('hex');
    const record = await encodeRecord({ ...fields, member: identity.name, timeMs: Date.now(), id, note: told });
    // The lease counts from the first attempt: the record may exist since then.
    const started = this.lease.clock.look();
    this.#pending = { sinceMs: started.monotonicMs, failed: false };
    const created = await this.#untilAnswered('a record', async () => {
      const signedAt = this.lease.clock.look();
      if (this.lease.silentMs(signedAt) >= this.lease.ms) await this.#checkEnd(position);
      return await commitLog.append(position, record.bytes, signedAt.wallMs);
    });
    if (created === 'taken') {
      die('member: fenced: another member owns the log', { position });
      return await NEVER;
    }
    this.#pending = undefined;
    this.appends.record(performance.now() - started.monotonicMs);
    this.#end = { position, hash: record.hash };
    this.lease.renew(started);
    return { cell, incarnation, position, hash: record.hash, ...(this.#isPartial ? { isPartial: true } : {}) };
  }

  /** After a silence, a position that seems free may be one that was trimmed: the end of the log decides. */
  async #checkEnd(position: number): Promise<void> {
    const last = (await this.#options.commitLog.ends())?.last ?? 0;
    if (last > position) this.#options.die('member: fenced: another member owns the log', { position, last });
    if (last < position - 1)
      this.#options.die('the log has lost records that it had acknowledged; look at its store', { position, last });
    if (last > position || last < position - 1) await NEVER;
  }

  /** Repeats until the log answers; it logs the first failure and the end of it. */
  async #untilAnswered<T>(what: string, ask: () => Promise<T>): Promise<T> {
    for (let failures = 0; ; failures += 1) {
      try {
        const answer = await ask();
        if (failures > 0) this.#options.log.info({ failures, what }, 'member: the log answers again');
        return answer;
      } catch (error) {
        if (this.#pending !== undefined) this.#pending.failed = true;
        if (failures === 0)
          this.#options.log.warn({ err: error, what }, 'member: the log does not answer; asking again');
        await sleep(Math.min(limits.logRetryMsMax, limits.logRetryMs * 2 ** failures));
      }
    }
  }

  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(run);
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}

/** What each record says of the member that wrote it. `term`: the position by which it took over. */
export const ownerNote = (
  { identity, ack = 'log' }: Pick<OwnerOptions, 'identity' | 'ack'>,
  leaseMs: number,
  term: number,
): Record<string, string> => ({ instance: identity.instance, lease: String(leaseMs), ack, term: String(term) });

/** Of a process that ends: nobody is answered any more. */
const NEVER = new Promise<never>(() => undefined);
