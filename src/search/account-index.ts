/** The index of one account, in memory: adds and removes documents, and ranks those that have every wanted word. */
import { THING_KINDS, type ThingKindName } from '../ids/thing.ts';
import { limits } from '../limits/service.ts';
import { type Having, type HavingQuery, newestHaving } from './containing.ts';
import { groupTest, type IndexEntry, type IndexedThing, newHeld, type Part, PartJoin, partOf } from './part.ts';
import { HighestScores, type Stand, scoresOf } from './scores.ts';
import {
  countPostings,
  IN_NAME,
  IN_TITLE,
  placeOfWord,
  SegmentBuilder,
  type WordSegment,
  wordHints,
} from './segment.ts';
import { scoreWithout, type Uncertain, type UncertainAbout, uncertainOf } from './uncertain.ts';
import { bitsIn, eachWord, hasCjk, isNear, isSign, lettersOf, otherForms, type WantedWord } from './words.ts';

/** Which things are ranked. */
export interface RankedAmong extends Partial<UncertainAbout> {
  readonly kinds?: ReadonlySet<string> | undefined;
  /** Only things of this group: words count by how they are used there. */
  readonly group?: string | undefined;
  /** Words that no ranked thing has. */
  readonly without?: readonly string[];
}

export interface NewThing extends IndexedThing {
  readonly name: string;
  readonly place: string;
  readonly text: string;
}

export interface RankedThing extends IndexedThing {
  readonly score: number;
  readonly toCheck: Uncertain;
}

export interface Ranking {
  /** The best, best first; at most `limits.searchRankedMax`. */
  readonly found: readonly RankedThing[];
  /** Of the wanted kinds. */
  readonly total: number;
  readonly counts: Readonly<Partial<Record<ThingKindName, number>>>;
  /** Wanted words that no thing has. */
  readonly missing: readonly string[];
}

const OTHER_FORM = 0.8;
const BEGINNING = 0.6;
const TYPO = 0.3;
const RECENT_SHARE = 0.15;
const HOUR_MS = 3600 * 1000;
const RECENT_MS = 30 * 24 * HOUR_MS;
/** Memory of a word beside its postings, and of a thing. */
const WORD_BYTES = 40;
const THING_BYTES = 300;

export class AccountIndex {
  readonly #current = new Map<string, IndexEntry>();
  #parts: Part[] = [];
  #builder = new SegmentBuilder();
  #building = newHeld(limits.searchSegmentThings);
  #join: PartJoin | undefined;
  #changes = 0;

  /** Counts what was added and removed: the same number, the same answers. */
  get changes(): number {
    return this.#changes;
  }

  get size(): number {
    return this.#current.size;
  }

  /** About how many bytes of memory it takes. */
  get bytes(): number {
    return this.#parts.reduce(
      (sum, { segment: { bytes, words }, held }) =>
        sum + bytes.length + words.length * WORD_BYTES + held.entries.length * THING_BYTES,
      0,
    );
  }

  /** True: parts of it are to be joined, see `tidy`. */
  get isUntidy(): boolean {
    this.#join ??= this.#nextJoin();
    return this.#join !== undefined;
  }

  stampOf(kind: string, key: string): number | undefined {
    return this.#current.get(nameOf(kind, key))?.stamp;
  }

  put({ name, place, text, ...thing }: NewThing): void {
    let length = 0;
    eachWord(text, (word) => {
      length += 1;
      this.#builder.note(word, 0);
    });
    for (const [heading] of text.matchAll(/^#{1,6} .*$/gm))
      eachWord(heading, (word) => this.#builder.note(word, IN_TITLE));
    eachWord(place, (word) => this.#builder.note(word, IN_TITLE));
    eachWord(name, (word) => this.#builder.note(word, IN_NAME));
    this.#builder.add(length);
    this.remove(thing.kind, thing.key);
    this.#changes += 1;
    const entry = { ...thing, held: this.#building, at: this.#building.entries.length };
    this.#building.entries.push(entry);
    this.#current.set(nameOf(thing.kind, thing.key), entry);
    if (this.#builder.documents >= limits.searchSegmentThings) this.#seal();
  }

  remove(kind: string, key: string): void {
    const name = nameOf(kind, key);
    const entry = this.#current.get(name);
    if (entry === undefined) return;
    this.#current.delete(name);
    this.#changes += 1;
    entry.held.isGone[entry.at] = 1;
    entry.held.gone += 1;
  }

  /** Keys of the things of a kind. */
  keysOf(kind: ThingKindName): string[] {
    return Array.from(this.#current.values()).flatMap((thing) => (thing.kind === kind ? [thing.key] : []));
  }

  /**
   * Joins parts, so that there are few, until `isOver`. Whatever is asked and put in between goes to the parts that are
   * being joined and to new ones. True: nothing is left to join.
   */
  tidy(isOver: () => boolean): boolean {
    for (;;) {
      this.#join ??= this.#nextJoin();
      if (this.#join === undefined) return true;
      while (!this.#join.step()) if (isOver()) return false;
      const [first] = this.#join.parts;
      const joined = this.#join.end();
      if (first !== undefined)
        this.#parts.splice(
          this.#parts.indexOf(first),
          this.#join.parts.length,
          ...(joined === undefined ? [] : [joined]),
        );
      this.#join = undefined;
    }
  }

  /** Things of a kind whose keys are numbers that have every needle, the highest number first. */
  having(query: HavingQuery): Having {
    this.#seal();
    return newestHaving(this.#parts, query);
  }

  /** Ranks the things that have every word, or some of them. */
  rank(wanted: readonly WantedWord[], among: RankedAmong, nowMs: number): Ranking {
    const { kinds, group, needs = 'all' } = among;
    this.#seal();
    const terms = wanted.flatMap((of) =>
      of.words.map((word) => ({ of, word, isCjk: of.isExact === true ? hasCjk(word) : of.isCjk })),
    );
    const within = this.#parts.map((part) => (group === undefined ? undefined : membersOf(part, group)));
    const stands = terms.map(({ of, word, isCjk }) => this.#standsFor(word, { isCjk, isExact: of.isExact }, within));
    const missing = wanted.filter((one) =>
      terms.some(({ of }, at) => of === one && stands[at]?.every((stand) => stand.length === 0)),
    );
    const missed = stands.filter((stand) => stand.every((here) => here.length === 0)).length;
    if (missed > (needs === 'all' ? 0 : terms.length - 1) || terms.length === 0)
      return { found: [], total: 0, counts: {}, missing: missing.map(({ shown }) => shown) };
    const averageLength = this.#averageLength();
    const weights = stands.map((stand) => this.#weightOf(stand, within));
    const counted = new Uint32Array(THING_KINDS.length);
    const isWanted = Uint8Array.from(THING_KINDS, (kind) => (kinds === undefined || kinds.has(kind) ? 1 : 0));
    const best = new HighestScores(limits.searchRankedMax);
    const uncertain = this.#parts.map(({ segment }, at) => {
      const plain = () => terms.flatMap(({ of }, term) => (of.isOfText === true ? [] : (stands[term]?.[at] ?? [])));
      return uncertainOf(segment, { ...among, needs }, plain);
    });
    for (const [at, part] of this.#parts.entries()) {
      const here = stands.map((stand) => stand[at] ?? []);
      if (needs === 'all' && here.some((stand) => stand.length === 0)) continue;
      const scores = scoresOf(part.segment, { stands: here, weights, averageLength, needs });
      const members = within[at];
      if (members !== undefined)
        for (let one = 0; one < scores.length; one += 1) scores[one] = (scores[one] ?? 0) * (members.is[one] ?? 0);
      scoreWithout(part.segment, scores, among.without ?? []);
      countAndKeep(part, at, scores, recentOf(part, nowMs), isWanted, counted, best);
    }
    const total = counted.reduce((sum, count, kind) => sum + (isWanted[kind] === 1 ? count : 0), 0);
    const counts = Object.fromEntries(
      THING_KINDS.map((kind, at) => [kind, counted[at]]).filter(([, count]) => count !== 0),
    );
    return { found: this.#sorted(best, uncertain), total, counts, missing: missing.map(({ shown }) => shown) };
  }

  /** Best first; of equal ones the newest. */
  #sorted(best: HighestScores, uncertain: readonly (Uint8Array | undefined)[]): RankedThing[] {
    const found: RankedThing[] = [];
    for (const { score, part, document } of best) {
      const entry = this.#parts[part]?.held.entries[document];
      if (entry === undefined) continue;
      const { kind, key, stamp, changedMs } = entry;
      const toCheck = (uncertain[part]?.[document] ?? 0) as Uncertain;
      found.push({ kind, key, stamp, changedMs, score, toCheck });
    }
    return found.sort((a, b) => b.score - a.score || b.changedMs - a.changedMs || (a.key < b.key ? -1 : 1));
  }

  /** The words that stand for a wanted one, by segment: itself, other forms, what it begins; if none, words near it. */
  #standsFor(
    word: string,
    { isCjk, isExact }: { readonly isCjk: boolean; readonly isExact: true | undefined },
    within: readonly (Members | undefined)[],
  ): Stand[] {
    const used = (stands: readonly Stand[]) =>
      stands.map((stand, at) => {
        const [members, segment] = [within[at], this.#parts[at]?.segment];
        if (members === undefined || segment === undefined) return stand;
        return stand.filter(([index]) => countPostings(segment, index, members.is) > 0);
      });
    const exact = this.#parts.map(({ segment }): Stand => {
      const stand: [number, number][] = [];
      for (const form of isCjk || isExact === true ? [] : otherForms(word)) {
        const at = placeOfWord(segment, form);
        if (segment.words[at] === form) stand.push([at, OTHER_FORM]);
      }
      const first = placeOfWord(segment, word);
      if (isSign(word)) return withSign(segment, word);
      if (isCjk || isExact === true) return segment.words[first] === word ? [[first, 1]] : [];
      for (
        let at = first;
        at < first + limits.searchPrefixWords && segment.words[at]?.startsWith(word) === true;
        at += 1
      )
        stand.push([at, segment.words[at] === word ? 1 : BEGINNING]);
      return stand;
    });
    const found = used(exact);
    if (isCjk || isExact === true || word.length < 4 || found.some((stand) => stand.length > 0)) return found;
    return used(this.#parts.map((part) => nearWords(part, word)));
  }

  /** Rare words count more (BM25: inverse document frequency). */
  #weightOf(stands: readonly Stand[], within: readonly (Members | undefined)[]): number {
    let things = 0;
    let among = 0;
    for (const [at, { segment }] of this.#parts.entries()) {
      const members = within[at];
      among += members?.count ?? 0;
      for (const [index] of stands[at] ?? [])
        things += members === undefined ? (segment.counts[index] ?? 0) : countPostings(segment, index, members.is);
    }
    const all = Math.max(within.some((one) => one !== undefined) ? among : this.#current.size, things);
    return Math.log(1 + (all - things + 0.5) / (things + 0.5));
  }

  #averageLength(): number {
    let [words, things] = [0, 0];
    for (const { segment } of this.#parts) {
      things += segment.lengths.length;
      words += segment.totalLength;
    }
    return Math.max(1, words / Math.max(1, things));
  }

  #seal(): void {
    if (this.#builder.documents === 0) return;
    this.#parts.push(partOf(this.#builder.seal(), this.#building));
    this.#builder = new SegmentBuilder();
    this.#building = newHeld(limits.searchSegmentThings);
  }

  /** The next parts to join: one of which most is gone, or several of like sizes, so that each thing is joined few times. */
  #nextJoin(): PartJoin | undefined {
    const worn = this.#parts.find(({ held }) => held.gone * 2 > held.entries.length);
    if (worn !== undefined) return new PartJoin([worn]);
    const last = this.#parts.slice(-limits.searchSegmentsJoined);
    const sizes = last.map(({ held }) => held.entries.length);
    const together = sizes.reduce((sum, size) => sum + size, 0);
    if (last.length < limits.searchSegmentsJoined || together > limits.searchJoinedThingsMax) return undefined;
    return Math.max(...sizes) * 2 > together ? undefined : new PartJoin(last);
  }
}

/** The live things of a part that belong to a group. */
interface Members {
  readonly is: Uint8Array;
  readonly count: number;
}

function membersOf(part: Part, group: string): Members {
  const { entries, isGone } = part.held;
  let count = 0;
  const isOfGroup = groupTest(part, group);
  const is = Uint8Array.from(entries, (_, at) => {
    const isIt = isOfGroup(at) && isGone[at] !== 1;
    if (isIt) count += 1;
    return isIt ? 1 : 0;
  });
  return { is, count };
}

/** Factors of the scores of a part's things: kept for an hour, so that equal questions have equal answers. */
function recentOf(part: Part, nowMs: number): Float32Array {
  const hour = Math.floor(nowMs / HOUR_MS);
  if (part.recent?.hour !== hour) {
    const factors = Float32Array.from(part.held.entries, ({ changedMs }) => {
      const ageMs = Math.max(0, hour * HOUR_MS - changedMs);
      return 1 + RECENT_SHARE * Math.exp(-ageMs / RECENT_MS);
    });
    part.recent = { hour, factors };
  }
  return part.recent.factors;
}

/** Counts the scored things of a part by kind, and keeps the best of the wanted ones. The newest come first. */
function countAndKeep(
  { held: { isGone }, kinds }: Part,
  part: number,
  scores: Float32Array,
  recent: Float32Array,
  isWanted: Uint8Array,
  counted: Uint32Array,
  best: HighestScores,
): void {
  for (let document = scores.length - 1; document >= 0; document -= 1) {
    const score = scores[document] ?? 0;
    if (score === 0 || isGone[document] === 1) continue;
    const kind = kinds[document] ?? 0;
    counted[kind] = (counted[kind] ?? 0) + 1;
    if (isWanted[kind] === 0) continue;
    const whole = score * (recent[document] ?? 1);
    if (whole > best.least) best.add(whole, part, document);
  }
}

/** The words that are a single sign of Chinese, Japanese or Korean, or have it. They come after those of other scripts. */
function withSign(segment: WordSegment, sign: string): Stand {
  const { words } = segment;
  const stand: [number, number][] = [];
  for (let at = placeOfWord(segment, FIRST_SIGN); at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (word.includes(sign)) stand.push([at, word === sign ? 1 : BEGINNING]);
  }
  return stand;
}

/** No sign of Chinese, Japanese or Korean comes before it. */
const FIRST_SIGN = '\u1100';

function nameOf(kind: string, key: string): string {
  return `${kind} ${key}`;
}

function nearWords(part: Part, word: string): Stand {
  const { words } = part.segment;
  const { letters } = wordHints(part.segment);
  const wanted = lettersOf(word);
  const most = word.length < 8 ? 1 : 2;
  const first = word.slice(0, 1);
  const found: [number, number][] = [];
  const end = placeOfWord(part.segment, `${first}\uffff`);
  for (let at = placeOfWord(part.segment, first); at < end; at += 1) {
    const has = letters[at] ?? 0;
    if (bitsIn(has & ~wanted) > most || bitsIn(wanted & ~has) > most) continue;
    const other = words[at] ?? '';
    if (Math.abs(other.length - word.length) <= most && isNear(word, other, most)) found.push([at, TYPO]);
  }
  return found;
}
