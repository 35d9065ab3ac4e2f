/** A part of an index: a sealed segment, the things in it, and how several parts become one. */
import { THING_KINDS, type ThingKindName } from '../ids/thing.ts';
import { joinSegments, type WordSegment } from './segment.ts';

export interface IndexedThing {
  readonly kind: ThingKindName;
  readonly key: string;
  readonly stamp: number;
  readonly changedMs: number;
  /** As in `Thing`. */
  readonly group?: string | undefined;
}

/** A thing and where its words are. */
export interface IndexEntry extends IndexedThing {
  held: HeldThings;
  at: number;
}

/** Things by their number in a segment. One that is replaced or removed stays there until the segment is joined. */
export interface HeldThings {
  readonly entries: IndexEntry[];
  readonly isGone: Uint8Array;
  gone: number;
}

export interface Part {
  readonly segment: WordSegment;
  readonly held: HeldThings;
  /** Indexes in THING_KINDS. */
  readonly kinds: Uint8Array;
  /** What new things get on top of their scores, as of an hour. */
  recent: { readonly hour: number; readonly factors: Float32Array } | undefined;
  /** Keys as numbers, made when they are first asked for. */
  numbers: Float64Array | undefined;
  /** Likewise the groups, each by a number. */
  groups: { readonly numbers: ReadonlyMap<string | undefined, number>; readonly of: Uint32Array } | undefined;
}

export function newHeld(things: number): HeldThings {
  return { entries: [], isGone: new Uint8Array(things), gone: 0 };
}

export function partOf(segment: WordSegment, held: HeldThings): Part {
  const kinds = Uint8Array.from(held.entries, ({ kind }) => THING_KINDS.indexOf(kind));
  return { segment, held, kinds, recent: undefined, numbers: undefined, groups: undefined };
}

/** Tells which things of a part are of a group, without reading its name again for each. */
export function groupTest(part: Part, group: string): (document: number) => boolean {
  part.groups ??= numberedGroups(part.held.entries);
  const { numbers, of } = part.groups;
  const wanted = numbers.get(group);
  return (document) => of[document] === wanted;
}

function numberedGroups(entries: readonly IndexEntry[]) {
  const numbers = new Map<string | undefined, number>();
  const of = Uint32Array.from(entries, ({ group }) => {
    const number = numbers.get(group) ?? numbers.size;
    numbers.set(group, number);
    return number;
  });
  return { numbers, of };
}

/** Makes one part of several, step by step. */
export class PartJoin {
  readonly parts: readonly Part[];
  readonly #held: HeldThings;
  /** Per part, the new number of each thing; below 0: it was gone when the join began. */
  readonly #numbers: readonly Int32Array[];
  readonly #steps: Generator<undefined, WordSegment>;
  #segment: WordSegment | undefined;

  constructor(parts: readonly Part[]) {
    this.parts = parts;
    const held = newHeld(parts.reduce((sum, { held: { entries, gone } }) => sum + entries.length - gone, 0));
    this.#numbers = parts.map(({ held: { entries, isGone } }) =>
      Int32Array.from(entries, (entry, at) => (isGone[at] === 1 ? -1 : held.entries.push(entry) - 1)),
    );
    this.#held = held;
    const segments = parts.map(({ segment }) => segment);
    this.#steps = joinSegments(segments, this.#numbers, held.entries.length);
  }

  /** True: it is done. */
  step(): boolean {
    const { done, value } = this.#steps.next();
    if (done === true) this.#segment = value;
    return done === true;
  }

  /** The joined part; undefined when each of its things was gone. Things that went since it began are gone in it. */
  end(): Part | undefined {
    const held = this.#held;
    if (this.#segment === undefined || held.entries.length === 0) return undefined;
    for (const [index, { held: old }] of this.parts.entries()) {
      this.#numbers[index]?.forEach((to, from) => {
        if (to < 0) return;
        if (old.isGone[from] === 1) {
          held.isGone[to] = 1;
          held.gone += 1;
        } else Object.assign(old.entries[from] ?? {}, { held, at: to });
      });
    }
    return partOf(this.#segment, held);
  }
}
