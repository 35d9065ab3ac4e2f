/** A log in a store of named objects: one object a record, one a part. Folders and buckets are such stores. */
import {
  type CommitLog,
  type Created,
  LogGap,
  type LogRecord,
  OutcomeUnknown,
  PartMissing,
  PartTaken,
  sameBytes,
} from './log.ts';

/** What a store of objects must do. Names have `/` between their parts. */
export interface ObjectStore {
  /** Creates an object unless the name is taken, by whatever bytes. Rejects when the outcome is unknown. */
  create(name: string, bytes: Uint8Array, signedAtMs?: number): Promise<Created>;
  get(name: string): Promise<Uint8Array | undefined>;
  /** Names that begin with `prefix` and sort after `prefix + after`, in order: at most `limit`, from 1 to 1,000. */
  list(prefix: string, after: string, limit: number): Promise<string[]>;
  /** Removing what does not exist succeeds. */
  remove(name: string): Promise<void>;
  close(): Promise<void>;
}

const RECORDS = 'log/';
const DIGITS = 16;
const PAGE = 1000;
/** Objects that are read or removed at the same time: a bucket answers each after tens of milliseconds. */
const AT_ONCE = 32;
/** How often a reader at the end of the log asks whether later records exist. Such a list costs as much as a write. */
const GAP_CHECK_MS = 5000;

const nameOf = (position: number): string => RECORDS + String(position).padStart(DIGITS, '0');
const positionOf = (name: string): number => Number(name.slice(RECORDS.length));
const after = (position: number): string => nameOf(position).slice(RECORDS.length);

export class ObjectLog implements CommitLog {
  readonly #store: ObjectStore;
  /** A position that was in the log: where the search for the newest begins. */
  #known = 0;
  #gapCheckedAt = Number.NEGATIVE_INFINITY;

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  async append(position: number, record: Uint8Array, signedAtMs?: number): Promise<Created> {
    const name = nameOf(position);
    try {
      const created = await this.#store.create(name, record, signedAtMs);
      const isOurs = created === 'written' || (await this.#has(name, record));
      this.#known = Math.max(this.#known, position);
      return isOurs ? 'written' : 'taken';
    } catch (error) {
      throw new OutcomeUnknown(`the log did not answer whether record ${position} is written`, { cause: error });
    }
  }

  async *read(from: number): AsyncGenerator<LogRecord> {
    let next = from;
    for (;;) {
      const bytes = await this.#store.get(nameOf(next));
      if (bytes === undefined) {
        if (!(await this.#isMissing(next))) return;
        continue;
      }
      yield { position: next, bytes };
      next += 1;
      for await (const record of this.#readPage(next)) {
        yield record;
        next += 1;
      }
      this.#known = Math.max(this.#known, next - 1);
    }
  }

  async ends(): Promise<{ first: number; last: number } | undefined> {
    const [oldest] = await this.#store.list(RECORDS, '', 1);
    if (oldest === undefined) return undefined;
    const first = positionOf(oldest);
    // Positions have no gaps, so the newest is found by doubling the step and halving it again.
    let low = Math.max(first, this.#known);
    let high = Number.POSITIVE_INFINITY;
    for (let step = 0; ; step = Math.max(PAGE, step * 4)) {
      const probe = high === Number.POSITIVE_INFINITY ? low + step : Math.floor((low + high) / 2);
      const page = await this.#store.list(RECORDS, after(probe), PAGE);
      const last = page.at(-1);
      if (last === undefined && probe === low) return { first, last: low };
      if (last === undefined) {
        high = probe;
        continue;
      }
      low = positionOf(last);
      this.#known = Math.max(this.#known, low);
      if (page.length < PAGE) return { first, last: low };
    }
  }

  async putPart(name: string, bytes: Uint8Array): Promise<void> {
    if ((await this.#store.create(name, bytes)) === 'taken' && !(await this.#has(name, bytes)))
      throw new PartTaken(name);
  }

  async getPart(name: string): Promise<Uint8Array> {
    const bytes = await this.#store.get(name);
    if (bytes === undefined) throw new PartMissing(name);
    return bytes;
  }

  async listParts(prefix: string): Promise<string[]> {
    const names: string[] = [];
    for (;;) {
      const page = await this.#store.list(prefix, names.at(-1)?.slice(prefix.length) ?? '', PAGE);
      names.push(...page);
      if (page.length < PAGE) return names;
    }
  }

  async removePart(name: string): Promise<void> {
    await this.#store.remove(name);
  }

  async removeBefore(position: number): Promise<void> {
    const ends = await this.ends();
    if (ends === undefined) return;
    // Oldest first: an interrupted removal leaves a log that starts later.
    for (let from = ends.first; from < Math.min(position, ends.last); from += AT_ONCE) {
      const until = Math.min(from + AT_ONCE, position, ends.last);
      await Promise.all(Array.from({ length: until - from }, (_, index) => this.#store.remove(nameOf(from + index))));
    }
  }

  async close(): Promise<void> {
    await this.#store.close();
  }

  async #has(name: string, bytes: Uint8Array): Promise<boolean> {
    const found = await this.#store.get(name);
    // Created by somebody and gone at once: nobody removes what is new, so the store contradicts itself.
    if (found === undefined) throw new Error(`the store says that ${name} exists but does not return it`);
    return sameBytes(found, bytes);
  }

  /** Whether a record that was absent is there after all. Throws LogGap when later ones exist without it. */
  async #isMissing(position: number): Promise<boolean> {
    const isNext = position === this.#known + 1;
    if (isNext && performance.now() - this.#gapCheckedAt < GAP_CHECK_MS) return false;
    const [later] = await this.#store.list(RECORDS, after(position - 1), 1);
    this.#gapCheckedAt = performance.now();
    if (later === undefined) return false;
    const found = positionOf(later);
    // A list of several servers need not be of one moment: the record itself decides.
    if (found !== position && (await this.#store.get(nameOf(position))) === undefined)
      throw new LogGap(position, found);
    this.#gapCheckedAt = Number.NEGATIVE_INFINITY;
    return true;
  }

  /** The records of one list without gaps, read ahead. */
  async *#readPage(from: number): AsyncGenerator<LogRecord> {
    const page = await this.#store.list(RECORDS, after(from - 1), PAGE);
    const positions = page.map(positionOf).filter((position, index) => position === from + index);
    const reads = new Map<number, Promise<Uint8Array | undefined>>();
    const readAhead = (index: number): void => {
      const position = positions[index];
      if (position === undefined) return;
      const read = this.#store.get(nameOf(position));
      // A reader that stops early leaves reads behind: their failures are nobody's.
      read.catch(() => undefined);
      reads.set(position, read);
    };
    for (let index = 0; index < AT_ONCE; index += 1) readAhead(index);
    for (const [index, position] of positions.entries()) {
      const bytes = await reads.get(position);
      reads.delete(position);
      readAhead(index + AT_ONCE);
      if (bytes === undefined) throw new LogGap(position, position + 1);
      yield { position, bytes };
    }
  }
}
