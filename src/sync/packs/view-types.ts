/** The types of a vault at one moment: its packs, and the versions after the last pack. */
import type { DeadBits } from './dead-bits.ts';
import type { PackColumns, PackSummary } from './index-layout.ts';

/** A pack as it stands. */
export interface PackState {
  readonly summary: PackSummary;
  /** Undefined: every line was current when the tail began. */
  readonly dead: DeadBits | undefined;
  /** Names of the devices that sent its lines, of those that are dead too. */
  readonly devices: () => readonly string[];
  readonly columns: () => PackColumns;
}

/** A version that no pack holds yet. */
export interface TailVersion {
  readonly seq: number;
  /** The version of its path that it took the place of; 0: none. */
  readonly previousSeq: number;
  readonly lineBytes: number;
  readonly sizeBytes: number;
  readonly deleted: boolean;
  readonly long: boolean;
  readonly device: () => string;
}

/** A vault in one moment. */
export interface VaultView {
  /** Its greatest sequence number. */
  readonly seq: number;
  /** From the one that holds the position on. */
  readonly packs: Iterable<PackState>;
  /** What no pack holds yet and comes after the position. */
  readonly tail: readonly TailVersion[];
}
