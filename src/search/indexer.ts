/**
 * Keeps the indexes of accounts in the thread of the search: made from the data file when an account is first searched or
 * written to, then told of each written thing. They are derived: a restart makes them again, and no backup has them.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ThingKind, ThingKindName, ThingReader } from '../ids/thing.ts';
import { limits } from '../limits/service.ts';
import { AccountIndex, type RankedThing } from './account-index.ts';
import type { FoundThing, FoundThings, SearchQuery, WrittenThing } from './messages.ts';
import { snippetsOf } from './snippets.ts';
import { type WantedWord, wantedWords } from './words.ts';

interface Kept {
  readonly index: AccountIndex;
  isWhole: boolean;
  readonly whole: Promise<void>;
}

export interface IndexerOptions {
  readonly reader: ThingReader & { renew(): void };
  readonly kinds: readonly ThingKind[];
  readonly now: () => number;
}

export class Indexer {
  readonly #options: IndexerOptions;
  /** By account, the one used last at the end. */
  readonly #kept = new Map<string, Kept>();

  constructor(options: IndexerOptions) {
    this.#options = options;
  }

  /** Reads written things again. */
  note(written: readonly WrittenThing[]): void {
    this.#options.reader.renew();
    for (const [accountId, kind, key] of written) this.#read(this.#keep(accountId).index, accountId, kind, key);
  }

  /** Drops the index of an account. */
  forget(accountId: string): void {
    this.#kept.delete(accountId);
  }

  async search(query: SearchQuery): Promise<FoundThings> {
    const kept = this.#keep(query.accountId);
    if (!kept.isWhole) {
      const late = new Promise<void>((resolve) => setTimeout(resolve, limits.searchWaitMs).unref());
      await Promise.race([kept.whole, late]);
    }
    this.#options.reader.renew();
    const wanted = wantedWords(query.query);
    const { found, missing } = kept.index.rank(wanted, undefined, this.#options.now());
    const counts: Partial<Record<ThingKindName, number>> = {};
    for (const { kind } of found) counts[kind as ThingKindName] = (counts[kind as ThingKindName] ?? 0) + 1;
    const chosen =
      query.kinds === undefined ? found : found.filter(({ kind }) => query.kinds?.includes(kind as ThingKindName));
    const page = this.#shown(query, chosen, wanted);
    return { results: page, total: chosen.length, counts, missing, complete: kept.isWhole };
  }

  /** The first results are ordered by what their texts show; then a page of them is cut. */
  #shown({ accountId, offset, limit }: SearchQuery, found: readonly RankedThing[], wanted: readonly WantedWord[]) {
    const first = found.slice(0, limits.searchReread).map((ranked) => {
      const shown = this.#show(accountId, ranked, wanted);
      return { shown, score: ranked.score * (1 + (shown?.together ?? 0) / 2) };
    });
    first.sort((a, b) => b.score - a.score);
    const later = found
      .slice(Math.max(offset, limits.searchReread), offset + limit)
      .map((ranked) => ({ shown: this.#show(accountId, ranked, wanted) }));
    return [...first.slice(offset, offset + limit), ...later].flatMap(({ shown }) =>
      shown === undefined ? [] : [shown.thing],
    );
  }

  #show(accountId: string, ranked: RankedThing, wanted: readonly WantedWord[]) {
    const { reader, kinds } = this.#options;
    const thing = kinds.find(({ kind }) => kind === ranked.kind)?.read(reader, accountId, ranked.key);
    if (thing === undefined) return undefined;
    const { id, kind, title, place, path, changedMs } = thing;
    const { lines, together } = snippetsOf(textOf(thing), wanted);
    const shown: FoundThing = { id, kind, title, place, path, changedMs, lines };
    return { thing: shown, together };
  }

  #keep(accountId: string): Kept {
    const known = this.#kept.get(accountId);
    if (known !== undefined) {
      this.#kept.delete(accountId);
      this.#kept.set(accountId, known);
      return known;
    }
    const kept: Kept = { index: new AccountIndex(), isWhole: false, whole: Promise.resolve() };
    Object.assign(kept, { whole: this.#fill(kept, accountId) });
    this.#kept.set(accountId, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > limits.searchAccountsMax && oldest !== undefined) this.#kept.delete(oldest);
    return kept;
  }

  async #fill(kept: Kept, accountId: string): Promise<void> {
    await nextTurn();
    const { reader, kinds } = this.#options;
    let sinceMs = performance.now();
    for (const one of kinds) {
      const { kind } = one;
      // Keys first: an iterator of the store does not outlive its turn.
      const keys = Array.from(one.all(reader, accountId), ({ key }) => key);
      for (const key of keys) {
        this.#read(kept.index, accountId, kind, key);
        if (performance.now() - sinceMs < limits.searchSliceMs) continue;
        await nextTurn();
        if (this.#kept.get(accountId) !== kept) return;
        sinceMs = performance.now();
      }
    }
    kept.isWhole = true;
  }

  #read(index: AccountIndex, accountId: string, kind: ThingKindName, key: string): void {
    const { reader, kinds } = this.#options;
    const thing = kinds.find((one) => one.kind === kind)?.read(reader, accountId, key);
    if (thing === undefined) {
      index.remove(kind, key);
      return;
    }
    if (index.stampOf(kind, key) === thing.stamp) return;
    const { stamp, changedMs, title, place } = thing;
    index.put({
      kind,
      key,
      stamp,
      changedMs,
      name: title,
      place,
      text: textOf(thing).slice(0, limits.searchIndexedChars),
    });
  }
}

/** A damaged text has no words; where it is read, it is reported. */
function textOf({ text }: { readonly text: () => string | undefined }): string {
  try {
    return text() ?? '';
  } catch {
    return '';
  }
}
