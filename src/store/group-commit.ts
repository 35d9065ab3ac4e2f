/**
 * Owns the group commit. A write is a synchronous decision: it reads, then puts. All decisions that wait when the writer
 * gets its turn, or as many as fit into a few milliseconds, run one after another in one transaction and share one durable
 * commit; each sees what those before it wrote. Actors take turns, so that nobody waits for all that another one queued. A decision that throws writes nothing and harms no other. A promise resolves when the commit is on disk, and
 * nothing is visible before.
 */
import type { Database } from 'lmdb';
import { FairQueue } from '../common/fair-queue.ts';
import { Refusal } from '../common/fault.ts';
import { Histogram } from '../common/histogram.ts';
import { limits } from '../limits/service.ts';
import type { WrittenRow } from './changes/row-watch.ts';
import { checkOwner, type Writer } from './owners.ts';
import type { AnyTable, Entry, Key, RangeQuery, Reader, Table } from './table.ts';

/** A table as the library knows it. */
export type Raw = Database<Buffer, Key>;

/**
 * What a decision may do. It is the only reader that a decision has; reads show what earlier decisions of the same commit
 * wrote, and not the decision's own puts. A put or remove of a row of another owner throws.
 */
export interface Batch extends Reader {
  put<K extends Key, V>(table: Table<K, V>, key: K, value: V): void;
  remove<K extends Key, V>(table: Table<K, V>, key: K): void;
}

/** A decision must not be async: a promise result does not type-check. */
export type Decision<T> = (batch: Batch) => T extends PromiseLike<unknown> ? never : T;

export interface GroupCommitOptions {
  /** Runs a function in a write transaction; resolves when it is durable, and undoes it whole when the function throws. */
  readonly transact: (run: () => void) => Promise<unknown>;
  readonly reader: Reader;
  readonly raw: (table: AnyTable) => Raw;
  /** Hears of all rows that a commit writes before they can be seen. Returns what to call when that is settled. */
  readonly begin: (rows: readonly WrittenRow[]) => () => void;
  /** Gives whether a commit of now may put so many bytes. */
  readonly look: () => (bytes: number) => boolean;
  /** What who waits is told of a commit that failed. */
  readonly refusalOf: (error: unknown) => Promise<unknown>;
}

interface Pending {
  readonly writer: Writer;
  readonly decide: (batch: Batch) => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface Ran {
  readonly outcome: Outcome;
  /** What it puts, keys apart. */
  readonly bytes: number;
}

type Outcome = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: unknown };

interface Write {
  readonly table: string;
  readonly raw: Raw;
  readonly key: Key;
  /** Absent: remove. */
  readonly bytes?: Buffer;
}

export class GroupCommit {
  /** How long commits of decisions took, from asking for the writer to being on disk. */
  readonly durations = new Histogram();
  readonly #options: GroupCommitOptions;
  #decisions = 0;
  #failed = 0;
  readonly #waiting = new FairQueue<Pending>();
  #scheduled = false;
  #isDeciding = false;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
  }

  /** True while a decision runs. */
  get isDeciding(): boolean {
    return this.#isDeciding;
  }

  /** Decisions that were committed, and commits that failed. */
  get counts(): { readonly decisions: number; readonly failed: number } {
    return { decisions: this.#decisions, failed: this.#failed };
  }

  /** Decisions of one writer are taken in their order. */
  write<T>(writer: Writer, decide: Decision<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const pending = { writer, decide, resolve: resolve as (value: unknown) => void, reject };
      this.#waiting.push(`${writer.kind} ${writer.id}`, pending);
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
    const outcomes: Outcome[] = [];
    const startedMs = performance.now();
    let groupBytes = 0;
    const written: WrittenRow[] = [];
    let settle = () => {};
    try {
      const hasRoom = this.#options.look();
      await this.#options.transact(() => {
        // What comes in from now on goes into the next commit.
        this.#scheduled = false;
        const endMs = performance.now() + limits.groupMsMax;
        for (let pending = this.#waiting.shift(); pending !== undefined; pending = this.#waiting.shift()) {
          group.push(pending);
          const { outcome, bytes } = this.#run(pending, written, (more) => hasRoom(groupBytes + more));
          outcomes.push(outcome);
          groupBytes += bytes;
          if (group.length >= limits.groupDecisionsMax || performance.now() >= endMs) break;
        }
        if (this.#waiting.size > 0) setImmediate(() => this.#schedule());
        settle = this.#options.begin(written);
      });
      settle();
      this.#decisions += group.length;
    } catch (error) {
      settle();
      this.#failed += 1;
      // Without a group the transaction never began: then nothing of what waits can be written.
      if (group.length === 0) group.push(...this.#takeAll());
      const refusal = await this.#options.refusalOf(error);
      for (const pending of group) pending.reject(refusal);
      return;
    } finally {
      this.durations.record(performance.now() - startedMs);
    }
    group.forEach((pending, index) => {
      const outcome = outcomes[index] as Outcome;
      if (outcome.ok) pending.resolve(outcome.value);
      else pending.reject(outcome.error);
    });
  }

  /** All that waits. */
  #takeAll(): Pending[] {
    this.#scheduled = false;
    const all: Pending[] = [];
    for (let pending = this.#waiting.shift(); pending !== undefined; pending = this.#waiting.shift()) all.push(pending);
    return all;
  }

  /** Runs a decision and writes what it wants, if there is room; what only removes needs none. */
  #run({ writer, decide }: Pending, written: WrittenRow[], hasRoom: (bytes: number) => boolean): Ran {
    const batch = new DecisionBatch(this.#options, writer);
    let value: unknown;
    let bytes = 0;
    try {
      this.#isDeciding = true;
      value = decide(batch);
      bytes = batch.writes.reduce((sum, write) => sum + (write.bytes?.length ?? 0), 0);
      if (bytes > 0 && !hasRoom(bytes)) throw new Refusal({ kind: 'storage_full' });
    } catch (error) {
      return { outcome: { ok: false, error }, bytes: 0 };
    } finally {
      this.#isDeciding = false;
    }
    for (const write of batch.writes) {
      written.push(write);
      if (write.bytes === undefined) void write.raw.remove(write.key);
      else void write.raw.put(write.key, write.bytes);
    }
    return { outcome: { ok: true, value }, bytes };
  }
}

/** Gathers what one decision writes, so that a decision that throws has written nothing. */
class DecisionBatch implements Batch {
  readonly writes: Write[] = [];
  readonly #options: GroupCommitOptions;
  readonly #writer: Writer;

  constructor(options: GroupCommitOptions, writer: Writer) {
    this.#options = options;
    this.#writer = writer;
  }

  get<K extends Key, V>(table: Table<K, V>, key: K): V | undefined {
    return this.#options.reader.get(table, key);
  }

  range<K extends Key, V>(table: Table<K, V>, query: RangeQuery): Entry<K, V>[] {
    return this.#options.reader.range(table, query);
  }

  view<K extends Key>(table: Table<K, Uint8Array>, key: K): Uint8Array | undefined {
    return this.#options.reader.view(table, key);
  }

  keys<K extends Key, V>(table: Table<K, V>, prefix: Key = []): Generator<K> {
    return this.#options.reader.keys(table, prefix);
  }

  put<K extends Key, V>(table: Table<K, V>, key: K, value: V): void {
    checkOwner(this.#writer, table, key, value, () => this.get(table, key));
    this.writes.push({ table: table.name, raw: this.#options.raw(table), key, bytes: table.codec.encode(value) });
  }

  remove<K extends Key, V>(table: Table<K, V>, key: K): void {
    checkOwner(this.#writer, table, key, undefined, () => this.get(table, key));
    this.writes.push({ table: table.name, raw: this.#options.raw(table), key });
  }
}
