/** Who gets how much time, with work whose cost the test decides. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FairCallers } from '../../src/common/fair/fair-callers.ts';
import { FairTime } from '../../src/common/fair/fair-time.ts';
import { runs, seed } from '../support/seed.ts';

/** Serves items, each of which costs what it says; returns the callers in order. */
function serve(queue: Pick<FairTime<number>, 'next' | 'charge'>, count = Number.POSITIVE_INFINITY): string[] {
  const order: string[] = [];
  while (order.length < count) {
    const next = queue.next();
    if (next === undefined) break;
    queue.charge(next.caller, next.item);
    order.push(next.caller);
  }
  return order;
}

function filled(pushes: Readonly<Record<string, readonly number[]>>): FairTime<number> {
  const queue = new FairTime<number>();
  for (const [caller, costs] of Object.entries(pushes)) for (const cost of costs) queue.push(caller, cost);
  return queue;
}

const q = 0.5;

test.each([
  { of: 'one caller', pushes: { a: [q, q, q] }, order: 'aaa' },
  { of: 'equal costs', pushes: { a: [q, q, q], b: [q, q] }, order: 'ababa' },
  { of: 'many cheap pieces against few dear ones', pushes: { a: [2 * q, 2 * q], b: [q, q, q] }, order: 'abbab' },
  { of: 'two short pieces against one', pushes: { a: [q / 2, q / 2, q / 2], b: [q] }, order: 'abaa' },
  { of: 'a piece of ten', pushes: { a: [10 * q, q], b: Array(10).fill(q) }, order: 'abbbbbbbbbba' },
  { of: 'nobody', pushes: {}, order: '' },
])('[NET-15] order of turns: $of', ({ pushes, order }) => {
  expect(serve(filled(pushes as Record<string, number[]>)).join('')).toBe(order);
});

test('[NET-15] a caller without recent work goes before all who had some', () => {
  const queue = filled({ a: Array(50).fill(q), b: Array(50).fill(q) });
  serve(queue, 20);
  queue.push('small', q / 10);
  expect(queue.next()?.caller).toBe('small');
});

test('[NET-15] one that comes back again and again goes first while it uses less than the others', () => {
  const queue = filled({ a: Array(50).fill(q), b: Array(50).fill(q) });
  serve(queue, 4);
  for (let round = 0; round < 10; round += 1) {
    expect(queue.isFirst('small')).toBe(true);
    queue.push('small', q / 10);
    expect(serve(queue, 3)[0]).toBe('small');
  }
});

test('[NET-15] one without recent work does not overtake another that waits', () => {
  const queue = filled({ a: Array(50).fill(q) });
  serve(queue, 4);
  queue.push('earlier', q);
  expect(queue.isFirst('later')).toBe(false);
  serve(queue, 1);
  expect(queue.isFirst('later')).toBe(true);
});

test('[NET-15] one that used as much as the others is not first again', () => {
  const queue = filled({ a: Array(50).fill(q), b: Array(50).fill(q) });
  serve(queue, 4);
  queue.charge('small', 2 * q);
  expect(queue.isFirst('small')).toBe(false);
  queue.push('small', q);
  expect(serve(queue, 3).join(' ')).toBe('a b small');
  expect(queue.isFirst('a')).toBe(false);
});

test('[NET-15] work done without waiting counts', () => {
  const queue = new FairTime<number>();
  queue.charge('a', 5 * q);
  queue.push('a', q);
  queue.push('b', q);
  queue.push('b', q);
  expect(serve(queue).join('')).toBe('bba');
  queue.charge('a', 5 * q);
  queue.forget();
  queue.push('a', q);
  queue.push('b', q);
  expect(serve(queue).join('')).toBe('ab');
});

test('[NET-15] while one caller waits all the time, those who came and went are forgotten', () => {
  const queue = new FairTime<number>();
  for (let at = 0; at < 10_000; at += 1) {
    queue.push('busy', q);
    queue.push('busy', q);
    // Half of them work without waiting, and with a debt.
    if (at % 2 === 0) queue.push(`passing ${at}`, q);
    else queue.charge(`passing ${at}`, 4 * q);
    serve(queue, 2);
  }
  expect(queue.callers).toBeLessThan(100);
});

test(`[NET-15] callers who always want more get equal time, to one piece (seed ${seed})`, () => {
  const costs = fc.double({ min: 0.01, max: 3 * q, noNaN: true });
  fc.assert(
    fc.property(
      fc.array(fc.array(costs, { minLength: 1, maxLength: 5 }), { minLength: 2, maxLength: 6 }),
      (callers) => {
        const queue = new FairTime<number>();
        const spent = callers.map(() => 0);
        const most = Math.max(...callers.flat());
        const wanted = callers.map(() => 0);
        const want = (at: number) => {
          const list = callers[at] as number[];
          queue.push(String(at), list[(wanted[at] as number) % list.length] as number);
          wanted[at] = (wanted[at] as number) + 1;
        };
        for (const at of callers.keys()) for (let n = 0; n < 3; n += 1) want(at);
        for (let served = 0; served < 300; served += 1) {
          const { caller, item } = queue.next() as { caller: string; item: number };
          queue.charge(caller, item);
          spent[Number(caller)] = (spent[Number(caller)] as number) + item;
          want(Number(caller));
          expect(Math.max(...spent) - Math.min(...spent)).toBeLessThanOrEqual(most + 1e-6);
        }
      },
    ),
    { seed, numRuns: runs(50) },
  );
});

test(`[NET-15] a first item waits for one piece of those who came before it without recent work (seed ${seed})`, () => {
  const costs = fc.array(fc.double({ min: 0.01, max: 2 * q, noNaN: true }), { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(fc.array(costs, { maxLength: 5 }), fc.nat(60), (callers, before) => {
      const queue = new FairTime<number>();
      for (const [at, list] of callers.entries()) for (const cost of list) queue.push(`greedy ${at}`, cost);
      const total = callers.flat().length;
      const served = new Set(serve(queue, Math.min(before, total)));
      queue.push('small', 0.1);
      const waited = serve(queue, 1 + total);
      const ahead = waited.slice(0, waited.indexOf('small'));
      expect(new Set(ahead).size).toBe(ahead.length);
      for (const caller of ahead) expect(served).not.toContain(caller);
    }),
    { seed, numRuns: runs(100) },
  );
});

test(`[NET-15] nothing is lost, and each caller is served in its own order (seed ${seed})`, () => {
  const push = fc.record({ caller: fc.nat(4), cost: fc.double({ min: 0, max: 200, noNaN: true }), serve: fc.nat(2) });
  fc.assert(
    fc.property(fc.array(push, { maxLength: 100 }), (pushes) => {
      const queue = new FairTime<{ at: number; cost: number }>();
      const served: { caller: string; at: number }[] = [];
      const one = () => {
        const next = queue.next();
        if (next === undefined) return false;
        queue.charge(next.caller, next.item.cost);
        served.push({ caller: next.caller, at: next.item.at });
        return true;
      };
      for (const [at, { caller, cost, serve: count }] of pushes.entries()) {
        queue.push(String(caller), { at, cost });
        for (let n = 0; n < count; n += 1) one();
      }
      while (one());
      expect(queue.size).toBe(0);
      expect(served.length).toBe(pushes.length);
      for (const caller of new Set(served.map((entry) => entry.caller))) {
        const order = served.filter((entry) => entry.caller === caller).map(({ at }) => at);
        expect(order).toEqual(order.toSorted((a, b) => a - b));
      }
    }),
    { seed, numRuns: runs(100) },
  );
});

test('[NET-15] strangers of many networks together get the time of one account, and divide it', () => {
  const queue = new FairCallers<number>();
  for (let at = 0; at < 64; at += 1) for (let n = 0; n < 10; n += 1) queue.push(`198.18.${at}.1`, q);
  for (let n = 0; n < 100; n += 1) queue.push('account', q);
  const order = serve(queue, 128);
  expect(order.filter((caller) => caller === 'account').length).toBe(64);
  expect(new Set(order).size).toBe(65);
});
