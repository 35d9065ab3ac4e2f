/** Decisions that are the same for every kind of documents: names, times, and the version that a write expects. Pure. */
import { invalidField } from '../common/fault.ts';
import { staleVersion } from '../fields/expected-version.ts';

/** Returns a name in its stored form. */
export function cleanName(name: string): string {
  return name.trim().normalize('NFC');
}

/** Returns a name in the form used for comparison. */
export function foldName(name: string): string {
  return cleanName(name).toLowerCase();
}

/** Throws Refusal `stale_version` when the current version is not the expected one. 0: there is no document yet. */
export function checkExpected(one: string, expected: number | undefined, current: number): void {
  if (expected !== undefined && expected !== current) throw staleVersion(one, expected, current);
}

/** Throws Refusal `invalid_fields` unless numbers of an archive ascend, up to its counter. */
export function checkNumber(id: number, last: number, head: number): void {
  if (id > last && id <= head) return;
  throw invalidField('id', `id ${id} must be above ${last}, and at most the counter of the archive`);
}
