/**
 * Keeps the index of one account up to date in slices, so that searches come between: first what is written, then what was
 * there before.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Refusal } from '../common/fault.ts';
import type { Thing, ThingKind, ThingKindName, ThingReader } from '../ids/thing.ts';
import { limits } from '../limits/service.ts';
import { AccountIndex } from './account-index.ts';
import { Backlog } from './backlog.ts';

export interface KeptIndexOptions {
  readonly reader: ThingReader & { renew(): void };
  readonly kinds: readonly ThingKind[];
}

export class KeptIndex {
  readonly index = new AccountIndex();
  readonly #options: KeptIndexOptions;
  readonly #accountId: string;
  readonly #madeMs = performance.now();
  /** Kinds that are indexed. They are indexed in the order in which they are declared. */
  readonly #filled = new Set<ThingKindName>();
  /** Written things that were not read again yet. */
  readonly #written = new Backlog();
  /** What is read beside them, thing by thing. */
  readonly #chores: Generator<void>[] = [];
  #isDropped = false;
  /** Called when a kind is indexed, and when the index is dropped. */
  #waiting: (() => void)[] = [];

  constructor(options: KeptIndexOptions, accountId: string) {
    this.#options = options;
    this.#accountId = accountId;
    this.#chores.push(this.#fill());
  }

  get filled(): ReadonlySet<ThingKindName> {
    return this.#filled;
  }

  get isDropped(): boolean {
    return this.#isDropped;
  }

  get isBusy(): boolean {
    return this.#written.size > 0 || this.#chores.length > 0 || this.index.isUntidy;
  }

  /** Reads a written thing again, soon. Without a key any of the kind may be gone. */
  note(kind: ThingKindName, key: string | undefined): void {
    if (key === undefined) this.#chores.push(this.#recheck(kind));
    else this.#written.add(`${kind} ${key}`);
  }

  drop(): void {
    this.#isDropped = true;
    this.#wake();
  }

  isFilled(wanted: readonly ThingKindName[] | undefined): boolean {
    return (wanted ?? this.#options.kinds.map(({ kind }) => kind)).every((kind) => this.#filled.has(kind));
  }

  /** Waits until some kinds are indexed; of an index that has been made for `limits.searchWaitMs`, no more. */
  async waitFor(kinds: readonly ThingKindName[] | undefined): Promise<void> {
    const lastMs = this.#madeMs + limits.searchWaitMs;
    while (!this.isFilled(kinds) && performance.now() < lastMs && !this.#isDropped) {
      await new Promise<void>((resolve) => {
        const late = setTimeout(resolve, lastMs - performance.now()).unref();
        this.#waiting.push(() => {
          clearTimeout(late);
          resolve();
        });
      });
    }
  }

  /**
   * Reads what was written before this call: all of it, or of a backlog the newest things, among them what the caller has
   * just written. Resolves to whether all was read.
   */
  async catchUp(): Promise<boolean> {
    const size = this.#written.size;
    const isAll = size <= limits.searchCaughtUpThings;
    let left = isAll ? size : limits.searchNewestThings;
    // Things of a kind whose rows went with one row.
    let chores = isAll && this.isFilled(undefined) ? limits.searchCaughtUpThings : 0;
    while ((left > 0 || chores > 0) && !this.#isDropped) {
      this.#options.reader.renew();
      const isOver = untilSliceEnds();
      while (left > 0 && !isOver()) {
        left -= 1;
        const name = isAll ? this.#written.takeOldest() : this.#written.takeNewest();
        if (name === undefined) left = 0;
        else this.#readNamed(name);
      }
      while (left === 0 && chores > 0 && !isOver()) {
        chores -= 1;
        if (!this.#doChore()) chores = 0;
      }
      if (left > 0 || chores > 0) await nextTurn();
    }
    return isAll;
  }

  /** Works for a slice of time. What is written and what was there before take turns, so that neither waits for the other. */
  work(): void {
    this.#options.reader.renew();
    const isOver = untilSliceEnds();
    if (!this.index.tidy(isOver)) return;
    while (!isOver()) {
      const name = this.#written.takeOldest();
      if (name !== undefined) this.#readNamed(name);
      if (!this.#doChore() && name === undefined) return;
    }
  }

  /** False: there is none. */
  #doChore(): boolean {
    const [chore] = this.#chores;
    if (chore?.next().done === true) this.#chores.shift();
    return chore !== undefined;
  }

  *#fill(): Generator<void> {
    const { reader, kinds } = this.#options;
    for (const one of kinds) {
      let after: string | undefined;
      do {
        // Keys first: an iterator of the store does not outlive its turn.
        const keys: string[] = [];
        for (const key of one.keys(reader, this.#accountId, after)) {
          keys.push(key);
          if (keys.length >= limits.searchKeysAtOnce) break;
        }
        for (const key of keys) {
          this.#read(one.kind, key);
          yield;
        }
        after = keys.length < limits.searchKeysAtOnce ? undefined : keys.at(-1);
      } while (after !== undefined);
      this.#filled.add(one.kind);
      this.#wake();
    }
  }

  *#recheck(kind: ThingKindName): Generator<void> {
    for (const key of this.index.keysOf(kind)) {
      this.#read(kind, key);
      yield;
    }
  }

  #readNamed(name: string): void {
    const at = name.indexOf(' ');
    this.#read(name.slice(0, at) as ThingKindName, name.slice(at + 1));
  }

  #read(kind: ThingKindName, key: string): void {
    const thing = this.#open(kind, key);
    if (thing === undefined) {
      this.index.remove(kind, key);
      return;
    }
    if (this.index.stampOf(kind, key) === thing.stamp) return;
    const { stamp, changedMs, title: name, place, group } = thing;
    const text = readableText(thing).slice(0, limits.searchIndexedChars);
    this.index.put({ kind, key, stamp, changedMs, group, name, place, text });
  }

  /** A damaged thing is not found; where it is read, it is reported. */
  #open(kind: ThingKindName, key: string): Thing | undefined {
    const { reader, kinds } = this.#options;
    try {
      return kinds.find((one) => one.kind === kind)?.read(reader, this.#accountId, key);
    } catch (error) {
      if (error instanceof Refusal && error.fault.kind === 'damaged') return undefined;
      throw error;
    }
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const go of waiting) go();
  }
}

/** Whether a slice that begins now is over. */
export function untilSliceEnds(): () => boolean {
  const endMs = performance.now() + limits.searchSliceMs;
  return () => performance.now() >= endMs;
}

/** A damaged text has no words; where it is read, it is reported. */
export function readableText({ text }: Pick<Thing, 'text'>): string {
  try {
    return text() ?? '';
  } catch {
    return '';
  }
}
