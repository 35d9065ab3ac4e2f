/** Checks that every security event of an account belongs to one, and that those of the hub can be read. Read-only. */
import type { CheckedReader } from '../store/checked-reader.ts';
import { auditEvents, hubEvents } from './records.ts';

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
  // These outlive their accounts: a row that cannot be read is reported by the reader.
  reader.each(hubEvents, () => {
    events += 1;
  });
  return { events, problems };
}
