/** Which rows an email finds. */
import { expect, test } from 'vitest';
import { emails, rowOfEmail } from '../../src/accounts/records.ts';
import { normalizeEmail } from '../../src/accounts/rules.ts';
import { UPGRADE } from '../../src/store/owners.ts';
import { Store } from '../../src/store/store.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test('[KEY-7] an email that an earlier version stored in Unicode form NFD is found in every spelling', async () => {
  const store = new Store({ folder: temporaryFolder(), tables: [emails] });
  const typed = 'Zoë@example.org';
  await store.write(UPGRADE, (batch) =>
    batch.put(emails, [typed.toLowerCase().normalize('NFD')], { account_id: 'acc_1' }),
  );
  const found = [typed, typed.normalize('NFD'), typed.toUpperCase()].map((one) =>
    rowOfEmail(store, normalizeEmail(one)),
  );
  expect(found).toEqual(Array(3).fill({ account_id: 'acc_1' }));
  expect(rowOfEmail(store, normalizeEmail('zoe@example.org'))).toBeUndefined();
  await store.close();
});
