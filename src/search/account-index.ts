/** The index of one account, in memory: adds and removes documents, and ranks those that have every wanted word. */
import { THING_KINDS, type ThingKindName } from '../ids/thing.ts';
import { limits } from '../limits/service.ts';
import {
  eachPosting,
  IN_NAME,
  IN_TITLE,
  joinSegments,
  placeOfWord,
  SegmentBuilder,
  type WordSegment,
} from './segment.ts';
import { eachWord, isNear, otherForms, type WantedWord } from './words.ts';

interface IndexedThing {
  readonly kind: ThingKindName;
  readonly key: string;
  readonly stamp: number;
  readonly changedMs: number;
}

export interface NewThing extends IndexedThing {
  readonly name: string;
  readonly place: string;
  readonly text: string;
}

export interface RankedThing extends IndexedThing {
  readonly score: number;
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

/** A thing and where its words are. */
interface Entry extends IndexedThing {
  held: Held;
  at: number;
}

/** Things by their number in a segment. One that is replaced or removed stays there until the segment is joined. */
interface Held {
  readonly entries: Entry[];
  readonly isGone: Uint8Array;
  gone: number;
}

interface Part {
  readonly segment: WordSegment;
  readonly held: Held;
  /** Indexes in THING_KINDS. */
  readonly kinds: Uint8Array;
}

/** Words that stand for a wanted one in a segment, by their index, each with its weight. */
type Stand = readonly (readonly [index: number, weight: number])[];

const SATURATION = 1.2;
const LENGTH_SHARE = 0.5;
const NAME_WEIGHT = 6;
const TITLE_WEIGHT = 2;
const OTHER_FORM = 0.8;
const BEGINNING = 0.6;
const TYPO = 0.3;
const RECENT_SHARE = 0.15;
const RECENT_MS = 30 * 24 * 3600 * 1000;
/** Memory of a word beside its postings, and of a thing. */
const WORD_BYTES = 40;
const THING_BYTES = 300;

export class AccountIndex {
  readonly #current = new Map<string, Entry>();
  #parts: Part[] = [];
  #builder = new SegmentBuilder();
  #building = newHeld(limits.searchSegmentThings);
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

  stampOf(kind: string, key: string): number | undefined {
    return this.#current.get(nameOf(kind, key))?.stamp;
  }

  /** Removes the things of a kind whose keys are not among these. */
  keep(kind: string, keys: ReadonlySet<string>): void {
    for (const thing of this.#current.values())
      if (thing.kind === kind && !keys.has(thing.key)) this.remove(kind, thing.key);
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

  /** Ranks the things that have every word. */
  rank(wanted: readonly WantedWord[], kinds: ReadonlySet<string> | undefined, nowMs: number): Ranking {
    this.#seal();
    const terms = wanted.flatMap(({ words, isCjk }) => words.map((word) => ({ word, isCjk })));
    const stands = terms.map(({ word, isCjk }) => this.#standsFor(word, isCjk));
    const missing = wanted.filter(({ words }) =>
      words.some((word) => stands[terms.findIndex((term) => term.word === word)]?.every((stand) => stand.length === 0)),
    );
    if (missing.length > 0 || terms.length === 0)
      return { found: [], total: 0, counts: {}, missing: missing.map(({ shown }) => shown) };
    const average = this.#averageLength();
    const weights = stands.map((stand) => this.#weightOf(stand));
    const counted = THING_KINDS.map(() => 0);
    const isWanted = THING_KINDS.map((kind) => kinds === undefined || kinds.has(kind));
    const best = new BestThings(limits.searchRankedMax);
    for (const [at, { segment, held, kinds: kindOf }] of this.#parts.entries()) {
      const here = stands.map((stand) => stand[at] ?? []);
      if (here.some((stand) => stand.length === 0)) continue;
      const scores = scoresOf(segment, here, weights, average);
      for (let document = 0; document < scores.length; document += 1) {
        const score = scores[document] ?? 0;
        const kind = kindOf[document] ?? 0;
        if (score === 0 || held.isGone[document] === 1) continue;
        counted[kind] = (counted[kind] ?? 0) + 1;
        const entry = held.entries[document];
        if (isWanted[kind] !== true || score * (1 + RECENT_SHARE) < best.least || entry === undefined) continue;
        const ageMs = Math.max(0, nowMs - entry.changedMs);
        best.add(entry, score * (1 + RECENT_SHARE * Math.exp(-ageMs / RECENT_MS)));
      }
    }
    const total = counted.reduce((sum, count, kind) => sum + (isWanted[kind] === true ? count : 0), 0);
    const counts = Object.fromEntries(
      THING_KINDS.map((kind, at) => [kind, counted[at]]).filter(([, count]) => count !== 0),
    );
    return { found: best.sorted(), total, counts, missing: [] };
  }

  /** The words that stand for a wanted one, by segment: itself, other forms, what it begins; if none, words near it. */
  #standsFor(word: string, isCjk: boolean): Stand[] {
    const exact = this.#parts.map(({ segment }): Stand => {
      const stand: [number, number][] = [];
      for (const form of isCjk ? [] : otherForms(word)) {
        const at = placeOfWord(segment, form);
        if (segment.words[at] === form) stand.push([at, OTHER_FORM]);
      }
      const first = placeOfWord(segment, word);
      if (isCjk && word.length > 1) return segment.words[first] === word ? [[first, 1]] : [];
      for (
        let at = first;
        at < first + limits.searchPrefixWords && segment.words[at]?.startsWith(word) === true;
        at += 1
      )
        stand.push([at, segment.words[at] === word ? 1 : BEGINNING]);
      return stand;
    });
    if (isCjk || word.length < 4 || exact.some((stand) => stand.length > 0)) return exact;
    return this.#parts.map(({ segment }) => nearWords(segment, word));
  }

  /** Rare words count more (BM25: inverse document frequency). */
  #weightOf(stands: readonly Stand[]): number {
    let things = 0;
    for (const [at, stand] of stands.entries())
      for (const [index] of stand) things += this.#parts[at]?.segment.counts[index] ?? 0;
    const all = Math.max(this.#current.size, things);
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
    if (this.#builder.documents > 0) {
      this.#parts.push(partOf(this.#builder.seal(), this.#building));
      this.#builder = new SegmentBuilder();
      this.#building = newHeld(limits.searchSegmentThings);
    }
    const worn = this.#parts.findIndex(({ held }) => held.gone * 2 > held.entries.length);
    if (worn >= 0) this.#parts.splice(worn, 1, ...this.#joined(this.#parts.slice(worn, worn + 1)));
    // Segments of like sizes are joined, so that there are few and each thing is joined few times.
    for (;;) {
      const last = this.#parts.slice(-limits.searchSegmentsJoined);
      const sizes = last.map(({ held }) => held.entries.length);
      const together = sizes.reduce((sum, size) => sum + size, 0);
      if (last.length < limits.searchSegmentsJoined || together > limits.searchJoinedThingsMax) return;
      if (Math.max(...sizes) * 2 > together) return;
      this.#parts.splice(-last.length, last.length, ...this.#joined(last));
    }
  }

  /** One part of several; none when each of their things is gone. */
  #joined(parts: readonly Part[]): Part[] {
    const held = newHeld(parts.reduce((sum, { held: { entries, gone } }) => sum + entries.length - gone, 0));
    const renumbered = parts.map(({ held: { entries, isGone } }) =>
      Int32Array.from(entries, (entry, at) => {
        if (isGone[at] === 1) return -1;
        Object.assign(entry, { held, at: held.entries.length });
        return held.entries.push(entry) - 1;
      }),
    );
    if (held.entries.length === 0) return [];
    const segments = parts.map(({ segment }) => segment);
    return [partOf(joinSegments(segments, renumbered, held.entries.length), held)];
  }
}

function newHeld(things: number): Held {
  return { entries: [], isGone: new Uint8Array(things), gone: 0 };
}

function partOf(segment: WordSegment, held: Held): Part {
  const kinds = Uint8Array.from(held.entries, ({ kind }) => THING_KINDS.indexOf(kind));
  return { segment, held, kinds };
}

/** Keeps the best things of many: sorts only when twice as many are waiting. */
class BestThings {
  readonly #most: number;
  #kept: RankedThing[] = [];
  /** A lower score is not among them. */
  least = 0;

  constructor(most: number) {
    this.#most = most;
  }

  add({ kind, key, stamp, changedMs }: IndexedThing, score: number): void {
    if (score < this.least) return;
    this.#kept.push({ kind, key, stamp, changedMs, score });
    if (this.#kept.length >= this.#most * 2) this.sorted();
  }

  sorted(): readonly RankedThing[] {
    this.#kept.sort((a, b) => b.score - a.score || b.changedMs - a.changedMs || (a.key < b.key ? -1 : 1));
    if (this.#kept.length > this.#most) this.#kept.length = this.#most;
    if (this.#kept.length === this.#most) this.least = this.#kept.at(-1)?.score ?? 0;
    return this.#kept;
  }
}

function nameOf(kind: string, key: string): string {
  return `${kind} ${key}`;
}

function nearWords(segment: WordSegment, word: string): Stand {
  const { words } = segment;
  const most = word.length < 8 ? 1 : 2;
  const first = word.slice(0, 1);
  const found: [number, number][] = [];
  for (let at = placeOfWord(segment, first); words[at]?.startsWith(first) === true; at += 1) {
    const other = words[at] ?? '';
    if (Math.abs(other.length - word.length) <= most && isNear(word, other, most)) found.push([at, TYPO]);
  }
  return found;
}

/** BM25 (Robertson and Zaragoza 2009) of the documents that have every term; 0 for the others. The rarest term first. */
function scoresOf(
  segment: WordSegment,
  stands: readonly Stand[],
  weights: readonly number[],
  average: number,
): Float32Array {
  const scores = new Float32Array(segment.lengths.length);
  const terms = new Uint8Array(segment.lengths.length);
  const best = new Float32Array(segment.lengths.length);
  const postings = stands.map((stand) => stand.reduce((sum, [index]) => sum + (segment.counts[index] ?? 0), 0));
  const order = [...stands.keys()].sort((a, b) => (postings[a] ?? 0) - (postings[b] ?? 0));
  for (const [turn, term] of order.entries()) {
    if (turn > 0) best.fill(0);
    for (const [index, share] of stands[term] ?? []) scoreWord(segment, index, { share, average, best });
    const weight = weights[term] ?? 0;
    for (let document = 0; document < best.length; document += 1) {
      const score = best[document] ?? 0;
      if (score === 0 || terms[document] !== turn) continue;
      terms[document] = turn + 1;
      scores[document] = (scores[document] ?? 0) + weight * score;
    }
  }
  for (let document = 0; document < scores.length; document += 1)
    if (terms[document] !== stands.length) scores[document] = 0;
  return scores;
}

interface WordScore {
  readonly share: number;
  /** Words of a document. */
  readonly average: number;
  readonly best: Float32Array;
}

function scoreWord(segment: WordSegment, index: number, { share, average, best }: WordScore): void {
  const { lengths } = segment;
  const whole = SATURATION * (1 - LENGTH_SHARE);
  const each = (SATURATION * LENGTH_SHARE) / average;
  eachPosting(segment, index, (document, how) => {
    const times = how >> 2;
    const text = ((SATURATION + 1) * times) / (times + whole + each * (lengths[document] ?? 0));
    const named = ((how & IN_NAME) === 0 ? 0 : NAME_WEIGHT) + ((how & IN_TITLE) === 0 ? 0 : TITLE_WEIGHT);
    const score = share * (text + named);
    if (score > (best[document] ?? 0)) best[document] = score;
  });
}
