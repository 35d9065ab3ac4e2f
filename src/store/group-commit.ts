/**
 * Commits writes in groups. A write is a synchronous decision: it reads, then puts. The queued decisions, or as many
 * as fit into a few milliseconds, run one after another in one transaction with one durable commit. Each sees the
 * writes of earlier ones. Actors take turns, so one actor's queue does not delay another. A decision that throws writes
 * nothing and does not affect others. The promise resolves when the commit is on disk; nothing is visible earlier.
 */
import { FairQueue } from '../common/fair/fair-queue.ts';
import { Refusal } from '../common/fault.ts';
import { Histogram } from '../common/histogram.ts';
import { whenSettled } from '../common/turns.ts';
import { limits } from '../limits/service.ts';
import type { Committer, GroupView } from './committer.ts';
import { HeadPut } from './held-rows.ts';
import { intact } from './intact.ts';
import { checkOwner, isOwnKey, type Writer } from './owners.ts';
import { encodeRow } from './row-sums.ts';
import type { Entry, Key, RangeQuery, Reader, Table, Write } from './table.ts';
import { checkKey } from './transaction.ts';

/**
 * Reads and writes of a decision. A decision must read through it only. Reads include the writes of earlier decisions
 * of the same commit, but not the decision's own puts. A put or remove of another owner's row throws.
 */
export interface Batch extends Reader {
  put<K extends Key, V>(table: Table<K, V>, key: K, value: V): void;
  remove<K extends Key, V>(table: Table<K, V>, key: K): void;
}

/** A decision must not be async: a promise result does not type-check. */
export type Decision<T> = (batch: Batch) => T extends PromiseLike<unknown> ? never : T;

export interface GroupCommitOptions {
  readonly committer: Committer;
  /** Returns a check of how many bytes a commit started now may put. */
  readonly look: () => (bytes: number) => boolean;
  /** Called when a commit that wrote rows is on disk. */
  readonly committed: () => void;
  /** The error for the waiting callers of a failed commit. */
  readonly refusalOf: (error: unknown) => Promise<unknown>;
  /** Monotonic clock, in milliseconds. */
  readonly elapsed: () => number;
}

interface Pending {
  readonly writer: Writer;
  readonly decide: (batch: Batch) => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Called before either of them. */
  readonly settled: (() => void) | undefined;
  outcome: Outcome | undefined;
}

interface Ran {
  readonly outcome: Outcome;
  /** Bytes it puts, without keys. */
  readonly bytes: number;
  readonly wrote: boolean;
  /** It ends staged bytes: their blob or content is there, or they are removed. */
  readonly endsStaged: boolean;
}

type Outcome = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: unknown };

export class GroupCommit {
  /** Durations of commits, from requesting the writer until the commit is on disk. */
  readonly durations = new Histogram();
  readonly #options: GroupCommitOptions;
  #decisions = 0;
  #failed = 0;
  readonly #waiting = new FairQueue<Pending>();
  #scheduled = false;
  #isDeciding = false;
  /** Commits in progress, oldest first, and when each began. */
  readonly #running = new Map<symbol, number>();
  /** Decisions that are on disk and whose callers are not told yet, in their order. */
  readonly #answers: Pending[] = [];
  #isAnswering = false;
  /** Called when a commit ends. */
  #whenOver: (() => void)[] = [];
  #endedMs = Number.NEGATIVE_INFINITY;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
  }

  get isDeciding(): boolean {
    return this.#isDeciding;
  }

  /** Number of committed decisions and of failed commits. */
  get counts(): { readonly decisions: number; readonly failed: number } {
    return { decisions: this.#decisions, failed: this.#failed };
  }

  /** How long the oldest commit in progress has taken so far, in milliseconds; 0: there is none. */
  get waitingMs(): number {
    const [oldest] = this.#running.values();
    return oldest === undefined ? 0 : this.#options.elapsed() - oldest;
  }

  /**
   * True while decisions are committed, and a moment longer: more of them are likely. Not after decisions that end staged
   * bytes: bytes would wait because others arrived before.
   */
  get isBusy(): boolean {
    return this.#running.size > 0 || this.#options.elapsed() - this.#endedMs < limits.busyWritesMs;
  }

  /** Resolves when the next commit ends; undefined when none is in progress. */
  over(): Promise<void> | undefined {
    return this.#running.size === 0 ? undefined : new Promise((resolve) => this.#whenOver.push(resolve));
  }

  /** Queues a decision. Decisions of one writer run in order. */
  write<T>(writer: Writer, decide: Decision<T>, settled?: () => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const pending = {
        writer,
        decide,
        resolve: resolve as (value: unknown) => void,
        reject,
        settled,
        outcome: undefined,
      };
      this.#waiting.push(writer.id === '' ? writer.kind : writer.id, pending);
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    void this.#commit();
  }

  async #commit(): Promise<void> {
    const group: Pending[] = [];
    const startedMs = this.#options.elapsed();
    const running = Symbol('commit');
    this.#running.set(running, startedMs);
    let groupBytes = 0;
    let wrote = false;
    let isExpected = false;
    try {
      const hasRoom = this.#options.look();
      await this.#options.committer.commit((view) => {
        // From here on a new decision schedules the next commit.
        this.#scheduled = false;
        const endMs = this.#options.elapsed() + limits.groupMsMax;
        for (let pending = this.#waiting.shift(); pending !== undefined; pending = this.#waiting.shift()) {
          group.push(pending);
          const ran = this.#run(pending, view, (more) => hasRoom(groupBytes + more));
          pending.outcome = ran.outcome;
          groupBytes += ran.bytes;
          wrote ||= ran.wrote;
          isExpected ||= !ran.endsStaged;
          const isFull = group.length >= limits.groupDecisionsMax || groupBytes >= view.bytesMax;
          if (isFull || this.#options.elapsed() >= endMs) break;
        }
        if (this.#waiting.size > 0) setImmediate(() => this.#schedule());
      });
      this.#decisions += group.length;
      if (wrote) this.#options.committed();
    } catch (error) {
      this.#failed += 1;
      // An empty group means the transaction never began: reject everything in the queue.
      if (group.length === 0) group.push(...this.#takeAll());
      const refusal = await this.#options.refusalOf(error);
      for (const pending of group) {
        pending.outcome = { ok: false, error: refusal };
        tell(pending);
      }
      return;
    } finally {
      this.#running.delete(running);
      if (isExpected) this.#endedMs = this.#options.elapsed();
      for (const tell of this.#whenOver.splice(0)) tell();
      this.durations.record(this.#options.elapsed() - startedMs);
    }
    this.#answers.push(...group);
    if (!this.#isAnswering) this.#answer();
  }

  /**
   * Tells the callers that their decisions are on disk, for a turn of the event loop at a time: each goes on at once and
   * sends its answer, and a commit may have a thousand of them. A few are told together, and then looked at the clock.
   */
  #answer(): void {
    const endMs = this.#options.elapsed() + limits.answeredMsMax;
    const next = () => {
      const some = this.#answers.splice(0, limits.answeredAtOnce);
      this.#isAnswering = some.length > 0;
      if (!this.#isAnswering) return;
      for (const one of some) tell(one);
      whenSettled(() => {
        if (this.#options.elapsed() < endMs) next();
        else setImmediate(() => this.#answer());
      });
    };
    next();
  }

  #takeAll(): Pending[] {
    this.#scheduled = false;
    const all: Pending[] = [];
    for (let pending = this.#waiting.shift(); pending !== undefined; pending = this.#waiting.shift()) all.push(pending);
    return all;
  }

  /** Runs a decision and writes its rows if there is room. A decision that only removes needs none. */
  #run({ writer, decide }: Pending, { reader, write }: GroupView, hasRoom: (bytes: number) => boolean): Ran {
    const batch = new DecisionBatch(reader, writer);
    let value: unknown;
    let bytes = 0;
    let endsStaged = false;
    try {
      this.#isDeciding = true;
      value = decide(batch);
      for (const write of batch.writes) {
        bytes += bytesOf(write);
        endsStaged ||= isOfStaged(write);
      }
      if (bytes > 0 && !hasRoom(bytes)) throw new Refusal({ kind: 'storage_full' });
    } catch (error) {
      return { outcome: { ok: false, error }, bytes: 0, wrote: false, endsStaged: false };
    } finally {
      this.#isDeciding = false;
    }
    write(batch.writes);
    return { outcome: { ok: true, value }, bytes, wrote: batch.writes.length > 0, endsStaged };
  }
}

function tell({ outcome, settled, resolve, reject }: Pending): void {
  settled?.();
  if (outcome?.ok === true) resolve(outcome.value);
  else reject(outcome?.error);
}

/** The bytes that a write puts, without its key. */
function bytesOf(write: Write): number {
  return write instanceof HeadPut ? HeadPut.bytesMax : (write.bytes?.length ?? 0);
}

/** True for the removal of a row of staged bytes. */
function isOfStaged(write: Write): boolean {
  return write.table.owners.staging !== undefined && write.bytes === undefined;
}

/**
 * What code keeps by name within one decision, because a batch does not read its own puts. Decisions are synchronous and run
 * one at a time, so those of the one before are forgotten when the next one asks.
 */
export class DecisionMemo<V> {
  #batch: Pick<Batch, 'get'> | undefined;
  #values = new Map<string, V>();

  /** The values of the decision that has this batch. */
  of(batch: Pick<Batch, 'get'>): Map<string, V> {
    if (batch !== this.#batch) {
      this.#batch = batch;
      this.#values = new Map();
    }
    return this.#values;
  }
}

/** Collects the writes of one decision, so a decision that throws writes nothing. */
class DecisionBatch implements Batch {
  readonly writes: Write[] = [];
  readonly #reader: Reader;
  readonly #writer: Writer;

  constructor(reader: Reader, writer: Writer) {
    this.#reader = reader;
    this.#writer = writer;
  }

  get<K extends Key, V>(table: Table<K, V>, key: K): V | undefined {
    return this.#reader.get(table, key);
  }

  range<K extends Key, V>(table: Table<K, V>, query: RangeQuery): Entry<K, V>[] {
    return this.#reader.range(table, query);
  }

  view<K extends Key>(table: Table<K, Uint8Array>, key: K): Uint8Array | undefined {
    return this.#reader.view(table, key);
  }

  keys<K extends Key, V>(table: Table<K, V>, prefix: Key = []): Generator<K> {
    return this.#reader.keys(table, prefix);
  }

  keysIn<K extends Key, V>(table: Table<K, V>, query: RangeQuery): Generator<K> {
    return this.#reader.keysIn(table, query);
  }

  put<K extends Key, V>(table: Table<K, V>, key: K, value: V): void {
    this.#check(table, key, value);
    if (table.isHead === true) this.writes.push(new HeadPut(table as unknown as Table<Key, V>, key, value));
    else this.writes.push({ table, key, bytes: encodeRow(table, key, value), value });
  }

  remove<K extends Key, V>(table: Table<K, V>, key: K): void {
    this.#check(table, key, undefined);
    this.writes.push({ table, key });
  }

  #check<K extends Key, V>(table: Table<K, V>, key: K, value: V | undefined): void {
    checkKey(key);
    if (isOwnKey(this.#writer, table, key)) return;
    checkOwner(this.#writer, table, key, value, () => intact(this, table, key));
  }
}
