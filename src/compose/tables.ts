/** Lists every table of the data file. */
import { accountTables } from '../accounts/records.ts';
import { signInTables } from '../accounts/sign-in/records.ts';
import { signUpTables } from '../accounts/sign-up/records.ts';
import { standingTables } from '../accounts/standing/records.ts';
import { activityTables } from '../activity/records.ts';
import { onceTables } from '../actors/once/records.ts';
import { auditTables } from '../audit/records.ts';
import { devDocTables } from '../documents/dev-docs/records.ts';
import { handoffTables } from '../documents/handoffs/records.ts';
import { paperTables } from '../documents/papers/records.ts';
import { versionTables } from '../documents/records.ts';
import { webhookTables } from '../events/webhooks/records.ts';
import { mirrorTables } from '../mirror/records.ts';
import { oauthTables } from '../oauth/records.ts';
import { usageTables } from '../quotas/usage.ts';
import { replicationTables } from '../store/logged/place.ts';
import { metaTables } from '../store/meta/meta.ts';
import type { AnyTable } from '../store/table.ts';
import { syncTables } from '../sync/log/records.ts';
import { taskTables } from '../tasks/records.ts';

export const allTables: readonly AnyTable[] = [
  ...metaTables,
  ...replicationTables,
  ...accountTables,
  ...signUpTables,
  ...auditTables,
  ...activityTables,
  ...onceTables,
  ...standingTables,
  ...usageTables,
  ...signInTables,
  ...oauthTables,
  ...mirrorTables,
  ...taskTables,
  ...versionTables,
  ...devDocTables,
  ...handoffTables,
  ...paperTables,
  ...syncTables,
  ...webhookTables,
];
