/** Decides which refusal of a change comes first: where nothing is restored, that the record is in the trash. Pure. */
import { isRecord } from './is-record.ts';

/** True for the body of a change, not yet checked, that asks to bring its record back from the trash. */
export function asksToRestore(body: unknown): boolean {
  return isRecord(body) && (body['restore'] ?? false) !== false;
}
