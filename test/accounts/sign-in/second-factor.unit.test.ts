/** Guessing codes of a second factor, many at once. */
import { TOTP } from 'otpauth';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SecondFactors } from '../../../src/accounts/sign-in/second-factor.ts';
import { ActorRegistry } from '../../../src/actors/registry.ts';
import { auditSourceOf } from '../../../src/audit/note.ts';
import type { Refusal } from '../../../src/common/fault.ts';
import { allTables } from '../../../src/compose/tables.ts';
import { limits } from '../../../src/limits/service.ts';
import { createSealer } from '../../../src/store/sealing/seal.ts';
import { Store } from '../../../src/store/store.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

let store: Store;
let actors: ActorRegistry;

beforeEach(() => {
  store = new Store({ folder: temporaryFolder(), tables: allTables });
  actors = new ActorRegistry(store);
});

afterEach(async () => {
  await actors.drain();
  await store.close();
});

test('[AUTH-3] wrong codes that are sent at once are counted as if they came one after another', async () => {
  const timestamp = 1_800_000_000_000;
  const factors = new SecondFactors({ store, actors, sealer: createSealer(new Uint8Array(32)), now: () => timestamp });
  const { secret } = await factors.begin('acc_1', 'two@example.org');
  const right = new TOTP({ secret }).generate({ timestamp });
  const wrong = right === '000000' ? '111111' : '000000';
  const from = (address: string) => auditSourceOf('user', address, undefined);
  await factors.confirm('acc_1', right, from('192.0.2.1'));
  const kinds = async (tries: readonly Promise<void>[]) =>
    (await Promise.allSettled(tries)).map((tried) =>
      tried.status === 'rejected' ? (tried.reason as Refusal).fault.kind : 'taken',
    );
  const guessed = await kinds(Array.from({ length: 40 }, () => factors.use('acc_1', wrong, from('192.0.2.2'))));
  expect(guessed).toEqual([
    ...Array(limits.codeTriesMax).fill('invalid_fields'),
    ...Array(40 - limits.codeTriesMax).fill('rate_limited'),
  ]);
  const spread = await kinds(
    Array.from({ length: 40 }, (_, at) => factors.use('acc_1', wrong, from(`198.51.100.${at}`))),
  );
  const left = limits.codeTriesOfAccountMax - limits.codeTriesMax;
  expect(spread.filter((kind) => kind === 'invalid_fields').length).toBe(left);
  expect(spread.filter((kind) => kind === 'rate_limited').length).toBe(40 - left);
});
