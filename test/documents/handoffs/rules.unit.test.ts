/** The decisions about handoffs, each rule a row. */
import { expect, test } from 'vitest';
import type { HandoffRecord } from '../../../src/documents/handoffs/declared.ts';
import { handoffKind } from '../../../src/documents/handoffs/kind.ts';
import {
  decideNew,
  decideReplace,
  type HandoffName,
  handoffScope,
  isPlace,
  nameKeys,
  placeOf,
} from '../../../src/documents/handoffs/rules.ts';

const T0 = '2026-11-20T12:00:00.000Z';
const MS = Date.parse(T0);
const NAME: HandoffName = { project: 'Cairn', topic: 'Release', date: '2026-11-20', time: '0930' };
const FACTS = { size_bytes: 3, json_bytes: 5, preview: 'abc' };

const saved: HandoffRecord = { id: 7, ...NAME, version: 1, ...FACTS, created_at: T0, updated_at: T0 };

test.each<[string, { handoff_id: number } | undefined, number]>([
  ['the first', undefined, 1],
  ['the next', { handoff_id: 6 }, 7],
])('[HAND-1] a new handoff: %s', (_, head, id) => {
  expect(decideNew(NAME, FACTS, head, MS, 'phone')).toEqual({
    handoff: { ...saved, id, changed_by: 'phone' },
    head: { handoff_id: id },
  });
});

test('[HAND-1] a replaced handoff has the next version, the new spelling, and no earlier time', () => {
  const name = { ...NAME, project: 'CAIRN' };
  const facts = { ...FACTS, preview: 'new' };
  const expected = { ...saved, ...name, ...facts, version: 2 };
  expect(decideReplace({ ...saved, changed_by: 'laptop' }, name, facts, MS - 1000)).toEqual(expected);
  expect(decideReplace(saved, name, facts, MS + 1, 'phone')).toEqual({
    ...expected,
    updated_at: '2026-11-20T12:00:00.001Z',
    changed_by: 'phone',
  });
});

test.each<[Partial<HandoffName>, string, string, string]>([
  [{}, 'cairn', 'd2026-11-20 0930', 't0930 2026-11-20'],
  [{ project: ' CAIRN ' }, 'cairn', 'd2026-11-20 0930', 't0930 2026-11-20'],
  [{ project: 'E\u0301tude' }, '\u00e9tude', 'd2026-11-20 0930', 't0930 2026-11-20'],
  [{ time: null }, 'cairn', 'd2026-11-20 ----', 't---- 2026-11-20'],
])('[HAND-1] a handoff is found by date and by time, in any case (%#)', (other, project, byDate, byTime) => {
  expect(nameKeys({ ...NAME, ...other })).toEqual([
    [project, 'release', byDate],
    [project, 'release', byTime],
  ]);
});

test('[HAND-3] handoffs sort by date, then time, then number; one without a time is the first of its day', () => {
  const places = [
    { ...saved, date: '2026-11-19', time: '2359' },
    { ...saved, time: null },
    { ...saved, time: '0000' },
    { ...saved, id: 9 },
    { ...saved, id: 10 },
  ].map(placeOf);
  expect(places).toEqual([...places].sort());
  expect(places.every(isPlace)).toBe(true);
});

test.each([
  '',
  'x',
  '2026-11-20 0930',
  '2026-11-20 09:30 000000000000001',
  '2026-11-20 0930 1',
  ' 2026-11-20 ---- 000000000000001',
])('[HAND-3] %j is not a cursor', (text) => {
  expect(isPlace(text)).toBe(false);
});

test.each<[string | undefined, string]>([
  [undefined, '*'],
  ['*', '=*'],
  [' Cairn', '=cairn'],
])('[HAND-3] the list of %j is %j', (project, scope) => {
  expect(handoffScope(project)).toBe(scope);
});

test.each<[string, string]>([
  ['# State\n\n  done\t now ', '# State done now'],
  ['', ''],
  [`${' '.repeat(100)}late`, 'late'],
])('[HAND-3] the preview of %j is on one line', (text, preview) => {
  expect(handoffKind.factsOf(text)).toEqual({
    size_bytes: Buffer.byteLength(text),
    json_bytes: Buffer.byteLength(JSON.stringify(text)),
    preview,
  });
});

const { size_bytes: _size, json_bytes: _json, preview: _preview, ...archived } = saved;

test.each<[number, number]>([
  [7, 7],
  [0, 6],
])('[OPS-13] a handoff after number %i, of a counter of %i, is refused', (last, handoff_id) => {
  expect(() => handoffKind.archive.read(archived, { last, head: { handoff_id } }, () => true)).toThrow(
    'id 7 must be above',
  );
});

test('[OPS-13] a name that is taken is refused', () => {
  const taken = { get: () => ({ id: 1 }) } as never;
  const free = { get: () => undefined } as never;
  expect(() => handoffKind.archive.admit?.(taken, 'acc', saved)).toThrow('another handoff has this name');
  handoffKind.archive.admit?.(free, 'acc', saved);
});
