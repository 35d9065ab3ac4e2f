/** The two limits of a call, under a clock that the test moves. */
import { expect, test } from 'vitest';
import { CallRates } from '../../../src/http/checks/call-rates.ts';

/** Twelve a minute per key, four at once; 24 per account, eight at once. */
function rates(callsPerMinute = 12, accountCallsPerMinute = 24) {
  const clock = { ms: 1_000_000_000 };
  const one = new CallRates({ callsPerMinute, accountCallsPerMinute }, () => clock.ms);
  const take = (credential: string, accountId: string | undefined, cost = 1) =>
    one.take({ credential, accountId }, cost, cost);
  return { clock, one, take };
}

const row = (state: ReturnType<CallRates['take']>) => state && [state.allowed, state.limit, state.remaining];

test.each([
  { of: 'both are off', perKey: 0, perAccount: 0, expected: undefined },
  { of: 'only the account is limited', perKey: 0, perAccount: 24, expected: [true, 8, 7] },
  { of: 'only the key is limited', perKey: 12, perAccount: 0, expected: [true, 4, 3] },
  { of: 'the key has less left', perKey: 12, perAccount: 24, expected: [true, 4, 3] },
  { of: 'the account has less left', perKey: 24, perAccount: 12, expected: [true, 4, 3] },
])('[LIM-3] the first call when $of', ({ perKey, perAccount, expected }) => {
  expect(row(rates(perKey, perAccount).take('key', 'account'))).toEqual(expected);
});

test('[LIM-3] further keys get what the account has left, and other accounts lose nothing', () => {
  const { take } = rates();
  expect(row(take('a', 'one', 4))).toEqual([true, 4, 0]);
  expect(row(take('b', 'one', 3))).toEqual([true, 4, 1]);
  expect(row(take('c', 'one', 2))).toEqual([false, 8, 1]);
  expect(row(take('d', 'two', 4))).toEqual([true, 4, 0]);
});

test('[LIM-3] a call that one limit refuses counts for neither', () => {
  const { take } = rates();
  take('a', 'one', 4);
  for (let n = 0; n < 5; n += 1) expect(take('a', 'one')?.allowed).toBe(false);
  expect(row(take('b', 'one', 4))).toEqual([true, 4, 0]);
  for (let n = 0; n < 5; n += 1) expect(row(take('c', 'one'))).toEqual([false, 8, 0]);
  expect(row(take('c', 'another', 4))).toEqual([true, 4, 0]);
});

test('[LIM-3] a caller without a credential has one limit', () => {
  const { take, one } = rates();
  expect(row(take('203.0.113.7', undefined, 4))).toEqual([true, 4, 0]);
  expect(take('203.0.113.7', undefined)?.allowed).toBe(false);
  expect(one.costMax).toBe(4);
});
