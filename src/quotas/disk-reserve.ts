/**
 * Decides when the disk counts as nearly full. The one place that does: writes are refused by it, and `/ready`, metrics
 * and notices tell what it decided.
 */
import { limits } from '../limits/service.ts';

/** What may still be written, without the last 16 MiB of the disk, and the size of the disk or the memory map. */
interface DiskRoom {
  readonly usableBytes: number;
  readonly totalBytes: number;
}

interface DiskState extends DiskRoom {
  /** True while only marked accounts can write. */
  readonly isReserved: boolean;
}

export interface DiskReserveOptions {
  /** Measures the disk. Where more than `enoughShare` of it is free, `usableBytes` may be less than the truth. */
  readonly usable: (enoughShare: number) => DiskRoom;
  /** Monotonic clock, in milliseconds. */
  readonly elapsed: () => number;
}

/** Above this share nothing depends on the exact number of bytes. */
const ENOUGH_SHARE = limits.diskWarnedShare + limits.diskSteadyShare;

export class DiskReserve {
  /** Called each time that writes begin to be refused, possibly within a decision. */
  onReached: () => void = () => undefined;
  readonly #options: DiskReserveOptions;
  #looked: { readonly atMs: number; readonly state: DiskState | undefined } | undefined;

  constructor(options: DiskReserveOptions) {
    this.#options = options;
  }

  /** True while only marked accounts can write. Measures at most every `diskLookedMs`. */
  isReached(): boolean {
    const known = this.#looked;
    const isFresh = known !== undefined && this.#options.elapsed() - known.atMs < limits.diskLookedMs;
    return (isFresh ? known.state : this.look())?.isReserved === true;
  }

  /**
   * Measures now; writes of the next moments are decided by the same measurement. Undefined when the system does not
   * tell: a failing disk is told by its writes.
   */
  look(): DiskState | undefined {
    const wasReserved = this.#looked?.state?.isReserved === true;
    const state = this.#measure(wasReserved);
    this.#looked = { atMs: this.#options.elapsed(), state };
    if (state?.isReserved === true && !wasReserved) this.onReached();
    return state;
  }

  #measure(wasReserved: boolean): DiskState | undefined {
    let room: DiskRoom;
    try {
      room = this.#options.usable(ENOUGH_SHARE);
    } catch {
      return undefined;
    }
    // What a refused write leaves free again must not open the disk for the next one.
    const steadyBytes = wasReserved
      ? Math.max(room.totalBytes * limits.diskReservedSteadyShare, limits.diskReservedSteadyBytesMin)
      : 0;
    return { ...room, isReserved: room.usableBytes < room.totalBytes * limits.diskReservedShare + steadyBytes };
  }
}
