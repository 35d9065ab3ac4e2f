/** Which edits follow which renames: a row for each rule of the pairing. */
import { expect, test } from 'vitest';
import type { FolderPath } from '../../../src/client/sync/folder/path.ts';
import { movedHere } from '../../../src/client/sync/plan/push-plan.ts';
import { type Arrival, pairRenames } from '../../../src/client/sync/plan/renames.ts';
import { scanOf, stateOf } from './views.ts';

const arrival = (path: string, sha256: string, more: Partial<Arrival> = {}): Arrival => ({
  path: path as FolderPath,
  sha256,
  bytes: 1,
  from: undefined,
  ...more,
});

test.each<[string, Record<string, string>, Arrival[], Record<string, string>, Record<string, string[]>]>([
  ['the name that the hub tells', { a: 'x' }, [arrival('b', 'y', { from: 'a' })], { a: 'b' }, {}],
  ['equal bytes, when it was seen as delete and create', { a: 'x' }, [arrival('b', 'x')], { a: 'b' }, {}],
  [
    'what the hub tells before equal bytes',
    { a: 'x' },
    [arrival('c', 'x'), arrival('b', 'y', { from: 'a' })],
    { a: 'b' },
    {},
  ],
  [
    'of equal bytes, the file with the same name',
    { 'one/f': 'x', 'one/g': 'x' },
    [arrival('two/g', 'x'), arrival('two/f', 'x')],
    { 'one/f': 'two/f', 'one/g': 'two/g' },
    {},
  ],
  ['each new name once', { a: 'x', b: 'x' }, [arrival('c', 'x')], { a: 'c' }, {}],
  ['no empty file by its bytes, which all are equal', { a: 'x' }, [arrival('b', 'x', { bytes: 0 })], {}, { a: ['b'] }],
  [
    'none by chance: a file with other bytes is asked about',
    { 'one/f': 'x' },
    [arrival('two/f', 'y'), arrival('g', 'z')],
    {},
    { 'one/f': ['two/f'] },
  ],
  [
    'nothing that has a pair is asked about',
    { a: 'x', b: 'z' },
    [arrival('c', 'x'), arrival('d', 'y')],
    { a: 'c' },
    { b: ['d'] },
  ],
  [
    'nor where too many are in question',
    { a: 'x' },
    [...Array(9).keys()].map((at) => arrival(`new-${at}`, `of ${at}`)),
    {},
    {},
  ],
  ['nothing without new files', { a: 'x' }, [], {}, {}],
])('[SYN-28] an edit follows %s', (_, gone, arrivals, sure, asks) => {
  const named = Object.entries(gone).map(([path, agreed]) => ({ path: path as FolderPath, agreed }));
  const found = pairRenames(named, arrivals);
  expect([Object.fromEntries(found.sure), Object.fromEntries(found.asks)]).toEqual([sure, asks]);
});

test.each<[string, Record<string, string>, Record<string, string>, Record<string, string>]>([
  ['a file under another name', { b: 'x' }, { a: 'x' }, { a: 'b' }],
  ['not a copy, whose first file is still there', { a: 'x', b: 'x' }, { a: 'x' }, {}],
  ['not a file that was renamed and edited here', { b: 'y' }, { a: 'x' }, {}],
  [
    'a folder, file by file',
    { 'two/f': 'x', 'two/g': 'x' },
    { 'one/g': 'x', 'one/f': 'x' },
    { 'one/f': 'two/f', 'one/g': 'two/g' },
  ],
])('[SYN-28] renamed here is %s', (_, files, base, moved) => {
  const [local, state] = [scanOf(files), stateOf(base)];
  const all = [...local.files.keys(), ...state.base.keys()];
  expect(Object.fromEntries(movedHere(local, state, () => false, all))).toEqual(moved);
});

test('[SYN-28] what waits, is left out, or has another entry in its place is not renamed here', () => {
  const local = scanOf({ b: 'x', d: 'y', f: 'z' }, ['d']);
  const state = stateOf({ a: 'x', c: 'y', e: 'z' }, { a: { kind: 'hub' } });
  const all = [...local.files.keys(), ...state.base.keys()];
  expect([...movedHere(local, state, (path) => path === 'e', all)]).toEqual([]);
});
