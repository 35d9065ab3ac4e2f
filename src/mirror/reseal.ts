/** Reseals the mirror credentials when the master key changes. */

import type { Batch } from '../store/group-commit.ts';
import type { Sealer } from '../store/sealing/seal.ts';
import { credentials, uploaders } from './records.ts';

/** Returns the number of credentials. Throws when one does not open under the old key; nothing is written then. */
export function resealCredentials(batch: Batch, accountIds: readonly string[], from: Sealer, to: Sealer): number {
  let count = 0;
  const secretUnder = (accountId: string, sealed: Uint8Array) =>
    to.sealRandom(accountId, 'mirror secret', from.openRandom(accountId, 'mirror secret', sealed));
  for (const accountId of accountIds) {
    const record = batch.get(credentials, [accountId]);
    if (record === undefined) continue;
    const token = from.openDeterministic(accountId, 'mirror token', record.token);
    batch.put(credentials, [accountId], {
      ...record,
      token: to.sealDeterministic(accountId, 'mirror token', token),
      hmac_secret: secretUnder(accountId, record.hmac_secret),
    });
    count += 1;
    for (const { key, value } of batch.range(uploaders, { prefix: [accountId] })) {
      if (value.hmac_secret === undefined) continue;
      batch.put(uploaders, key, { ...value, hmac_secret: secretUnder(accountId, value.hmac_secret) });
      count += 1;
    }
  }
  return count;
}
