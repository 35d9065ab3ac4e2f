/** The index of one account, in memory: adds and removes documents, and ranks those that have every wanted word. */
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

export interface IndexedThing {
  readonly kind: string;
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

interface Part {
  readonly segment: WordSegment;
  /** Things by their number in the segment. */
  readonly things: readonly IndexedThing[];
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

export class AccountIndex {
  /** The current thing of each name. One that is replaced stays in its segment until that is joined. */
  readonly #current = new Map<string, IndexedThing>();
  #parts: Part[] = [];
  #builder = new SegmentBuilder();
  #building: IndexedThing[] = [];

  get size(): number {
    return this.#current.size;
  }

  /** Bytes of postings. */
  get bytes(): number {
    return this.#parts.reduce((sum, { segment }) => sum + segment.bytes.length, 0);
  }

  stampOf(kind: string, key: string): number | undefined {
    return this.#current.get(nameOf(kind, key))?.stamp;
  }

  *keysOf(kind: string): Generator<string> {
    for (const thing of this.#current.values()) if (thing.kind === kind) yield thing.key;
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
    this.#building.push(thing);
    this.#current.set(nameOf(thing.kind, thing.key), thing);
    if (this.#builder.documents >= limits.searchSegmentThings) this.#seal();
  }

  remove(kind: string, key: string): void {
    this.#current.delete(nameOf(kind, key));
  }

  /** Ranks the things that have every word, the best first. `missing`: words that no thing has. */
  rank(wanted: readonly WantedWord[], kinds: ReadonlySet<string> | undefined, nowMs: number) {
    this.#seal();
    const terms = wanted.flatMap(({ words, isCjk }) => words.map((word) => ({ word, isCjk })));
    const stands = terms.map(({ word, isCjk }) => this.#standsFor(word, isCjk));
    const missing = wanted.filter(({ words }) =>
      words.some((word) => stands[terms.findIndex((term) => term.word === word)]?.every((stand) => stand.length === 0)),
    );
    const found: RankedThing[] = [];
    if (missing.length > 0 || terms.length === 0) return { found, missing: missing.map(({ shown }) => shown) };
    const average = this.#averageLength();
    const weights = stands.map((stand) => this.#weightOf(stand));
    for (const [at, { segment, things }] of this.#parts.entries()) {
      const scores = scoresOf(
        segment,
        stands.map((stand) => stand[at] ?? []),
        weights,
        average,
      );
      for (const [document, score] of scores.entries()) {
        const thing = things[document];
        if (score === 0 || thing === undefined || !this.#isCurrent(thing)) continue;
        if (kinds !== undefined && !kinds.has(thing.kind)) continue;
        const recent = RECENT_SHARE * Math.exp(-Math.max(0, nowMs - thing.changedMs) / RECENT_MS);
        found.push({ ...thing, score: score * (1 + recent) });
      }
    }
    found.sort((a, b) => b.score - a.score || b.changedMs - a.changedMs || (a.key < b.key ? -1 : 1));
    return { found, missing: [] };
  }

  #isCurrent(thing: IndexedThing): boolean {
    return this.#current.get(nameOf(thing.kind, thing.key)) === thing;
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
      for (const length of segment.lengths) words += length;
    }
    return Math.max(1, words / Math.max(1, things));
  }

  #seal(): void {
    if (this.#builder.documents === 0) return;
    this.#parts.push({ segment: this.#builder.seal(), things: this.#building });
    this.#builder = new SegmentBuilder();
    this.#building = [];
    // Segments of like sizes are joined, so that there are few and each thing is joined few times.
    for (;;) {
      const from = this.#parts.findLastIndex((_, at) => at + limits.searchSegmentsJoined <= this.#parts.length);
      const last = from < 0 ? [] : this.#parts.slice(from);
      const largest = Math.max(...last.map(({ things }) => things.length));
      const together = last.reduce((sum, { things }) => sum + things.length, 0);
      if (last.length === 0 || largest * 2 > together) return;
      this.#parts = [...this.#parts.slice(0, from), this.#joined(last)];
    }
  }

  #joined(parts: readonly Part[]): Part {
    const things: IndexedThing[] = [];
    const renumbered = parts.map((part) =>
      Int32Array.from(part.things, (thing) => (this.#isCurrent(thing) ? things.push(thing) - 1 : -1)),
    );
    return {
      things,
      segment: joinSegments(
        parts.map(({ segment }) => segment),
        renumbered,
        things.length,
      ),
    };
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

/** BM25 (Robertson and Zaragoza 2009) of the documents that have every term; 0 for the others. */
function scoresOf(
  segment: WordSegment,
  stands: readonly Stand[],
  weights: readonly number[],
  average: number,
): Float32Array {
  const scores = new Float32Array(segment.lengths.length);
  const terms = new Uint8Array(segment.lengths.length);
  const best = new Float32Array(segment.lengths.length);
  for (const [term, stand] of stands.entries()) {
    best.fill(0);
    for (const [index, share] of stand) {
      eachPosting(segment, index, (document, how) => {
        const times = how >> 2;
        const long = 1 - LENGTH_SHARE + (LENGTH_SHARE * (segment.lengths[document] ?? 0)) / average;
        const text = ((SATURATION + 1) * times) / (times + SATURATION * long);
        const named = ((how & IN_NAME) === 0 ? 0 : NAME_WEIGHT) + ((how & IN_TITLE) === 0 ? 0 : TITLE_WEIGHT);
        best[document] = Math.max(best[document] ?? 0, share * (text + named));
      });
    }
    for (let document = 0; document < best.length; document += 1) {
      if (best[document] === 0 || terms[document] !== term) continue;
      terms[document] = term + 1;
      scores[document] = (scores[document] ?? 0) + (weights[term] ?? 0) * (best[document] ?? 0);
    }
  }
  for (let document = 0; document < scores.length; document += 1)
    if (terms[document] !== stands.length) scores[document] = 0;
  return scores;
}
