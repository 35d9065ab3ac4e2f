/**
 * Keeps the indexes of accounts in the thread of the search: made from the data file when an account is first
 * searched, then told of each written thing. They are derived: a restart makes them again, and no backup has them.
 * Searches come between slices of indexing: while much is written, they show what is indexed and say that it is behind.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { THING_KINDS, type Thing, type ThingKindName } from '../ids/thing.ts';
import { limits } from '../limits/service.ts';
import type { RankedThing, Ranking } from './account-index.ts';
import { needlesOf } from './containing.ts';
import { KeptIndex, type KeptIndexOptions, readableText } from './kept-index.ts';
import type { ContainingQuery, FoundThing, FoundThings, MayContain, SearchQuery, WrittenThing } from './messages.ts';
import { checkPhrases, type ReadTexts } from './phrase-check.ts';
import { leftOutOf, readSearch, type SearchTerms } from './query.ts';
import type { Needs } from './scores.ts';
import { snippetsOf } from './snippets.ts';
import { type WantedWord, withoutCommon } from './words.ts';

interface KeptRanking extends Pick<FoundThings, 'total' | 'counts' | 'missing'> {
  readonly accountId: string;
  readonly things: readonly RankedThing[];
  /** False: not every text was read for a phrase. */
  readonly isAll: boolean;
  /** What was read while ranking, for the first page. */
  readonly shown: Map<RankedThing, FoundThing>;
}

export interface IndexerOptions extends KeptIndexOptions {
  readonly now: () => number;
}

export class Indexer {
  readonly #options: IndexerOptions;
  /** By account, the one used last at the end. */
  readonly #kept = new Map<string, KeptIndex>();
  /**
   * Rankings by account, query, kinds and changes of the index, the oldest first. Cursors continue them, so that pages fit
   * together whatever changes between them.
   */
  readonly #rankings = new Map<string, KeptRanking>();
  #isWorking = false;

  constructor(options: IndexerOptions) {
    this.#options = options;
  }

  /** Reads written things again, soon: the next search of the account sees them. The first search makes its index. */
  note(written: readonly WrittenThing[]): void {
    for (const [accountId, kind, key] of written) this.#kept.get(accountId)?.note(kind, key);
    this.#start();
  }

  /** Drops the index of an account. */
  forget(accountId: string): void {
    this.#kept.get(accountId)?.drop();
    this.#kept.delete(accountId);
    for (const [id, ranking] of this.#rankings) if (ranking.accountId === accountId) this.#rankings.delete(id);
  }

  async search(asked: SearchQuery): Promise<FoundThings> {
    const isSentence = asked.needs === 'some';
    const read = readSearch(asked.query, isSentence);
    const query: SearchQuery = read.isAny ? { ...asked, needs: 'some' } : asked;
    const { kept, isCaughtUp } = await this.#caughtUp(query.accountId, query.kinds);
    this.#options.reader.renew();
    const wanted = query.needs === 'some' ? withoutCommon(read.wanted) : read.wanted;
    const { changes, ranking } = await this.#rankingOf(kept, query, { ...read, wanted });
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
      without: leftOutOf(read),
      complete: isCaughtUp && ranking.isAll && kept.isFilled(query.kinds),
      cursor: end < ranking.things.length ? `${changes}-${end}` : undefined,
    };
  }

  /** Finds the things of a kind that may contain a text. */
  async containing({ accountId, text, ...query }: ContainingQuery): Promise<MayContain> {
    const { kind } = query;
    const needles = needlesOf(text);
    if (needles.length === 0) return undefined;
    const { kept, isCaughtUp } = await this.#caughtUp(accountId, [kind]);
    const isWhole = isCaughtUp && kept.filled.has(kind) && !kept.isDropped;
    return isWhole ? kept.index.having({ ...query, needles }) : undefined;
  }

  /** The index of an account, with what was written before this call, as far as a search may wait for that. */
  async #caughtUp(accountId: string, kinds: SearchQuery['kinds']) {
    const kept = this.#keep(accountId);
    await kept.waitFor(kinds);
    try {
      return { kept, isCaughtUp: await kept.catchUp() };
    } catch (error) {
      // An index that missed a thing is made again by the next search.
      this.forget(accountId);
      throw error;
    }
  }

  async #rankingOf(kept: KeptIndex, query: SearchQuery, read: SearchTerms) {
    const { accountId, kinds, group, needs = 'all' } = query;
    const { wanted, phrases, without, withoutPhrases } = read;
    const keyOf = (changes: number) => JSON.stringify([accountId, query.query, kinds, group, needs, changes]);
    const { changes } = kept.index;
    // An empty index has no changes either: what it was asked is no ranking to continue.
    for (const one of query.ranking === 0 ? [changes] : [query.ranking, changes]) {
      const ranking = this.#rankings.get(keyOf(one));
      if (ranking !== undefined) return { changes: one, ranking };
    }
    const among = { group, needs, without, withoutPhrases, hasPhrases: phrases.length > 0 };
    const nowMs = this.#options.now();
    const rank = (of: SearchQuery['kinds']) => kept.index.rank(wanted, { ...among, kinds: of && new Set(of) }, nowMs);
    const { found, isAll, missing: lost, ...counted } = await this.#checked(rank, query, { ...read, needs });
    const isNothing = needs === 'all' && isAll && lost.length === 0 && Object.keys(counted.counts).length === 0;
    const missing = isNothing ? await this.#missingPhrases(kept, query, read) : lost;
    const { things, shown } = this.#reread(accountId, found, wanted);
    const ranking: KeptRanking = { accountId, things, shown, isAll, missing, ...counted };
    // An index that was dropped while texts were read is made again and counts its changes from 0.
    if (kept.isDropped) return { changes, ranking };
    this.#rankings.set(keyOf(changes), ranking);
    const [oldest] = this.#rankings.keys();
    if (this.#rankings.size > limits.searchRankingsMax && oldest !== undefined) this.#rankings.delete(oldest);
    return { changes, ranking };
  }

  /** Without what only its text shows to be no result; counted again, if there is such. */
  async #checked(
    rank: (kinds: SearchQuery['kinds']) => Ranking,
    { accountId, kinds }: SearchQuery,
    query: SearchTerms & { readonly needs: Needs },
  ): Promise<Ranking & Pick<ReadTexts, 'isAll'>> {
    const { reader } = this.#options;
    const ranked = rank(kinds);
    if (ranked.found.every(({ toCheck }) => toCheck === 0)) return { ...ranked, isAll: true };
    // Other kinds are counted as well, as long as they take no place from the wanted ones.
    const others = Object.values(ranked.counts).reduce((sum, count) => sum + count, 0);
    const { found: candidates, total } = others > limits.searchRankedMax ? ranked : rank(undefined);
    const open = (one: RankedThing) => this.#open(accountId, one);
    const room = limits.searchPhraseChars;
    const checked = await checkPhrases(candidates, { ...query, room, open, renew: () => reader.renew() });
    const counts: Partial<Record<ThingKindName, number>> = {};
    for (const { kind } of checked.found) counts[kind] = (counts[kind] ?? 0) + 1;
    const found = checked.found.filter(({ kind }) => kinds?.includes(kind) ?? true);
    const { missing } = ranked;
    return { found, total: found.length, counts, missing, isAll: checked.isAll && candidates.length === total };
  }

  /** The phrases of a search that found nothing which nothing has, as far as texts may be read to tell. */
  async #missingPhrases({ index }: KeptIndex, { accountId }: SearchQuery, { wanted, phrases }: SearchTerms) {
    const { reader, now } = this.#options;
    const open = (one: RankedThing) => this.#open(accountId, one);
    const missing: string[] = [];
    let room = limits.searchPhraseChars;
    for (const [at, phrase] of wanted.filter(({ isOfText }) => isOfText === true).entries()) {
      const { found: candidates, total } = index.rank([phrase], { needs: 'all', hasPhrases: true }, now());
      const asked = { phrases: phrases.slice(at, at + 1), withoutPhrases: [], needs: 'all', most: 1, room } as const;
      const { found, isAll, chars } = await checkPhrases(candidates, { ...asked, open, renew: () => reader.renew() });
      room -= chars;
      if (found.length === 0 && isAll && candidates.length === total) missing.push(`"${phrase.shown}"`);
    }
    return missing;
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
    const thing = this.#open(accountId, ranked);
    if (thing === undefined) {
      // It went a moment ago.
      this.#kept.get(accountId)?.index.remove(ranked.kind, ranked.key);
      return undefined;
    }
    const { id, kind, title, place, path, changedMs } = thing;
    const { lines, together } = snippetsOf(readableText(thing), wanted);
    const shown: FoundThing = { key: ranked.key, id, kind, title, place, path, changedMs, lines };
    return { thing: shown, together };
  }

  #open(accountId: string, { kind, key }: RankedThing): Thing | undefined {
    const { reader, kinds } = this.#options;
    return kinds.find((one) => one.kind === kind)?.read(reader, accountId, key);
  }

  #keep(accountId: string): KeptIndex {
    const known = this.#kept.get(accountId);
    if (known !== undefined) {
      this.#kept.delete(accountId);
      this.#kept.set(accountId, known);
      return known;
    }
    const kept = new KeptIndex(this.#options, accountId);
    this.#kept.set(accountId, kept);
    this.#evict();
    this.#start();
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

  #start(): void {
    if (this.#isWorking) return;
    this.#isWorking = true;
    void this.#work();
  }

  /** Works on the indexes of all accounts, a slice on each in turn, until all is read. */
  async #work(): Promise<void> {
    for (;;) {
      const busy = [...this.#kept].filter(([, kept]) => kept.isBusy);
      if (busy.length === 0) break;
      for (const [accountId, kept] of busy) {
        await nextTurn();
        if (kept.isDropped) continue;
        try {
          kept.work();
        } catch {
          // As above.
          this.forget(accountId);
        }
      }
      this.#evict();
    }
    this.#isWorking = false;
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
