/** Checks the changes of accounts: each is in the history of its item, and the totals are right. Read-only. */
import type { CheckedReader } from '../store/checked-reader.ts';
import { type ActivityHead, activityChanges, activityHeads, activityItems, charsOf } from './records.ts';

export interface ActivityReport {
  readonly changes: number;
  readonly problems: string[];
}

export function verifyActivity(
  reader: CheckedReader,
  { isAccount }: { readonly isAccount: (accountId: string) => boolean },
): ActivityReport {
  const problems: string[] = [];
  const totals = new Map<string, ActivityHead>();
  let changes = 0;
  reader.each(activityChanges, ({ key: [accountId, number], value }) => {
    changes += 1;
    const { rows, chars } = totals.get(accountId) ?? { rows: 0, chars: 0 };
    totals.set(accountId, { number, rows: rows + 1, chars: chars + charsOf(value) });
    if (!isAccount(accountId)) problems.push(`change ${number} of ${accountId}: account not found`);
    if (reader.get(activityItems, [accountId, value.kind, value.item, number]) === undefined) {
      problems.push(`change ${number} of ${accountId}: is not in the history of its item`);
    }
  });
  reader.eachKey(activityItems, ([accountId, kind, item, number]) => {
    if (reader.get(activityChanges, [accountId, number]) === undefined) {
      problems.push(`history of ${kind} ${item} of ${accountId}: change ${number} is missing`);
    }
  });
  reader.each(activityHeads, ({ key: [accountId], value }) => {
    const found = totals.get(accountId) ?? { number: 0, rows: 0, chars: 0 };
    totals.delete(accountId);
    if (value.rows !== found.rows || value.chars !== found.chars || value.number < found.number) {
      problems.push(`changes of ${accountId}: the totals do not match`);
    }
  });
  for (const accountId of totals.keys()) problems.push(`changes of ${accountId}: the totals are missing`);
  return { changes, problems };
}
