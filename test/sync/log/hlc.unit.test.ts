/** Hybrid logical clocks: forms that are read, order, the hub's own clock, and what generated values must keep. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { limits } from '../../../src/limits/service.ts';
import {
  compareHlc,
  formatHlc,
  type Hlc,
  type HubClock,
  isTooFarAhead,
  parseHlc,
  raisedAbove,
  receiveTick,
  secondsAhead,
  sendTick,
  trusted,
} from '../../../src/sync/log/hlc.ts';
import { parseIsoMs } from '../../../src/time/iso-time.ts';
import { runs, seed } from '../../support/seed.ts';

const MS = Date.parse('2026-11-20T20:18:57.123Z');
const parsed = (text: string): Hlc | undefined => parseHlc(text, 'laptop');

const hex = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'.split('')), minLength: length, maxLength: length });
const hlc = fc.record({
  ms: fc.integer({ min: 0, max: 253_402_300_799_999 }),
  counter: fc.integer({ min: 0, max: 0xffff }),
  node: hex(16),
});
/** Close together, so that ties are common. */
const closeHlc = fc.record({
  ms: fc.integer({ min: 0, max: 2 }),
  counter: fc.integer({ min: 0, max: 2 }),
  node: hex(1),
});
const clock = fc.record({
  ms: fc.integer({ min: 0, max: 4_000_000_000_000 }),
  counter: fc.integer({ min: 0, max: 0xffff }),
});
const options = { seed, numRuns: runs(500) };

test('[HLC-1] every form that is read', () => {
  const node = '89e4f1c2a0b3d756';
  expect(parsed(`2026-11-20T20:18:57.123Z-0000-${node}`)).toEqual({ ms: MS, counter: 0, node });
  expect(parsed('2026-11-20T20:18:57.123Z-001f-my_Node.1-x')).toEqual({ ms: MS, counter: 31, node: 'my_Node.1-x' });
  expect(parsed(`2026-11-20T20:18:57Z-FFFF-${'n'.repeat(64)}`)).toMatchObject({ ms: MS - 123, counter: 0xffff });
  expect(parsed('2026-11-20T20:18:57.1Z-0000-n')?.ms).toBe(MS - 23);
  expect(parsed('2026-11-20T20:18:57.123456789123Z-0000-n')?.ms).toBe(MS + 0.456);
  expect(parsed('000000000000200-00000-node1')).toEqual({ ms: 200, counter: 0, node: 'node1' });
  expect(parsed('1795205937123:00042:b')).toEqual({ ms: 1_795_205_937_123, counter: 42, node: 'b' });
  const bare = parsed('2026-11-20T20:18:57.123Z');
  expect(bare).toEqual({ ms: MS, counter: 0, node: expect.stringMatching(/^[0-9a-f]{16}$/) });
  expect(parseHlc('2026-11-20T20:18:57.123Z', 'phone')?.node).not.toBe(bare?.node);
  expect(parsed('2026-11-21T05:18:57.123+09:00')?.ms).toBe(MS);
  for (const epoch of ['1795205937', '1795205937000', '1795205937000000', '1795205937000000000', '1795205937.0']) {
    expect([epoch, parsed(epoch)?.ms]).toEqual([epoch, 1_795_205_937_000]);
  }
});

test('[HLC-1] what is not a clock', () => {
  const wrong = [
    '',
    'now',
    '2026-11-20',
    '2026-11-20T20:18:57',
    '2026-11-20 20:18:57Z',
    '2026-13-20T20:18:57Z',
    '2026-02-29T20:18:57Z',
    '2026-11-20T24:00:00Z',
    '2026-11-20T20:18:60Z',
    '1969-12-31T23:59:59Z',
    '2026-11-20T20:18:57.123Z-',
    '2026-11-20T20:18:57.123Z-0000',
    '2026-11-20T20:18:57.123Z-0000-',
    '2026-11-20T20:18:57.123Z-000-n',
    '2026-11-20T20:18:57.123Z-00000-n',
    '2026-11-20T20:18:57.123Z-12zz-n',
    `2026-11-20T20:18:57.123Z-0000-${'n'.repeat(65)}`,
    '2026-11-20T20:18:57.123Z-0000-a b',
    '2026-11-20T20:18:57.123Z-0000-n\n',
    '1795205937123-65536-n',
    '999999999999999-0-n',
    '-1',
    '1e12',
    '0x10',
    '99999999999999999999',
  ];
  for (const text of wrong) expect([text, parsed(text)]).toEqual([text, undefined]);
});

test('[HLC-1] reading what was written gives the same, and byte order is the order of the clocks', () => {
  fc.assert(
    fc.property(hlc, (value) => {
      expect(parsed(formatHlc(value))).toEqual(value);
    }),
    options,
  );
  fc.assert(
    fc.property(fc.oneof(hlc, closeHlc), fc.oneof(hlc, closeHlc), (a, b) => {
      const [textA, textB] = [a, b].map(formatHlc) as [string, string];
      expect(Math.sign(compareHlc(a, b))).toBe(textA === textB ? 0 : textA < textB ? -1 : 1);
    }),
    options,
  );
});

test('[HLC-1] the order is total: antisymmetric and transitive', () => {
  fc.assert(
    fc.property(closeHlc, closeHlc, closeHlc, (a, b, c) => {
      expect(Math.sign(compareHlc(a, b))).toBe(0 - Math.sign(compareHlc(b, a)));
      if (compareHlc(a, b) <= 0 && compareHlc(b, c) <= 0) expect(compareHlc(a, c)).toBeLessThanOrEqual(0);
    }),
    options,
  );
});

test('[HLC-2] the hub clock rises with every event, above what it takes in, and never falls behind the time', () => {
  const node = 'h';
  fc.assert(
    fc.property(clock, fc.oneof(hlc, closeHlc), fc.integer({ min: 0, max: 4_000_000_000_000 }), (own, remote, now) => {
      const sent = sendTick(own, now);
      expect(compareHlc({ ...sent, node }, { ...own, node })).toBeGreaterThan(0);
      expect(sent.ms).toBeGreaterThanOrEqual(now);
      const received = receiveTick(own, remote, now);
      for (const below of [own, remote]) {
        expect(compareHlc({ ...received, node }, { ...below, node })).toBeGreaterThan(0);
      }
      expect(received.ms).toBeGreaterThanOrEqual(now);
      for (const { counter, ms } of [sent, received]) {
        expect(counter).toBeLessThanOrEqual(0xffff);
        expect(Number.isInteger(ms)).toBe(true);
      }
    }),
    options,
  );
});

test('[HLC-2] a full counter goes into the milliseconds', () => {
  expect(sendTick({ ms: 10, counter: 0xffff }, 5)).toEqual({ ms: 11, counter: 0 });
  expect(receiveTick({ ms: 3, counter: 0 }, { ms: 10, counter: 0xffff, node: 'n' }, 5)).toEqual({ ms: 11, counter: 0 });
  // Microseconds of a client are above the millisecond that they stand in.
  expect(receiveTick({ ms: 3, counter: 0 }, { ms: 9.5, counter: 7, node: 'n' }, 5)).toEqual({ ms: 10, counter: 8 });
});

test('[SYN-4] ISO times agree with the platform on every day there is', () => {
  fc.assert(
    fc.property(fc.date({ min: new Date(0), max: new Date(253_402_300_799_999), noInvalidDate: true }), (date) => {
      expect(parseIsoMs(date.toISOString())).toBe(date.getTime());
    }),
    options,
  );
});

test.each<[clock: HubClock, nowMs: number, after: HubClock]>([
  [{ ms: 10, counter: 7 }, 11, { ms: 11, counter: 0 }],
  [{ ms: 10, counter: 7 }, 10, { ms: 10, counter: 8 }],
  [{ ms: 10, counter: 7 }, 9, { ms: 10, counter: 8 }],
  [{ ms: 10, counter: 0xfffe }, 9, { ms: 10, counter: 0xffff }],
  [{ ms: 10, counter: 0xffff }, 11, { ms: 11, counter: 0 }],
])('[HLC-2] the clock %o at %i ms ticks to %o', (clock, nowMs, after) => {
  expect(sendTick(clock, nowMs)).toEqual(after);
});

test.each<[clock: HubClock, remoteMs: number, counter: number, nowMs: number, after: HubClock]>([
  [{ ms: 10, counter: 7 }, 10, 3, 12, { ms: 12, counter: 0 }],
  [{ ms: 10, counter: 7 }, 9, 3, 10, { ms: 10, counter: 8 }],
  [{ ms: 10, counter: 7 }, 11, 3, 10, { ms: 11, counter: 4 }],
  [{ ms: 10, counter: 7 }, 10, 3, 10, { ms: 10, counter: 8 }],
  [{ ms: 10, counter: 3 }, 10, 7, 10, { ms: 10, counter: 8 }],
  [{ ms: 10, counter: 3 }, 10.5, 7, 11, { ms: 11, counter: 8 }],
])('[HLC-2] the clock %o takes in %d ms, %i at %i ms: %o', (clock, ms, counter, nowMs, after) => {
  expect(receiveTick(clock, { ms, counter, node: 'n' }, nowMs)).toEqual(after);
});

test.each<[text: string, ms: number | undefined]>([
  ['99999999999', 99_999_999_999_000],
  ['100000000000', 100_000_000_000],
  ['99999999999999', 99_999_999_999_999],
  ['100000000000000', 100_000_000_000],
  ['99999999999999900', 99_999_999_999_999.9],
  ['100000000000000000', 100_000_000_000],
  ['253402300799999', 253_402_300_799.999],
  ['253402300799999-65535-n', 253_402_300_799_999],
  ['253402300800000-0-n', undefined],
  ['0', 0],
])('[HLC-1] the number %s is %s ms, by its magnitude', (text, ms) => {
  expect(parsed(text)?.ms).toBe(ms);
});

test.each<[aheadMs: number, seconds: number, tooFar: boolean]>([
  [0, 0, false],
  [-1500, -1.5, false],
  [limits.hlcAheadMsMax, limits.hlcAheadMsMax / 1000, false],
  [limits.hlcAheadMsMax + 1, limits.hlcAheadMsMax / 1000 + 0.001, true],
  [1.4, 0.001, false],
])('[HLC-2] a clock %d ms ahead is %d s ahead, too far: %s', (aheadMs, seconds, tooFar) => {
  const hlc = { ms: MS + aheadMs, counter: 0, node: 'n' };
  expect([secondsAhead(hlc, MS), isTooFarAhead(hlc, MS)]).toEqual([seconds, tooFar]);
});

test.each<[clock: HubClock, trustedClock: HubClock]>([
  [
    { ms: MS - 1, counter: 7 },
    { ms: MS - 1, counter: 7 },
  ],
  [
    { ms: MS + limits.hlcAheadMsMax, counter: 7 },
    { ms: MS + limits.hlcAheadMsMax, counter: 7 },
  ],
  [
    { ms: MS + limits.hlcAheadMsMax + 1, counter: 7 },
    { ms: MS, counter: 0 },
  ],
])('[OPS-31] of the clock %o of a vault, %o decides', (clock, trustedClock) => {
  expect(trusted(clock, MS)).toEqual(trustedClock);
});

test.each<[other: Hlc, raised: HubClock]>([
  [
    { ms: MS - 1, counter: 9, node: 'n' },
    { ms: MS, counter: 3 },
  ],
  [
    { ms: MS, counter: 2, node: 'n' },
    { ms: MS, counter: 3 },
  ],
  [
    { ms: MS, counter: 3, node: 'n' },
    { ms: MS, counter: 4 },
  ],
  [
    { ms: MS + 5, counter: 1, node: 'n' },
    { ms: MS + 5, counter: 2 },
  ],
])('[OPS-31] a version after %o gets the clock %o', (other, raised) => {
  expect(raisedAbove({ ms: MS, counter: 3 }, other)).toEqual(raised);
});
