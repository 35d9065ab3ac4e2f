/** Rates of addresses in their networks. */
import { expect, test } from 'vitest';
import { NetworkLimiter } from '../../../src/http/checks/network-limiter.ts';
import { guessersAt, WrongTries } from '../../../src/http/checks/wrong-tries.ts';

const RULE = { perMinute: 60, burst: 4 };
const address = (subnet: number) => `2001:db8:0:${subnet.toString(16)}::1`;

function limiter() {
  const clock = { ms: 0 };
  return { clock, calls: new NetworkLimiter(RULE, () => clock.ms) };
}

/** How many of these calls, at one moment, are allowed. */
const allowed = (calls: NetworkLimiter, callers: readonly string[]) =>
  callers.filter((caller) => calls.take(caller)?.allowed).length;

const times = (count: number, caller: (n: number) => string) => Array.from({ length: count }, (_, n) => caller(n));

test.each([
  ['one address', times(20, () => address(1)), 4],
  ['one /64', times(20, (n) => `2001:db8:0:1::${n + 1}`), 4],
  ['one /56', times(256, address), 8],
  ['one /48', times(4096, (n) => address(n * 16)), 16],
  ['IPv4 neighbours', times(20, (n) => `192.0.2.${n}`), 20],
  ['keys', times(20, (n) => `key_${n}`), 20],
])('[LIM-4] %s: so many calls at once', (_, callers, most) => {
  expect(allowed(limiter().calls, callers)).toBe(most);
});

test('[LIM-4] a network at its limit keeps no other from calling, and gets as many again as its share of the rate', () => {
  const { calls, clock } = limiter();
  allowed(calls, times(256, address));
  expect(
    allowed(
      calls,
      times(256, (n) => `2001:db8:0:${(0x100 + n).toString(16)}::1`),
    ),
  ).toBe(8);
  expect(
    allowed(
      calls,
      times(9, () => '2001:db8:1::1'),
    ),
  ).toBe(4);
  expect(allowed(calls, ['192.0.2.1'])).toBe(1);
  clock.ms += 1000;
  expect(allowed(calls, times(256, address))).toBe(2);
});

test('[LIM-4] a call that a wider network refuses is counted in none', () => {
  const { calls, clock } = limiter();
  allowed(
    calls,
    times(8, (n) => address(n)),
  );
  const refused = calls.take(address(200));
  expect(refused).toMatchObject({ allowed: false, limit: 8, remaining: 0, retryAfterSeconds: 1 });
  for (let n = 0; n < 100; n += 1) calls.take(address(200));
  clock.ms += 60_000;
  expect(
    allowed(
      calls,
      times(20, () => address(200)),
    ),
  ).toBe(4);
});

test('[LIM-4] the caller is told of the network that is nearest to its limit', () => {
  const { calls } = limiter();
  expect(calls.take(address(1))).toMatchObject({ allowed: true, limit: 4, remaining: 3 });
  allowed(
    calls,
    times(6, (n) => address(n + 2)),
  );
  expect(calls.take(address(9))).toMatchObject({ allowed: true, limit: 8, remaining: 0 });
});

test('[LIM-4] kinds are counted apart, and 0 turns the limit off', () => {
  const { calls } = limiter();
  const kinds = ['a', 'b'].map((kind) =>
    times(9, () => kind).filter((one) => calls.take('::1', { kind: one })?.allowed),
  );
  expect(kinds.map(({ length }) => length)).toEqual([4, 4]);
  expect(new NetworkLimiter({ perMinute: 0, burst: 0 }, () => 0).take('::1')).toBeUndefined();
});

test('[LIM-4] wrong tries count in each network of the address', () => {
  const wrong = new WrongTries({ triesMax: 3, windowMs: 1000, now: () => 0 });
  const outcome = (from: string) => {
    try {
      wrong.check(guessersAt(from, 'x'));
      wrong.add(guessersAt(from, 'x'));
      return true;
    } catch {
      return false;
    }
  };
  expect(times(5, () => '192.0.2.1').filter(outcome).length).toBe(3);
  expect(times(256, address).filter(outcome).length).toBe(6);
  expect(times(200, (n) => address((n + 1) * 256)).filter(outcome).length).toBe(6);
  expect(outcome('2001:db8:1::1')).toBe(true);
});
