/** Adds up what several threads hold: each changes only its own cells, so what an ended thread held is known. */
import type { Tally } from '../../common/shares.ts';

/** Cells in memory shared by threads: a row per tally, in it a cell per thread. Thread 0 makes them. */
export class SharedCells {
  /** The memory to pass to another thread. */
  readonly shared: SharedArrayBuffer;
  readonly #threads: number;

  constructor(threads: number, rows: number, shared?: SharedArrayBuffer) {
    this.#threads = threads;
    this.shared = shared ?? new SharedArrayBuffer(rows * threads * BigInt64Array.BYTES_PER_ELEMENT);
  }

  /** Subtracts what an ended thread held. */
  clear(thread: number): void {
    const all = new BigInt64Array(this.shared);
    for (let at = thread; at < all.length; at += this.#threads) Atomics.store(all, at, 0n);
  }

  /** The tally of a row, seen by one thread. */
  tally(row: number, own: number): Tally {
    return new SharedTally(
      new BigInt64Array(this.shared, row * this.#threads * BigInt64Array.BYTES_PER_ELEMENT, this.#threads),
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
