/** Checks handoffs: every row against the handoffs, their texts, and their entries in the trash. Read-only. */
import type { CheckedReader } from '../../store/checked-reader.ts';
import { verifyVersions } from '../verify.ts';
import { namesOf, rowsOf } from './lookup.ts';
import { type HandoffRecord, handoffHeads, handoffNames, handoffRows, handoffs } from './records.ts';

export interface HandoffsReport {
  readonly handoffs: number;
  readonly problems: string[];
}

export function verifyHandoffs(reader: CheckedReader): HandoffsReport {
  const problems: string[] = [];
  const versions = verifyVersions(reader, { space: 'handoffs', binsReplaced: true });
  let found = 0;
  reader.each(handoffs, ({ key, value }) => {
    found += 1;
    checkHandoff(reader, key[0], key[1], value, problems);
    versions.expect(`handoff ${key.join(' ')}`, key[0], key[1], value);
  });
  for (const [what, table] of [
    ['names', handoffNames],
    ['lists', handoffRows],
  ] as const) {
    const rows = reader.count(table);
    if (rows !== found * 2) {
      problems.push(`${what} of handoffs: ${rows} rows instead of ${found * 2}`);
    }
  }
  return { handoffs: found, problems: [...problems, ...versions.problems()] };
}

function checkHandoff(
  reader: CheckedReader,
  accountId: string,
  id: number,
  handoff: HandoffRecord,
  problems: string[],
): void {
  const name = `handoff ${accountId} ${id}`;
  if (handoff.id !== id) problems.push(`${name}: the record has id ${handoff.id}`);
  if ((reader.get(handoffHeads, [accountId])?.handoff_id ?? 0) < id) {
    problems.push(`${name}: its id could be reused`);
  }
  for (const key of namesOf(accountId, handoff)) {
    if (reader.get(handoffNames, key)?.id !== id) problems.push(`${name}: not found by name`);
  }
  for (const key of rowsOf(accountId, handoff)) {
    if (reader.get(handoffRows, key)?.id !== id) problems.push(`${name}: is not in list ${key[1]}`);
  }
}
