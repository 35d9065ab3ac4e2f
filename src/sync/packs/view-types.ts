/** Defines the types of a vault at one moment: its packs, and the tail of versions after the last pack. */
import type { DeadBits } from './dead-bits.ts';
import type { PackColumns, PackSummary } from './index-layout.ts';

export interface PackState {
  readonly summary: PackSummary;
  /** Undefined when every line was current when the tail began. */
  readonly dead: DeadBits | undefined;
  /** Names of the devices that sent its lines, including dead lines. */
  readonly devices: () => readonly string[];
  readonly columns: () => PackColumns;
}

/** A version not packed yet. */
export interface TailVersion {
  readonly seq: number;
  /** The previous version of its path; 0 when there is none. */
  readonly previousSeq: number;
  readonly lineBytes: number;
  readonly sizeBytes: number;
  readonly deleted: boolean;
  readonly long: boolean;
  readonly device: () => string;
}

export interface VaultView {
  /** Its greatest sequence number. */
  readonly seq: number;
  /** Packs from the one containing the requested position on. */
  readonly packs: Iterable<PackState>;
  /** Unpacked versions after the requested position. */
  readonly tail: readonly TailVersion[];
}
