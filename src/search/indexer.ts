/**
 * Keeps the indexes of accounts in the thread of the search: made from the data file when an account is first searched or
 * written to, then told of each written thing. They are derived: a restart makes them again, and no backup has them.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { THING_KINDS, type ThingKind, type ThingKindName, type ThingReader } from '../ids/thing.ts';
import { limits } from '../limits/service.ts';
import { AccountIndex, type RankedThing } from './account-index.ts';
import { needlesOf } from './containing.ts';
import type { ContainingQuery, FoundThing, FoundThings, MayContain, SearchQuery, WrittenThing } from './messages.ts';
import { snippetsOf } from './snippets.ts';
import { type WantedWord, wantedWords, withoutCommon } from './words.ts';

interface Kept {
  readonly index: AccountIndex;
  /** Kinds that are indexed. They are indexed in the order in which they are declared. */
  readonly filled: Set<ThingKindName>;
  /** Called when a kind is indexed, and when indexing ended. */
  waiting: (() => void)[];
}

interface KeptRanking extends Pick<FoundThings, 'total' | 'counts' | 'missing'> {
  readonly accountId: string;
  readonly things: readonly RankedThing[];
  /** What was read while ranking, for the first page. */
  readonly shown: Map<RankedThing, FoundThing>;
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
  /**
   * Rankings by account, query, kinds and changes of the index, the oldest first. Cursors continue them, so that pages fit
   * together whatever changes between them.
   */
  readonly #rankings = new Map<string, KeptRanking>();

  constructor(options: IndexerOptions) {
    this.#options = options;
  }

  /** Reads written things again. */
  note(written: readonly WrittenThing[]): void {
    this.#options.reader.renew();
    for (const [accountId, kind, key] of written) {
      try {
        if (key === undefined) this.#sweep(this.#keep(accountId), accountId, kind);
        else this.#read(this.#keep(accountId).index, accountId, kind, key);
      } catch {
        // An index that missed a write is made again by the next search.
        this.forget(accountId);
      }
    }
  }

  /** Drops the index of an account. */
  forget(accountId: string): void {
    this.#kept.delete(accountId);
    for (const [id, ranking] of this.#rankings) if (ranking.accountId === accountId) this.#rankings.delete(id);
  }

  async search(query: SearchQuery): Promise<FoundThings> {
    const kept = this.#keep(query.accountId);
    await this.#waitFor(kept, query);
    this.#options.reader.renew();
    const words = wantedWords(query.query);
    const wanted = query.needs === 'some' ? withoutCommon(words) : words;
    const { changes, ranking } = this.#rankingOf(kept, query, wanted);
    const { accountId, offset, limit } = query;
    const end = offset + limit;
    const results: FoundThing[] = [];
    let lost = 0;
    for (const ranked of ranking.things.slice(offset, end)) {
      const shown = ranking.shown.get(ranked) ?? this.#show(accountId, ranked, wanted)?.thing;
      if (shown !== undefined) results.push(shown);
      else lost += 1;
    }
    ranking.shown.clear();
    return {
      results,
      total: ranking.total - lost,
      counts: countsOf(ranking.counts, kept.filled, query.kinds),
      missing: ranking.missing,
      complete: this.#isFilled(kept, query.kinds),
      cursor: end < ranking.things.length ? `${changes}-${end}` : undefined,
    };
  }

  /** Finds the things of a kind that may contain a text. */
  async containing({ accountId, kind, text }: ContainingQuery): Promise<MayContain> {
    const needles = needlesOf(text);
    if (needles.length === 0) return undefined;
    const kept = this.#keep(accountId);
    await this.#waitFor(kept, { accountId, kinds: [kind] });
    const isWhole = kept.filled.has(kind) && this.#kept.get(accountId) === kept;
    return isWhole ? kept.index.having(kind, needles) : undefined;
  }

  #isFilled({ filled }: Kept, wanted: SearchQuery['kinds']): boolean {
    return (wanted ?? this.#options.kinds.map(({ kind }) => kind)).every((kind) => filled.has(kind));
  }

  /** Waits until some kinds are indexed, or for `limits.searchWaitMs`. */
  async #waitFor(kept: Kept, { accountId, kinds }: Pick<SearchQuery, 'accountId' | 'kinds'>): Promise<void> {
    const lastMs = performance.now() + limits.searchWaitMs;
    while (!this.#isFilled(kept, kinds) && performance.now() < lastMs && this.#kept.get(accountId) === kept) {
      await new Promise<void>((resolve) => {
        const late = setTimeout(resolve, lastMs - performance.now()).unref();
        kept.waiting.push(() => {
          clearTimeout(late);
          resolve();
        });
      });
    }
  }

  #rankingOf(kept: Kept, query: SearchQuery, wanted: readonly WantedWord[]) {
    const { accountId, kinds, group, needs } = query;
    const keyOf = (changes: number) => JSON.stringify([accountId, query.query, kinds, group, needs, changes]);
    const { changes } = kept.index;
    for (const one of [query.ranking, changes]) {
      const ranking = this.#rankings.get(keyOf(one));
      if (ranking !== undefined) return { changes: one, ranking };
    }
    const { found, total, counts, missing } = kept.index.rank(
      wanted,
      { kinds: kinds && new Set(kinds), group, ...(needs === undefined ? {} : { needs }) },
      this.#options.now(),
    );
    const { things, shown } = this.#reread(accountId, found, wanted);
    const ranking: KeptRanking = { accountId, things, shown, total, counts, missing };
    this.#rankings.set(keyOf(changes), ranking);
    const [oldest] = this.#rankings.keys();
    if (this.#rankings.size > limits.searchRankingsMax && oldest !== undefined) this.#rankings.delete(oldest);
    return { changes, ranking };
  }

  /** Orders the first results by what their texts show. */
  #reread(accountId: string, found: readonly RankedThing[], wanted: readonly WantedWord[]) {
    const shown = new Map<RankedThing, FoundThing>();
    const first = found.slice(0, limits.searchReread).map((ranked) => {
      const one = this.#show(accountId, ranked, wanted);
      if (one !== undefined) shown.set(ranked, one.thing);
      return { ranked, score: ranked.score * (1 + (one?.together ?? 0) / 2) };
    });
    first.sort((a, b) => b.score - a.score);
    return { things: [...first.map(({ ranked }) => ranked), ...found.slice(limits.searchReread)], shown };
  }

  #show(accountId: string, ranked: RankedThing, wanted: readonly WantedWord[]) {
    const { reader, kinds } = this.#options;
    const thing = kinds.find(({ kind }) => kind === ranked.kind)?.read(reader, accountId, ranked.key);
    if (thing === undefined) {
      // It went a moment ago.
      this.#kept.get(accountId)?.index.remove(ranked.kind, ranked.key);
      return undefined;
    }
    const { id, kind, title, place, path, changedMs } = thing;
    const { lines, together } = snippetsOf(textOf(thing), wanted);
    const shown: FoundThing = { key: ranked.key, id, kind, title, place, path, changedMs, lines };
    return { thing: shown, together };
  }

  #keep(accountId: string): Kept {
    const known = this.#kept.get(accountId);
    if (known !== undefined) {
      this.#kept.delete(accountId);
      this.#kept.set(accountId, known);
      return known;
    }
    const kept: Kept = { index: new AccountIndex(), filled: new Set(), waiting: [] };
    this.#kept.set(accountId, kept);
    void this.#fill(kept, accountId)
      .catch(() => {
        if (this.#kept.get(accountId) === kept) this.forget(accountId);
      })
      .finally(() => wake(kept));
    this.#evict();
    return kept;
  }

  /** Drops indexes that were used least lately while there are too many or too large ones. */
  #evict(): void {
    const bytes = () => [...this.#kept.values()].reduce((sum, { index }) => sum + index.bytes, 0);
    while (
      this.#kept.size > 1 &&
      (this.#kept.size > limits.searchAccountsMax || bytes() > limits.searchMemoryBytesMax)
    ) {
      const [oldest] = this.#kept.keys();
      if (oldest === undefined) return;
      this.forget(oldest);
    }
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
      kept.filled.add(kind);
      wake(kept);
    }
    this.#evict();
  }

  /** Removes what went without a written row of its own. An account that is being indexed has nothing of the kind yet. */
  #sweep({ index }: Kept, accountId: string, kind: ThingKindName): void {
    const { reader, kinds } = this.#options;
    const live = kinds.find((one) => one.kind === kind)?.all(reader, accountId) ?? [];
    index.keep(kind, new Set(Array.from(live, ({ key }) => key)));
  }

  #read(index: AccountIndex, accountId: string, kind: ThingKindName, key: string): void {
    const { reader, kinds } = this.#options;
    const thing = kinds.find((one) => one.kind === kind)?.read(reader, accountId, key);
    if (thing === undefined) {
      index.remove(kind, key);
      return;
    }
    if (index.stampOf(kind, key) === thing.stamp) return;
    const { stamp, changedMs, title, place, group } = thing;
    index.put({
      kind,
      key,
      stamp,
      changedMs,
      group,
      name: title,
      place,
      text: textOf(thing).slice(0, limits.searchIndexedChars),
    });
  }
}

/** The counts of what is indexed, and of what was asked for. */
function countsOf(
  counts: FoundThings['counts'],
  filled: ReadonlySet<ThingKindName>,
  asked: SearchQuery['kinds'],
): FoundThings['counts'] {
  if (asked === undefined) return counts;
  return Object.fromEntries(
    THING_KINDS.filter((kind) => counts[kind] !== undefined && (filled.has(kind) || asked.includes(kind))).map(
      (kind) => [kind, counts[kind]],
    ),
  );
}

function wake(kept: Kept): void {
  const { waiting } = kept;
  kept.waiting = [];
  for (const go of waiting) go();
}

/** A damaged text has no words; where it is read, it is reported. */
function textOf({ text }: { readonly text: () => string | undefined }): string {
  try {
    return text() ?? '';
  } catch {
    return '';
  }
}
