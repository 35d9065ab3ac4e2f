/**
 * An immutable part of an index: for each word the documents that have it, as bytes. A posting is the distance to the
 * document before, then how the word occurs: in the name, in the title, how often in the text. Pure.
 */
import { lettersOf, WORD_CHARS_MAX } from './words.ts';

export const IN_NAME = 1;
export const IN_TITLE = 2;
const TIMES_MAX = 31;

/** Documents that are being added; sealed when they are enough. */
export class SegmentBuilder {
  /** Numbers of the words, in the order in which they came. */
  readonly #numbers = new Map<string, number>();
  readonly #lengths: number[] = [];
  /** How each word occurs in the document that is added next, and the numbers of its words. */
  #how = new Uint8Array(1 << 14);
  #noted: number[] = [];
  /** The postings, document by document: the number of a word, and how it occurs. Where those of each document end. */
  #words = new Uint32Array(1 << 16);
  #hows = new Uint8Array(1 << 16);
  readonly #ends: number[] = [];
  #postings = 0;

  get documents(): number {
    return this.#lengths.length;
  }

  /** Notes a word of the document that is added next. `field`: 0 for the text. */
  note(word: string, field: 0 | typeof IN_NAME | typeof IN_TITLE): void {
    let number = this.#numbers.get(word);
    if (number === undefined) {
      number = this.#numbers.size;
      this.#numbers.set(ownText(word), number);
      if (number >= this.#how.length) this.#how = larger(this.#how, new Uint8Array(number * 2));
    }
    const known = this.#how[number] ?? 0;
    if (known === 0) this.#noted.push(number);
    if (field !== 0) this.#how[number] = known | field;
    else if (known >> 2 < TIMES_MAX) this.#how[number] = known + (1 << 2);
  }

  /** Ends a document. Returns its number in this segment. */
  add(length: number): number {
    const end = this.#postings + this.#noted.length;
    if (end > this.#words.length) {
      this.#words = larger(this.#words, new Uint32Array(end * 2));
      this.#hows = larger(this.#hows, new Uint8Array(end * 2));
    }
    for (const number of this.#noted) {
      this.#words[this.#postings] = number;
      this.#hows[this.#postings] = this.#how[number] ?? 0;
      this.#how[number] = 0;
      this.#postings += 1;
    }
    this.#noted = [];
    this.#ends.push(end);
    this.#lengths.push(length);
    return this.#lengths.length - 1;
  }

  seal(): WordSegment {
    const words = [...this.#numbers.keys()].sort();
    const { starts, documents, hows } = this.#byWord(words.length);
    const writer = new PostingWriter(words.length);
    for (const word of words) {
      writer.begin();
      const number = this.#numbers.get(word) ?? 0;
      const end = starts[number + 1] ?? 0;
      for (let from = starts[number] ?? 0; from < end; from += 1) writer.put(documents[from] ?? 0, hows[from] ?? 0);
    }
    return writer.end(words, Float32Array.from(this.#lengths));
  }

  /** The postings word by word: counted first, then put in their places. */
  #byWord(words: number) {
    const places = new Uint32Array(words + 1);
    for (let at = 0; at < this.#postings; at += 1) addTo(places, (this.#words[at] ?? 0) + 1, 1);
    for (let number = 1; number <= words; number += 1) addTo(places, number, places[number - 1] ?? 0);
    const starts = places.slice();
    const documents = new Uint32Array(this.#postings);
    const hows = new Uint8Array(this.#postings);
    let at = 0;
    for (const [document, end] of this.#ends.entries()) {
      for (; at < end; at += 1) {
        const to = addTo(places, this.#words[at] ?? 0, 1);
        documents[to] = document;
        hows[to] = this.#hows[at] ?? 0;
      }
    }
    return { starts, documents, hows };
  }
}

/** Adds to a number of an array, and returns what it was. */
function addTo(numbers: Uint32Array, at: number, more: number): number {
  const before = numbers[at] ?? 0;
  numbers[at] = before + more;
  return before;
}

/** Copies an array to a larger one. */
function larger<T extends Uint8Array | Uint32Array>(from: T, to: T): T {
  to.set(from);
  return to;
}

export interface WordSegment {
  /** Sorted. */
  readonly words: readonly string[];
  /** Where the postings of a word begin; one more than there are words. */
  readonly starts: Uint32Array;
  readonly counts: Uint32Array;
  readonly bytes: Uint8Array;
  /** Words of each document. */
  readonly lengths: Float32Array;
  readonly totalLength: number;
  /** See `wordHints`. */
  hints?: WordHints;
}

/** What is known of the words without reading them, made when it is first needed. */
interface WordHints {
  /** The letters of each word, as `lettersOf`. */
  readonly letters: Uint32Array;
  /** Indexes of words that were cut off. */
  readonly cut: readonly number[];
}

export function wordHints(segment: WordSegment): WordHints {
  const { words } = segment;
  segment.hints ??= {
    letters: Uint32Array.from(words, lettersOf),
    cut: words.flatMap((word, at) => (word.length === WORD_CHARS_MAX ? [at] : [])),
  };
  return segment.hints;
}

class PostingWriter {
  readonly #starts: Uint32Array;
  readonly #counts: Uint32Array;
  #bytes = new Uint8Array(1 << 16);
  #at = 0;
  #word = -1;
  #last = 0;

  constructor(words: number) {
    this.#starts = new Uint32Array(words + 1);
    this.#counts = new Uint32Array(words);
  }

  begin(): void {
    this.#word += 1;
    this.#starts[this.#word] = this.#at;
    this.#last = 0;
  }

  /** Once in the text, the usual case, takes no byte of its own. */
  put(document: number, how: number): void {
    if (this.#at + 8 > this.#bytes.length) {
      const larger = new Uint8Array(this.#bytes.length * 2);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    const isUsual = how === 1 << 2;
    let value = (document - this.#last) * 2 + (isUsual ? 0 : 1);
    for (; value > 0x7f; value = Math.floor(value / 128)) this.#bytes[this.#at++] = (value % 128) | 0x80;
    this.#bytes[this.#at++] = value;
    if (!isUsual) this.#bytes[this.#at++] = how;
    this.#last = document;
    this.#counts[this.#word] = (this.#counts[this.#word] ?? 0) + 1;
  }

  /** False: the word has no postings, and the next one takes its place. */
  keep(): boolean {
    if ((this.#counts[this.#word] ?? 0) > 0) return true;
    this.#word -= 1;
    return false;
  }

  end(words: readonly string[], lengths: Float32Array): WordSegment {
    this.#starts[words.length] = this.#at;
    const starts = this.#starts.slice(0, words.length + 1);
    const counts = this.#counts.slice(0, words.length);
    let totalLength = 0;
    for (const length of lengths) totalLength += length;
    return { words, starts, counts, bytes: this.#bytes.slice(0, this.#at), lengths, totalLength };
  }
}

/** Calls `found` with each posting of the word at an index. */
export function eachPosting(
  { bytes, starts }: WordSegment,
  index: number,
  found: (document: number, how: number) => void,
): void {
  const end = starts[index + 1] ?? 0;
  let document = 0;
  for (let at = starts[index] ?? 0; at < end; ) {
    let value = 0;
    let scale = 1;
    let byte = bytes[at++] ?? 0;
    for (; byte > 0x7f; byte = bytes[at++] ?? 0) {
      value += (byte & 0x7f) * scale;
      scale *= 128;
    }
    value += byte * scale;
    document += value >> 1;
    found(document, (value & 1) === 0 ? 1 << 2 : (bytes[at++] ?? 0));
  }
}

/** How many of some documents have the word at an index. */
export function countPostings(segment: WordSegment, index: number, among: Uint8Array): number {
  let count = 0;
  eachPosting(segment, index, (document) => {
    count += among[document] ?? 0;
  });
  return count;
}

/** Index of the first word that is not before `wanted`. */
export function placeOfWord({ words }: WordSegment, wanted: string): number {
  let [low, high] = [0, words.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((words[middle] ?? '') < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Words and postings that are joined in one step, in less than a millisecond. */
const JOINED_AT_ONCE = 4096;

/**
 * Joins segments, step by step. `renumbered`: per segment the new number of each document, below 0 for one that is gone.
 */
export function* joinSegments(
  segments: readonly WordSegment[],
  renumbered: readonly Int32Array[],
  documents: number,
): Generator<undefined, WordSegment> {
  const places = segments.map(() => 0);
  const kept: string[] = [];
  const writer = new PostingWriter(segments.reduce((sum, { words }) => sum + words.length, 0));
  const lengths = new Float32Array(documents);
  for (const [index, segment] of segments.entries()) {
    segment.lengths.forEach((length, document) => {
      const to = renumbered[index]?.[document] ?? -1;
      if (to >= 0) lengths[to] = length;
    });
  }
  let joined = 0;
  for (;;) {
    const word = leastWord(segments, places);
    if (word === undefined) break;
    if (joined > JOINED_AT_ONCE) {
      joined = 0;
      yield;
    }
    writer.begin();
    for (const [index, segment] of segments.entries()) {
      const place = places[index] ?? 0;
      if (segment.words[place] !== word) continue;
      places[index] = place + 1;
      joined += 1 + (segment.counts[place] ?? 0);
      const numbers = renumbered[index];
      eachPosting(segment, place, (document, how) => {
        const to = numbers?.[document] ?? -1;
        if (to >= 0) writer.put(to, how);
      });
    }
    if (writer.keep()) kept.push(word);
  }
  return writer.end(kept, lengths);
}

/** The first of the words that come next in sorted segments. */
function leastWord(segments: readonly WordSegment[], places: readonly number[]): string | undefined {
  let least: string | undefined;
  for (let index = 0; index < segments.length; index += 1) {
    const word = segments[index]?.words[places[index] ?? 0];
    if (word !== undefined && (least === undefined || word < least)) least = word;
  }
  return least;
}

/** A copy: a long word that was cut from a text would keep all of it in memory. */
function ownText(word: string): string {
  return word.length < COPIED_CHARS_MIN ? word : Buffer.from(word, 'utf16le').toString('utf16le');
}

/** V8 copies shorter parts of a text itself. */
const COPIED_CHARS_MIN = 13;
