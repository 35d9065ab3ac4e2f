/**
 * Owns the way along an order: the rows of some spaces merged into one, from any place of it. What lies before that place
 * is passed over by the store, a block at a time.
 */
import type { RangeQuery, Walkable } from '../../store/table.ts';
import { scopeOf, spaceOf } from '../indexes.ts';
import { taskCounts, taskRows } from '../records.ts';
import type { Segment, Span, TaskFilter } from './query.ts';
import { compareValues } from './value-order.ts';

interface Row {
  readonly value: number | string;
  readonly id: number;
}

/** The rows of one space that are still to come. */
interface Source {
  readonly space: string;
  /** The last row that was passed over. */
  passed?: Row;
}

export interface Walk {
  readonly filter: TaskFilter;
  readonly segments: readonly Segment[];
  readonly descending: boolean;
  /** Tasks to pass over first. */
  readonly skip?: number;
}

/** Rows that are passed over at once. */
const BLOCK_ROWS = 256;

/** The ids of the segments' tasks, in order; only those due within the filter's span. */
export function* walk(
  store: Walkable,
  accountId: string,
  { filter, segments, descending, skip = 0 }: Walk,
): Generator<number> {
  const scope = scopeOf(filter.categoryId);
  const counts = store.get(taskCounts, [accountId, scope])?.counts ?? [];
  let toSkip = skip;
  for (const segment of segments) {
    const filled = segment.buckets.filter((bucket) => (counts[bucket] ?? 0) > 0);
    const sources = filled.map((bucket): Source => ({ space: spaceOf(scope, segment.order, bucket) }));
    const reader = new SpaceReader(store, accountId, segment.span, descending);
    // Tested on each row, unless the order itself is bounded by it.
    const due = segment.order === 'due' ? undefined : filter.due;
    if (due === undefined) toSkip -= passBlocks(reader, sources, toSkip, descending);
    for (const id of merge(
      sources.map((source) => reader.rows(source, due)),
      descending,
    )) {
      if (toSkip > 0) toSkip -= 1;
      else yield id;
    }
  }
}

/**
 * Passes over whole blocks, at most `most` rows, and tells how many that were. The block that ends first, of one source
 * out of `n`, lies within the next `n` blocks of the merged order, since each other source has less than a block before it.
 */
function passBlocks(reader: SpaceReader, sources: readonly Source[], most: number, descending: boolean): number {
  if (most < sources.length * BLOCK_ROWS) return 0;
  const sign = descending ? -1 : 1;
  const ends = sources.map((source) => reader.blockEnd(source));
  let passed = 0;
  while (most - passed >= sources.length * BLOCK_ROWS) {
    let first: number | undefined;
    ends.forEach((end, index) => {
      const least = first === undefined ? undefined : ends[first];
      if (end !== undefined && (least === undefined || sign * compareRows(end, least) < 0)) first = index;
    });
    const source = first === undefined ? undefined : sources[first];
    if (first === undefined || source === undefined) break;
    source.passed = ends[first] as Row;
    ends[first] = reader.blockEnd(source);
    passed += BLOCK_ROWS;
  }
  return passed;
}

/** Reads rows of one order, within a span of its values. */
class SpaceReader {
  readonly #store: Walkable;
  readonly #accountId: string;
  readonly #span: Span | undefined;
  readonly #descending: boolean;

  constructor(store: Walkable, accountId: string, span: Span | undefined, descending: boolean) {
    this.#store = store;
    this.#accountId = accountId;
    this.#span = span;
    this.#descending = descending;
  }

  /** The row that ends the next block; undefined: there is less than a block left. */
  blockEnd(source: Source): Row | undefined {
    const query = { ...this.#query(source), skip: BLOCK_ROWS - 1, limit: 1 };
    for (const [, , value, id] of this.#store.keysIn(taskRows, query)) {
      return this.#isWithin(value) ? { value, id } : undefined;
    }
    return undefined;
  }

  /** The rows that are left; with `due` only those of tasks due then. */
  *rows(source: Source, due: Span | undefined): Generator<Row> {
    const query = this.#query(source);
    if (due === undefined) {
      for (const [, , value, id] of this.#store.keysIn(taskRows, query)) {
        if (!this.#isWithin(value)) return;
        yield { value, id };
      }
      return;
    }
    for (const { key, value: day } of this.#store.entries(taskRows, query)) {
      const [, , value, id] = key;
      if (!this.#isWithin(value)) return;
      if (day >= due.low && day <= due.high) yield { value, id };
    }
  }

  #query({ space, passed }: Source): RangeQuery {
    const range = { prefix: [this.#accountId, space], reverse: this.#descending };
    if (passed !== undefined) return { ...range, beyond: [passed.value, passed.id] };
    if (this.#span === undefined) return range;
    // Values are whole numbers, so half a step lies between this span and whatever is next to it.
    return { ...range, beyond: this.#descending ? this.#span.high + 0.5 : this.#span.low - 0.5 };
  }

  /** Not beyond the far end of the span. */
  #isWithin(value: number | string): boolean {
    if (this.#span === undefined) return true;
    return this.#descending ? Number(value) >= this.#span.low : Number(value) <= this.#span.high;
  }
}

/** Sorted sources as one; every source is let go of when the reader stops early. */
function* merge(sources: readonly Generator<Row>[], descending: boolean): Generator<number> {
  const sign = descending ? -1 : 1;
  const heads = sources.flatMap((source): Head[] => {
    const { value, done } = source.next();
    return done === true ? [] : [{ source, row: value }];
  });
  try {
    while (heads.length > 0) {
      let least = 0;
      for (let other = 1; other < heads.length; other += 1) {
        if (sign * compareRows((heads[other] as Head).row, (heads[least] as Head).row) < 0) least = other;
      }
      const head = heads[least] as Head;
      yield head.row.id;
      const { value, done } = head.source.next();
      if (done === true) heads.splice(least, 1);
      else head.row = value;
    }
  } finally {
    for (const source of sources) source.return(undefined);
  }
}

interface Head {
  readonly source: Generator<Row>;
  row: Row;
}

function compareRows(a: Row, b: Row): number {
  return compareValues(a.value, b.value) || a.id - b.id;
}
