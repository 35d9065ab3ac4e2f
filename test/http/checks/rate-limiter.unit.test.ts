/** The rate limiter by itself, under a clock that the test moves: what it allows, and what it says of the future. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RateLimiter } from '../../../src/http/checks/gcra.ts';
import { limits } from '../../../src/limits/service.ts';
import { runs, seed } from '../../support/seed.ts';

/** The service's clock is monotonic; it has been up for twelve days. */
const START_MS = 1_000_000_000;
const rule = fc.record({ perMinute: fc.integer({ min: 1, max: 100_000 }), burst: fc.integer({ min: 1, max: 300 }) });
const call = fc.record({
  waitMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 20_000 }), fc.double({ min: 0, max: 50, noNaN: true })),
  cost: fc.integer({ min: 1, max: 20 }),
  caller: fc.constantFrom('a', 'b'),
});
const often = { seed, numRuns: runs(50) };

function limiter(given: { perMinute: number; burst: number }) {
  const clock = { ms: START_MS };
  return { clock, limiter: new RateLimiter(given, () => clock.ms) };
}

test(`[LIM-1] never more than the burst and what the time since then allows (seed ${seed})`, () => {
  fc.assert(
    fc.property(rule, fc.array(call, { maxLength: 60 }), (given, calls) => {
      const { clock, limiter: one } = limiter(given);
      const allowed: { atMs: number; cost: number }[] = [];
      for (const { waitMs, cost } of calls) {
        clock.ms += waitMs;
        if (one.take('a', cost)?.allowed === true) allowed.push({ atMs: clock.ms, cost });
      }
      for (let first = 0; first < allowed.length; first += 1) {
        let sum = 0;
        for (const { atMs, cost } of allowed.slice(first)) {
          sum += cost;
          const minutes = (atMs - (allowed[first]?.atMs ?? 0)) / 60_000;
          expect(sum).toBeLessThanOrEqual(given.burst + given.perMinute * minutes + 0.02);
        }
      }
    }),
    often,
  );
});

test(`[LIM-1] who was quiet gets the whole burst at once, and not one more (seed ${seed})`, () => {
  fc.assert(
    fc.property(rule, fc.double({ min: 0, max: 1e9, noNaN: true }), (given, laterMs) => {
      const { clock, limiter: one } = limiter(given);
      clock.ms += laterMs;
      const answers = Array.from({ length: given.burst + 1 }, () => one.take('a'));
      expect(answers.map((state) => state?.allowed)).toEqual([...Array(given.burst).fill(true), false]);
      expect(answers.map((state) => state?.remaining)).toEqual([...[...Array(given.burst).keys()].reverse(), 0]);
    }),
    often,
  );
});

test(`[LIM-1] refused calls do not count: without them all the others are decided the same (seed ${seed})`, () => {
  fc.assert(
    fc.property(rule, fc.array(call, { maxLength: 60 }), (given, calls) => {
      const all = limiter(given);
      const decided = calls.map(({ waitMs, cost, caller }) => {
        all.clock.ms += waitMs;
        return { atMs: all.clock.ms, cost, caller, state: all.limiter.take(caller, cost) };
      });
      const again = limiter(given);
      for (const { atMs, cost, caller, state } of decided.filter((one) => one.state?.allowed === true)) {
        again.clock.ms = atMs;
        expect(again.limiter.take(caller, cost)).toEqual(state);
      }
    }),
    often,
  );
});

test(`[LIM-1] what is told is true: as many as remain, and after the wait that was named (seed ${seed})`, () => {
  fc.assert(
    fc.property(rule, fc.array(call, { minLength: 1, maxLength: 30 }), (given, calls) => {
      const { clock, limiter: one } = limiter(given);
      let remaining = given.burst;
      for (const { waitMs, cost } of calls) {
        clock.ms += waitMs;
        const state = one.take('a', cost);
        if (state === undefined) throw new Error('the limit is on');
        expect([state.limit, state.remaining <= given.burst]).toEqual([given.burst, true]);
        remaining = state.remaining;
        if (state.allowed || cost > given.burst) continue;
        expect(state.retryAfterSeconds).toBeGreaterThan(0);
        clock.ms += state.retryAfterSeconds * 1000;
        const retried = one.take('a', cost);
        expect(retried?.allowed).toBe(true);
        remaining = retried?.remaining ?? 0;
      }
      if (remaining > 0) expect(one.take('a', remaining)?.allowed).toBe(true);
      expect(one.take('a')?.allowed).toBe(false);
    }),
    often,
  );
});

test(`[LIM-1] after the reset the burst is whole again (seed ${seed})`, () => {
  fc.assert(
    fc.property(rule, fc.array(call, { minLength: 1, maxLength: 30 }), (given, calls) => {
      const { clock, limiter: one } = limiter(given);
      for (const { cost } of calls) {
        const state = one.take('a', cost);
        clock.ms += (state?.resetSeconds ?? 0) * 1000;
        expect(one.take('a', given.burst)?.allowed).toBe(true);
        clock.ms += 60_000 * (given.burst / given.perMinute) + 1;
      }
    }),
    often,
  );
});

test('[LIM-1] one caller takes nothing from another', () => {
  const { limiter: one } = limiter({ perMinute: 60, burst: 2 });
  expect(['a', 'a', 'a', 'b', 'b', 'b'].map((caller) => one.take(caller)?.allowed)).toEqual([
    true,
    true,
    false,
    true,
    true,
    false,
  ]);
});

test('[LIM-1] a rate of 0 counts nothing', () => {
  const { limiter: one } = limiter({ perMinute: 0, burst: 1 });
  expect([1, 2, 3].map(() => one.take('a', 1000))).toEqual([undefined, undefined, undefined]);
});

test('[LIM-1] more callers than are remembered cost nobody who is still held back his wait', () => {
  const { clock, limiter: one } = limiter({ perMinute: 60, burst: 1 });
  for (let n = 0; n < 100_000; n += 1) one.take(`quiet ${n}`);
  clock.ms += 2000;
  one.take('busy');
  for (let n = 0; n < 1000; n += 1) one.take(`new ${n}`);
  expect(one.take('busy')?.allowed).toBe(false);
});

test('[LIM-1] of more callers than there is room for, those that are busiest are remembered', () => {
  const { limiter: one } = limiter({ perMinute: 60, burst: 2 });
  const busy = Array.from({ length: 1000 }, (_, index) => `busy ${index}`);
  for (const caller of busy) one.take(caller, 2);
  for (let index = 0; index < limits.rateSlots; index += 1) one.take(`quiet ${index}`);
  const refused = busy.filter((caller) => one.take(caller)?.allowed === false);
  expect(refused.length).toBeGreaterThan(900);
});
