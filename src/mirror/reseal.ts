/** Reseals the mirror credentials when the master key changes. */

import type { Batch } from '../store/group-commit.ts';
import type { Sealer } from '../store/sealing/seal.ts';
import { credentials } from './records.ts';

/** Returns the number of credentials. Throws when one does not open under the old key; nothing is written then. */
export function resealCredentials(batch: Batch, accountIds: readonly string[], from: Sealer, to: Sealer): number {
  let count = 0;
  for (const accountId of accountIds) {
    const record = batch.get(credentials, [accountId]);
    if (record === undefined) continue;
    const token = from.openDeterministic(accountId, 'mirror token', record.token);
    const secret = from.openRandom(accountId, 'mirror secret', record.hmac_secret);
    batch.put(credentials, [accountId], {
      ...record,
      token: to.sealDeterministic(accountId, 'mirror token', token),
      hmac_secret: to.sealRandom(accountId, 'mirror secret', secret),
    });
    count += 1;
  }
  return count;
}
