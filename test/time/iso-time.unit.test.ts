/** The one reader of ISO 8601 moments, against the language's own and against what no calendar has. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseIsoMs, readInstant } from '../../src/time/iso-time.ts';

const seed = Math.floor(Math.random() * 2 ** 31);

test(`[SYN-9, HLC-1] a moment in any zone and precision is read as the language reads it (seed ${seed})`, () => {
  const instants = fc.date({
    min: new Date('0100-01-02T00:00:00Z'),
    max: new Date('9998-12-30T00:00:00Z'),
    noInvalidDate: true,
  });
  const zones = fc.constantFrom('Z', '+00:00', '+09:00', '-23:59', '+05:30');
  const endings = fc.constantFrom('', ':07', ':07.1', ':07.12', ':07.123', ':59.999');
  fc.assert(
    fc.property(instants, zones, endings, (date, zone, ending) => {
      const text = `${date.toISOString().slice(0, 16)}${ending}${zone}`;
      const wanted = Date.parse(text);
      expect([text, readInstant(text)]).toEqual([text, wanted]);
      expect([text, parseIsoMs(text)]).toEqual([text, wanted < 0 ? undefined : wanted]);
    }),
    { seed },
  );
});

test('[SYN-9] a date alone is its midnight in UTC, a comma is a point, and what is finer than a millisecond is dropped', () => {
  expect(readInstant('2026-11-20')).toBe(Date.parse('2026-11-20T00:00:00Z'));
  expect(readInstant('0000-01-01')).toBe(Date.parse('0000-01-01T00:00:00Z'));
  expect(readInstant('2026-11-20T20:18:57,123Z')).toBe(Date.parse('2026-11-20T20:18:57.123Z'));
  expect(readInstant('2026-11-20T20:18:57.123456Z')).toBe(Date.parse('2026-11-20T20:18:57.123Z'));
  expect(parseIsoMs('2026-11-20T20:18:57.123456Z')).toBeCloseTo(Date.parse('2026-11-20T20:18:57.123Z') + 0.456, 3);
});

test.each([
  '2026-02-29',
  '2026-02-29T00:00Z',
  '2026-11-20T24:00Z',
  '2026-11-20T20:60Z',
  '2026-11-20T20:18:60Z',
  '2026-11-20T20:18:57',
  '2026-11-20T20:18:57+24:00',
  '2026-11-20T20:18:57+09:60',
  '2026-11-31T00:00Z',
  '2026-11-20T20Z',
  ' 2026-11-20',
  '2026-11-20\n',
  '',
])('[SYN-9] %j is not a moment', (text) => {
  expect([readInstant(text), parseIsoMs(text)]).toEqual([undefined, undefined]);
});
