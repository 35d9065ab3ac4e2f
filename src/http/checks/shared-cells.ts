/** Adds up amounts of several threads: each changes only its own cells, so what an ended thread held is known. */
import type { Tally } from '../../common/shares.ts';

/** How many amounts are added up. */
export interface CellRows {
  /** Amounts held; they end with their thread. */
  readonly held: number;
  /** Counts of what happened, in the rows after those; they stay. */
  readonly counted: number;
}

/** Cells in memory shared by threads: a row per tally, in it a cell per thread. Thread 0 makes them. */
export class SharedCells {
  /** The memory to pass to another thread. */
  readonly shared: SharedArrayBuffer;
  readonly threads: number;
  readonly #rowsHeld: number;

  constructor(threads: number, { held, counted }: CellRows, shared?: SharedArrayBuffer) {
    this.threads = threads;
    this.#rowsHeld = held;
    this.shared = shared ?? new SharedArrayBuffer((held + counted) * threads * BigInt64Array.BYTES_PER_ELEMENT);
  }

  /** Subtracts what an ended thread held. */
  clear(thread: number): void {
    const all = new BigInt64Array(this.shared);
    for (let row = 0; row < this.#rowsHeld; row += 1) Atomics.store(all, row * this.threads + thread, 0n);
  }

  /** The tally of a row, seen by one thread. */
  tally(row: number, own: number): Tally {
    return new SharedTally(
      new BigInt64Array(this.shared, row * this.threads * BigInt64Array.BYTES_PER_ELEMENT, this.threads),
      own,
    );
  }
}

class SharedTally implements Tally {
  readonly #cells: BigInt64Array;
  readonly #own: number;

  constructor(cells: BigInt64Array, own: number) {
    this.#cells = cells;
    this.#own = own;
  }

  get total(): number {
    let all = 0n;
    for (let thread = 0; thread < this.#cells.length; thread += 1) all += Atomics.load(this.#cells, thread);
    return Number(all);
  }

  add(amount: number): void {
    Atomics.add(this.#cells, this.#own, BigInt(amount));
  }
}
