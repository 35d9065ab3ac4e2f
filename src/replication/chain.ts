/** Whether a record continues the log that a member has applied. Pure. */
import { NO_HASH, type RecordHead } from './frame.ts';

/** The newest record that a member knows. */
export interface ChainEnd {
  readonly position: number;
  /** SHA-256 of the record. */
  readonly hash: string;
}

/** Before the first record. */
export const CHAIN_START: ChainEnd = { position: 0, hash: NO_HASH };

/** The log is not the one that this member has applied. Its sentence names the positions and the hashes. */
export class ChainBroken extends Error {
  override readonly name = 'ChainBroken';
}

/** Returns the end of the chain with one more record. Throws ChainBroken. */
export function follow(end: ChainEnd, record: RecordHead & { readonly hash: string }): ChainEnd {
  const { position, previousHash, hash } = record;
  if (position !== end.position + 1) {
    throw new ChainBroken(`record ${position} of the log came after record ${end.position} of this member`);
  }
  if (previousHash !== end.hash) {
    throw new ChainBroken(
      `record ${position} of the log continues another log: it names ${previousHash} as the hash of record ` +
        `${end.position}, and this member has ${end.hash}. The store has lost what it had acknowledged, or two logs were mixed.`,
    );
  }
  return { position, hash };
}

/** Throws ChainBroken when the log ends before what a member has applied. */
export function checkNotBehind(end: ChainEnd, last: number): void {
  if (last >= end.position) return;
  throw new ChainBroken(
    `the log ends at record ${last}, and this member has applied record ${end.position} with the hash ${end.hash}: ` +
      'the store has lost what it had acknowledged.',
  );
}
