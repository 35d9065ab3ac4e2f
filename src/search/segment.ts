/**
 * An immutable part of an index: for each word the documents that have it, as bytes. A posting is the distance to the
 * document before, then how the word occurs: in the name, in the title, how often in the text. Pure.
 */

export const IN_NAME = 1;
export const IN_TITLE = 2;
const TIMES_MAX = 31;

/** Documents that are being added; sealed when they are enough. */
export class SegmentBuilder {
  readonly #postings = new Map<string, number[]>();
  readonly #lengths: number[] = [];
  #words = new Map<string, number>();

  get documents(): number {
    return this.#lengths.length;
  }

  /** Notes a word of the document that is added next. `field`: 0 for the text. */
  note(word: string, field: 0 | typeof IN_NAME | typeof IN_TITLE): void {
    const known = this.#words.get(word) ?? 0;
    const times = known >> 2;
    this.#words.set(word, field === 0 ? (known & 3) | (Math.min(times + 1, TIMES_MAX) << 2) : known | field);
  }

  /** Ends a document. Returns its number in this segment. */
  add(length: number): number {
    const document = this.#lengths.length;
    for (const [word, how] of this.#words) {
      const list = this.#postings.get(word);
      if (list === undefined) this.#postings.set(word, [document, how]);
      else list.push(document, how);
    }
    this.#lengths.push(length);
    this.#words = new Map();
    return document;
  }

  seal(): WordSegment {
    const words = [...this.#postings.keys()].sort().map(ownText);
    const writer = new PostingWriter(words.length);
    for (const word of words) {
      writer.begin();
      const list = this.#postings.get(word) ?? [];
      for (let at = 0; at < list.length; at += 2) writer.put(list[at] ?? 0, list[at + 1] ?? 0);
    }
    return writer.end(words, Float32Array.from(this.#lengths));
  }
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

/** Joins segments. `renumbered`: per segment the new number of each document, below 0 for one that is gone. */
export function joinSegments(
  segments: readonly WordSegment[],
  renumbered: readonly Int32Array[],
  documents: number,
): WordSegment {
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
  for (;;) {
    const word = leastWord(segments, places);
    if (word === undefined) break;
    writer.begin();
    for (const [index, segment] of segments.entries()) {
      const place = places[index] ?? 0;
      if (segment.words[place] !== word) continue;
      places[index] = place + 1;
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
