/** The version that a change was made from: the field, and the refusal of a change made from another one. */
import { Refusal } from '../common/fault.ts';
import { counted } from './kinds.ts';

export const expectedVersion = counted.optional().describe('Rejected if the version differs');

/** The record of the current version: as text, and as members of the refusal's data. */
interface CurrentRecord {
  readonly text: string;
  readonly record: Readonly<Record<string, unknown>>;
}

/** Refusal of a write to `what` that expected another version than the current one. `now`: the record, if it is short. */
export function staleVersion(what: string, expected: number, current: number, now?: CurrentRecord): Refusal {
  const next =
    now === undefined
      ? 'read it again and apply your change to the current version'
      : `if your change still applies, send it with expected_version ${current}. The ${what} is now: ${now.text}`;
  const detail = `the ${what} is at version ${current}, not ${expected}; ${next}`;
  return new Refusal({ kind: 'stale_version', detail, expected, current, record: now?.record });
}
