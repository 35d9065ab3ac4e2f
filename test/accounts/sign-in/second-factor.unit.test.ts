/** Guessing codes of a second factor, many at once. */
import { TOTP } from 'otpauth';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isSecondFactorRequired } from '../../../src/accounts/rules.ts';
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

const openFactors = (now: () => number, isRequired = false) =>
  new SecondFactors({ store, actors, sealer: createSealer(new Uint8Array(32)), isRequired: () => isRequired, now });

test('[AUTH-3] wrong codes that are sent at once are counted as if they came one after another', async () => {
  const timestamp = 1_800_000_000_000;
  const factors = openFactors(() => timestamp);
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

test('[AUTH-3, KEY-10] who uses up the tries of an account keeps neither a known browser nor a recovery code out', async () => {
  let nowMs = 1_800_000_000_000;
  const factors = openFactors(() => nowMs);
  const { secret } = await factors.begin('acc_1', 'two@example.org');
  const right = () => new TOTP({ secret }).generate({ timestamp: nowMs });
  const from = (address: string) => auditSourceOf('user', address, undefined);
  const [first = ''] = await factors.confirm('acc_1', right(), from('192.0.2.1'));
  nowMs += 60_000;
  const wrong = right() === '000000' ? '111111' : '000000';
  const outcome = (tried: Promise<void>) =>
    tried.then(
      () => 'taken',
      (error: unknown) => (error as Refusal).fault.kind,
    );
  for (let n = 0; n < limits.codeTriesOfAccountMax; n += 1) {
    expect(await outcome(factors.use('acc_1', wrong, from(`198.51.100.${n % 4}`)))).toBe('invalid_fields');
  }
  expect(await outcome(factors.use('acc_1', right(), from('203.0.113.1')))).toBe('rate_limited');
  expect(await outcome(factors.use('acc_1', first, from('203.0.113.1')))).toBe('taken');
  expect(await outcome(factors.use('acc_1', first, from('203.0.113.1')))).toBe('rate_limited');
  expect(await outcome(factors.use('acc_1', right(), from('203.0.113.1'), 'browser'))).toBe('taken');
  // A known browser has tries of its own; then it counts as any other.
  for (let n = 0; n < limits.codeTriesMax; n += 1) {
    expect(await outcome(factors.use('acc_1', wrong, from('203.0.113.2'), 'guessing'))).toBe('invalid_fields');
  }
  nowMs += 30_000;
  expect(await outcome(factors.use('acc_1', right(), from('203.0.113.2'), 'guessing'))).toBe('rate_limited');
});

test('[KEY-10] a second factor that is required is set up first, and stays on', async () => {
  const nowMs = 1_800_000_000_000;
  const factors = openFactors(() => nowMs, true);
  expect(factors.mustSetUp('acc_1')).toBe(true);
  const { secret } = await factors.begin('acc_1', 'two@example.org');
  expect(factors.mustSetUp('acc_1')).toBe(true);
  const source = auditSourceOf('user', '192.0.2.1', undefined);
  await factors.confirm('acc_1', new TOTP({ secret }).generate({ timestamp: nowMs }), source);
  expect([factors.mustSetUp('acc_1'), openFactors(() => nowMs).mustSetUp('acc_2')]).toEqual([false, false]);
  await expect(factors.turnOff('acc_1', source)).rejects.toThrow('this hub requires two-factor sign-in');
  await openFactors(() => nowMs).turnOff('acc_1', source);
});

test.each([
  ['off', false, false],
  ['off', true, false],
  ['operators', false, false],
  ['operators', true, true],
  ['everybody', false, true],
  ['everybody', true, true],
] as const)('[KEY-10] required of %s: an operator (%s) must have it: %s', (rule, isOperator, isRequired) => {
  expect(isSecondFactorRequired(rule, { isOperator })).toBe(isRequired);
});
