/** What an interrupted import left is removed from every table that has rows of its account, wherever the key says so. */
import { afterAll, expect, test } from 'vitest';
import { accountImports } from '../../src/accounts/records.ts';
import { recordCodec } from '../../src/store/codec.ts';
import { UPGRADE } from '../../src/store/owners.ts';
import { Store } from '../../src/store/store.ts';
import { type AnyTable, defineTable } from '../../src/store/table.ts';
import { vaults } from '../../src/sync/log/records.ts';
import { dropImports } from '../../src/transfer/leftovers.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

type Row = { readonly account_id?: string };

const byAccount = defineTable<[string, number], Row>('by_account', recordCodec(1), { account: 0 });
const byTime = defineTable<[number, string], Row>('by_time', recordCodec(1), { account: 1 });
const byMember = defineTable<[number], Row>('by_member', recordCodec(1), { account: { member: 'account_id' } });
const tables: readonly AnyTable[] = [accountImports, vaults, byAccount, byTime, byMember];

const store = new Store({ folder: temporaryFolder(), tables });
afterAll(() => store.close());

test('[OPS-13] the owners that a table declares decide which of its rows go, and rows of others stay', async () => {
  await store.write(UPGRADE, (batch): void => {
    batch.put(accountImports, ['acc_left'], { started_at: new Date(0).toISOString() });
    ['acc_left', 'acc_other'].forEach((accountId, at) => {
      batch.put(byAccount, [accountId, 1], {});
      batch.put(byTime, [1000, accountId], {});
      batch.put(byMember, [at], { account_id: accountId });
    });
  });
  expect(await dropImports(store, tables)).toBe(1);
  expect([byAccount, byTime, byMember, accountImports].map((table: AnyTable) => [...store.keys(table)])).toEqual([
    [['acc_other', 1]],
    [[1000, 'acc_other']],
    [[1]],
    [],
  ]);
  expect(await dropImports(store, tables)).toBe(0);
});
