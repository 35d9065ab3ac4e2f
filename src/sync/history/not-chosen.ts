/** Decides which conflicts the history of a file shows as versions that were not chosen. Pure. */
import type { ConflictRecord } from '../log/records.ts';

/**
 * True when the side of a settled conflict is in no version. `became`: the SHA-256 of the version that settled it, if it
 * is kept. The side of a delete has no bytes to show.
 */
export function isNotChosen({ status, your_sha256: side }: ConflictRecord, became: string | undefined): boolean {
  return status !== 'pending' && side !== null && side !== became;
}
