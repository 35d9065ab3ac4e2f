/** Shares of a bound, over every order of taking and giving back. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Caller, type Lease, Shares } from '../../src/common/shares.ts';
import { seed } from '../support/seed.ts';

const REFUSED = { fault: { kind: 'overloaded', what: 'too much', retryAfterSeconds: 1 } };
const sharesOf = (max: number) => new Shares({ max, what: 'too much', retryAfterSeconds: 1 });
const caller = (account: number, address: number): Caller => ({
  accountId: `a${account}`,
  address: `10.0.0.${address}`,
});

/** Takes one at a time until it is refused; returns how many it got. */
function takeAll(shares: Shares, who: Caller): number {
  let count = 0;
  try {
    for (;;) {
      shares.take(who);
      count += 1;
    }
  } catch (error) {
    expect(error).toMatchObject(REFUSED);
    return count;
  }
}

test('[NET-11] one account alone may hold three quarters; beyond that there is room for accounts and addresses that hold little', () => {
  const shares = sharesOf(1600);
  expect(takeAll(shares, caller(1, 1))).toBe(1200);
  // Other accounts of the same address share an eighth, each at most a sixteenth.
  expect(takeAll(shares, caller(2, 1))).toBe(100);
  expect(takeAll(shares, caller(3, 1))).toBe(100);
  expect(takeAll(shares, caller(4, 1))).toBe(0);
  // The last eighth is for other addresses, however many accounts each has.
  expect(takeAll(shares, caller(5, 2)) + takeAll(shares, caller(6, 2))).toBe(100);
  expect(takeAll(shares, caller(7, 3))).toBe(100);
  expect(takeAll(shares, caller(8, 4))).toBe(0);
  expect(shares.state).toEqual({ used: 1600, max: 1600, refused: 8 });
});

test('[NET-11] an address without an account has the share of an address', () => {
  const shares = sharesOf(1600);
  expect(takeAll(shares, { address: '10.0.0.1' })).toBe(1200);
  expect(takeAll(shares, { address: '10.0.0.1' })).toBe(0);
  expect(takeAll(shares, { address: '10.0.0.2' })).toBe(100);
  // An account there is one of many behind that address.
  expect(takeAll(shares, caller(1, 1))).toBe(100);
});

test.each([1, 2, 3, 4, 7])('[NET-11] a bound of %i still serves one caller', (max) => {
  const shares = sharesOf(max);
  const release = shares.take(caller(1, 1));
  release();
  release();
  expect(shares.state.used).toBe(0);
  expect(takeAll(shares, caller(1, 1))).toBeGreaterThanOrEqual(1);
});

test('[NET-11] whoever holds little finds room, and sums are exact after any interleaving', () => {
  const step = fc.record({
    account: fc.nat(3),
    address: fc.nat(2),
    amount: fc.integer({ min: 1, max: 700 }),
    what: fc.constantFrom('take', 'hold', 'release'),
    which: fc.nat(20),
  });
  fc.assert(
    fc.property(fc.integer({ min: 16, max: 4000 }), fc.array(step, { maxLength: 80 }), (max, steps) => {
      const shares = sharesOf(max);
      const leases: { lease: Lease; held: number; who: string }[] = [];
      for (const { account, address, amount, what, which } of steps) {
        const at = leases.length === 0 ? -1 : which % leases.length;
        const one = leases[at];
        const who = caller(account, address);
        try {
          if (what === 'take') leases.push({ lease: shares.lease(who, amount), held: amount, who: String(address) });
          else if (what === 'hold' && one !== undefined) {
            one.lease.hold(amount);
            one.held = amount;
          } else if (one !== undefined) {
            one.lease.release();
            leases.splice(at, 1);
          }
        } catch (error) {
          expect(error).toMatchObject(REFUSED);
        }
        const used = leases.reduce((sum, { held }) => sum + held, 0);
        expect(shares.state.used).toBe(used);
        expect(used).toBeLessThanOrEqual(max);
        // One address, however many accounts it has, leaves room for the next.
        const others = new Set(leases.map((held) => held.who)).size;
        const little = Math.max(1, Math.floor(max / 16));
        if (others <= 1) expect(shares.fits(caller(9, 9), little)).toBe(true);
      }
      for (const { lease } of leases) lease.release();
      for (const { lease } of leases) lease.hold(5);
      expect(shares.state.used).toBe(0);
      expect(shares.holders).toBe(0);
    }),
    { seed, numRuns: 500 },
  );
});
