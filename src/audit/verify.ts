/** Checks that every security event belongs to an account. Read-only. */
import type { CheckedReader } from '../store/checked-reader.ts';
import { auditEvents } from './records.ts';

export interface AuditReport {
  readonly events: number;
  readonly problems: string[];
}

export function verifyAudit(
  reader: CheckedReader,
  { isAccount }: { readonly isAccount: (accountId: string) => boolean },
): AuditReport {
  const problems: string[] = [];
  let events = 0;
  reader.each(auditEvents, ({ key }) => {
    events += 1;
    if (!isAccount(key[0])) problems.push(`security event ${key[2]} of ${key[0]}: account not found`);
  });
  return { events, problems };
}
