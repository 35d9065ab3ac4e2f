/** Walks an order: merges the rows of several spaces from any position. The store skips earlier rows in blocks. */
import { limits } from '../../limits/service.ts';
import type { RangeQuery } from '../../store/table.ts';
import { spaceOf, taskScopeOf } from '../indexes.ts';
import { taskRows } from '../records.ts';
import { type Bounds, compareValues, type Segment, type TaskFilter } from './query.ts';
import type { Row, TaskReads } from './task-reads.ts';

/** The remaining rows of one space. */
interface Source {
  readonly space: string;
  /** The last skipped row. */
  passed?: Row | undefined;
}

export interface Walk {
  readonly filter: TaskFilter;
  readonly segments: readonly Segment[];
  readonly descending: boolean;
  /** Number of tasks to skip first. */
  readonly skip?: number;
}

/** Rows skipped at once. */
const BLOCK_ROWS = 256;

/** Yields the ids of the segments' tasks, in order; only those due within the filter's range. */
export function* walk(
  reads: TaskReads,
  accountId: string,
  { filter, segments, descending, skip = 0 }: Walk,
): Generator<number> {
  const scope = taskScopeOf(filter.categoryId);
  const counts = reads.counts(accountId, scope);
  let toSkip = skip;
  for (const segment of segments) {
    const filled = segment.buckets.filter((bucket) => (counts[bucket] ?? 0) > 0);
    const sources = filled.map((bucket): Source => ({ space: spaceOf(scope, segment.order, bucket) }));
    const reader = new SpaceReader(reads, accountId, segment.span, descending);
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
 * Skips whole blocks, at most `most` rows, and returns the number of skipped rows. Of `n` sources, the block ending
 * first is within the next `n` blocks of the merged order, since each other source has less than a block before it.
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

/** Reads rows of one order, within a range of its values. */
class SpaceReader {
  readonly #reads: TaskReads;
  readonly #accountId: string;
  readonly #span: Bounds | undefined;
  readonly #descending: boolean;

  constructor(reads: TaskReads, accountId: string, span: Bounds | undefined, descending: boolean) {
    this.#reads = reads;
    this.#accountId = accountId;
    this.#span = span;
    this.#descending = descending;
  }

  /** Returns the last row of the next block; undefined: less than a block remains. */
  blockEnd(source: Source): Row | undefined {
    const query = { ...this.#query(source), skip: BLOCK_ROWS - 1, limit: 1 };
    for (const [, , value, id] of this.#reads.rows.keysIn(taskRows, query)) {
      return this.#isWithin(value) ? { value, id } : undefined;
    }
    return undefined;
  }

  /** The remaining rows; with `due` only those of tasks due then. */
  rows(source: Source, due: Bounds | undefined): Generator<Row> {
    if (due !== undefined) return this.#dueIn(source, due);
    return this.#isAtEnd(source) ? this.#fromEnd(source) : this.#stored(source);
  }

  *#dueIn(source: Source, due: Bounds): Generator<Row> {
    for (const { key, value: day } of this.#reads.rows.entries(taskRows, this.#query(source))) {
      const [, , value, id] = key;
      if (!this.#isWithin(value)) return;
      if (day >= due.low && day <= due.high) yield { value, id };
    }
  }

  /** Yields the rows of a space from its end: first cached rows, then those of the store. */
  *#fromEnd(source: Source): Generator<Row> {
    const { space } = source;
    const known = this.#reads.endRows(this.#accountId, space, this.#descending);
    for (const row of known?.rows ?? []) {
      if (!this.#isWithin(row.value)) return;
      yield row;
    }
    if (known?.isWhole === true) return;
    const rows = [...(known?.rows ?? [])];
    let isAll = true;
    let isWhole = false;
    try {
      for (const row of this.#stored({ space, passed: rows.at(-1) })) {
        isAll = rows.length < limits.taskEndRowsMax;
        if (isAll) rows.push(row);
        yield row;
      }
      isWhole = this.#span === undefined && isAll;
    } finally {
      this.#reads.keepEndRows(this.#accountId, space, this.#descending, { rows, isWhole });
    }
  }

  /** Yields the stored rows of a space from a position. */
  *#stored(source: Source): Generator<Row> {
    for (const [, , value, id] of this.#reads.rows.keysIn(taskRows, this.#query(source))) {
      if (!this.#isWithin(value)) return;
      yield { value, id };
    }
  }

  /** True when no row precedes the walk. */
  #isAtEnd({ passed }: Source): boolean {
    return passed === undefined && !this.#isBounded();
  }

  /** True when the range is bounded at the end where the walk starts. */
  #isBounded(): boolean {
    return this.#span !== undefined && Number.isFinite(this.#descending ? this.#span.high : this.#span.low);
  }

  #query({ space, passed }: Source): RangeQuery {
    const range = { prefix: [this.#accountId, space], reverse: this.#descending };
    if (passed !== undefined) return { ...range, beyond: [passed.value, passed.id] };
    if (this.#span === undefined || !this.#isBounded()) return range;
    // Values are integers, so half a step lies between this range and the adjacent value.
    return { ...range, beyond: this.#descending ? this.#span.high + 0.5 : this.#span.low - 0.5 };
  }

  /** True for a value not beyond the far end of the range. */
  #isWithin(value: number | string): boolean {
    if (this.#span === undefined) return true;
    return this.#descending ? Number(value) >= this.#span.low : Number(value) <= this.#span.high;
  }
}

/** Merges sorted sources; closes every source when the reader stops early. */
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
