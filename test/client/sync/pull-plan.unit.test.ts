/** What a pull does: a row for each rule of the plan, and for what a scan and a sync take over from it. */
import { expect, test } from 'vitest';
import type { Wait } from '../../../src/client/sync/base/state.ts';
import type { FolderPath } from '../../../src/client/sync/folder/path.ts';
import { changesOfParticipation } from '../../../src/client/sync/plan/left-out.ts';
import { doublesIn, NameIndex, respelledHere } from '../../../src/client/sync/plan/names.ts';
import { pathsToCompare, planBit, planChange, worthAfterRestore } from '../../../src/client/sync/plan/pull-plan.ts';
import { LINKED, troublesOf } from '../../../src/client/sync/plan/troubles.ts';
import { scanOf, stateOf } from './views.ts';

const NEVER = { recheck: [], canWrite: () => false, isComing: () => false, pausesAtMs: undefined };
const FAILED = { inRow: 3, lastMs: 100_000 };

test.each<[string, Partial<Wait> & Pick<Wait, 'kind'>, object, string, string[]]>([
  ['a path that can be written again', { kind: 'hub' }, { canWrite: () => true }, 'x', ['a']],
  ['not one that still cannot be written', { kind: 'hub' }, {}, 'x', []],
  [
    'a path that could not be written, in a sync of its own',
    { kind: 'hub', failed: FAILED },
    { canWrite: () => true },
    'x',
    ['a'],
  ],
  [
    'not by a watch before its pause is over',
    { kind: 'hub', failed: FAILED },
    { canWrite: () => true, pausesAtMs: 103_999 },
    'x',
    [],
  ],
  [
    'by a watch after its pause',
    { kind: 'hub', failed: FAILED },
    { canWrite: () => true, pausesAtMs: 104_000 },
    'x',
    ['a'],
  ],
  ['a download that nobody does any more', { kind: 'download' }, {}, 'x', ['a']],
  ['not one that is queued or under way', { kind: 'download' }, { isComing: () => true }, 'x', []],
  ['a conflict whose file changed since', { kind: 'conflict', local: 'y', conflictId: 'c' }, {}, 'x', ['a']],
  ['not one whose file is the same', { kind: 'conflict', local: 'x', conflictId: 'c' }, {}, 'x', []],
  [
    'a conflict whose side both agreed on, if the hub does not hold it',
    { kind: 'conflict', local: 'x' },
    {},
    'x',
    ['a'],
  ],
  ['not one whose side was never agreed on', { kind: 'conflict', local: 'x' }, {}, 'y', []],
  ['not a refused push', { kind: 'push', local: 'y' }, { canWrite: () => true }, 'x', []],
  ['a path of any kind that is named', { kind: 'push' }, { recheck: ['a'] as FolderPath[] }, 'x', ['a']],
])('[CLI-2] a pull compares %s', (_, wait, options, base, compared) => {
  const state = stateOf({ a: base }, { a: wait });
  expect([...pathsToCompare(scanOf({ a: 'x' }), state, { ...NEVER, ...options })]).toEqual(compared);
});

test('[CLI-2] a pull compares nothing that takes no part here', () => {
  const state = stateOf({}, { a: { kind: 'hub' }, b: { kind: 'download' }, c: { kind: 'conflict', local: 'y' } });
  const local = scanOf({}, ['a', 'b', 'c']);
  expect([...pathsToCompare(local, state, { ...NEVER, canWrite: () => true })]).toEqual([]);
});

const BYTES = Buffer.from('x');

test.each([
  ['what it sent is written', undefined, { sha256: 'x', bytes: BYTES }, undefined, 'take'],
  ['long bytes are fetched', undefined, { sha256: 'x', bytes: undefined }, undefined, 'fetch'],
  ['also for a file that comes back', undefined, { sha256: 'x', bytes: undefined }, 'y', 'fetch'],
  ['also for an update', 'y', { sha256: 'x', bytes: undefined }, 'y', 'fetch'],
  ['nothing is fetched that is here already', 'x', { sha256: 'x', bytes: undefined }, 'y', 'agree'],
  ['nothing is fetched for a conflict', 'z', { sha256: 'x', bytes: undefined }, 'y', 'conflict'],
  ['a delete has no bytes', 'x', undefined, 'x', 'remove'],
] as const)('[CLI-2] one change of the hub: %s', (_, local, remote, base, action) => {
  expect(planChange(local, remote, base)).toBe(action);
});

test.each([
  [{ local: false, remote: undefined, base: undefined }, 'unchanged'],
  [{ local: true, remote: false, base: false }, 'unchanged'],
  [{ local: true, remote: true, base: false }, 'agree'],
  [{ local: undefined, remote: true, base: false }, 'agree'],
  [{ local: false, remote: true, base: false }, 'set'],
  [{ local: true, remote: false, base: true }, 'set'],
  [{ local: false, remote: true, base: undefined }, 'set'],
] as const)('[CLI-2] an executable bit of %j: %s', (bits, plan) => {
  expect(planBit(bits)).toBe(plan);
});

const AGREED = { sha256: 'x', storedMs: 100 };

test.each([
  ['a path that was never agreed on is new', undefined, 'y', 500, 'as agreed'],
  ['the agreed version is still there', AGREED, 'x', 100, 'as agreed'],
  ['an earlier version is there', AGREED, 'y', 50, 'older'],
  ['one of the same moment is no later one', AGREED, 'y', 100, 'older'],
  ['a later version is there: the agreed one may be lost', AGREED, 'y', 101, 'doubtful'],
  ['a later delete is there: the same', AGREED, undefined, 101, 'doubtful'],
  ['an earlier delete is there', AGREED, undefined, 50, 'older'],
  ['nobody knows when the agreed one was stored', { sha256: 'x' }, 'y', 500, 'older'],
])('[SYN-25] after a restore of the hub: %s', (_, base, sha256, storedMs, worth) => {
  const side = sha256 === undefined ? undefined : { sha256 };
  expect(worthAfterRestore(base, { side, storedMs })).toBe(worth);
});

const OUT = { sha256: 'x', isExcluded: true };

test.each([
  ['a file that is excluded and gone is marked', { a: 'x' }, scanOf({}, ['a']), [['a', OUT]]],
  ['once', { a: OUT }, scanOf({}, ['a']), []],
  ['a file that is excluded and still scanned is not', { a: 'x' }, scanOf({ a: 'x' }, ['a']), []],
  ['it takes part again and is here: no mark', { a: OUT }, scanOf({ a: 'x' }), [['a', { sha256: 'x' }]]],
  ['it takes part again and was removed meanwhile: forgotten', { a: OUT }, scanOf({}), [['a', undefined]]],
  ['not while it cannot be read', { a: OUT }, scanOf({}, [], ['a']), []],
  ['a file that was never excluded and is gone was deleted', { a: 'x' }, scanOf({}), []],
])('[CLI-2] what is left out and takes part again: %s', (_, base, scan, changes) => {
  expect([...changesOfParticipation(scan, stateOf(base))]).toEqual(changes);
});

test('[CLI-2] names that differ in case or Unicode form are one file', () => {
  const names = new NameIndex(['a', 'A', 'b', 'A'] as FolderPath[]);
  expect([names.others('a'), names.others('A'), names.others('b'), names.others('B')]).toEqual([
    ['A'],
    ['a'],
    [],
    ['b'],
  ]);
  const all = ['a', 'A', 'b'] as FolderPath[];
  expect(doublesIn(stateOf({ a: 'x', A: 'y', b: 'z' }), scanOf({ a: 'x' }), all)).toEqual(['A']);
  expect(doublesIn(stateOf({ a: 'x', A: 'y' }), scanOf({ a: 'x', A: 'y' }), all)).toEqual(['a', 'A']);
  expect(doublesIn(stateOf({ a: 'x', A: 'y' }), scanOf({}), all)).toEqual([]);
  // One that was only renamed here.
  expect(doublesIn(stateOf({ a: 'x' }), scanOf({ A: 'x' }), all)).toEqual([]);
  // Either of the two is enough to look at.
  for (const one of ['a', 'A'] as FolderPath[])
    expect(doublesIn(stateOf({ a: 'x', A: 'y' }), scanOf({ a: 'x' }), [one])).toEqual(['A']);
});

test.each([
  ['another case of a missing file', { A: 'x' }, { a: 'x' }, {}, [['A', 'a']]],
  ['not while the file is there', { a: 'x', A: 'y' }, { a: 'x' }, {}, []],
  ['not for a file that was agreed on', { A: 'x' }, { a: 'x', A: 'y' }, {}, []],
  ['not for one that waits', { A: 'x' }, { a: 'x' }, { a: { kind: 'hub' } }, []],
  [
    'each missing name once',
    { A: 'x', Á: 'y' },
    { a: 'x', á: 'z' },
    {},
    [
      ['A', 'a'],
      ['Á', 'á'],
    ],
  ],
] as const)('[CLI-2] a file respelled here: %s', (_, files, base, waits, respelled) => {
  const all = Object.keys({ ...files, ...base }) as FolderPath[];
  expect([...respelledHere(scanOf(files), stateOf(base, waits), all)]).toEqual(respelled);
});

const LISTED = { root: '/f', isMoving: () => false, saved: new Set<FolderPath>(), lost: [] };
const NOTHING = { troubles: new Map<string, string>(), damaged: new Map<FolderPath, string>() };

test.each<[string, Partial<Wait> & Pick<Wait, 'kind'>, ReturnType<typeof scanOf>, object, string[]]>([
  ['a refused push', { kind: 'push' }, scanOf({}), {}, ['a: It waits.']],
  ['no conflict, which has a list of its own', { kind: 'conflict' }, scanOf({}), {}, []],
  ['a file that cannot be written', { kind: 'hub' }, scanOf({}), {}, ['a: It waits.']],
  ['not while it is excluded', { kind: 'hub' }, scanOf({}, ['a']), {}, []],
  ['a refused push also when it is excluded', { kind: 'push' }, scanOf({}, ['a']), {}, ['a: It waits.']],
  ['not what is being downloaded', { kind: 'download' }, scanOf({}), { isMoving: () => true }, []],
  [
    'what is downloaded again after it could not be written',
    { kind: 'download', failed: FAILED },
    scanOf({}),
    { isMoving: () => true },
    ['a: It waits.'],
  ],
  ['first why it cannot be read', { kind: 'push' }, scanOf({}, [], ['a']), {}, ['a: It cannot be read.']],
  [
    'that earlier saves wait',
    { kind: 'push' },
    scanOf({}),
    { saved: new Set(['a']) },
    ['a: It waits. Earlier saves of it wait in .cairn/saves until the hub takes them.'],
  ],
  [
    'that not each save was kept',
    { kind: 'push' },
    scanOf({}),
    { lost: ['a'] },
    [
      'a: It waits. The saves that wait for the hub have reached 64 MiB, so not each save of it is kept. The file as it stands is sent.',
    ],
  ],
])('[SYN-24] a sync lists %s', (_, wait, scan, options, lines) => {
  const found = troublesOf({ ...NOTHING, scan }, stateOf({}, { a: wait }), { ...LISTED, ...options });
  expect([...found].map(([path, reason]) => `${path}: ${reason}`)).toEqual(lines);
});

test('[SYN-26] a sync lists a synced file where a link is by now, and no other link', () => {
  const scan = { ...scanOf({}), links: new Set(['a', 'b']) };
  expect([...troublesOf({ ...NOTHING, scan }, stateOf({ a: 'x' }), LISTED)]).toEqual([['a', LINKED]]);
});

test('[SYN-24] a sync lists names that are not allowed here and files that are damaged on the hub, unless excluded', () => {
  const damaged = new Map([
    ['a', 'x'],
    ['b', 'y'],
  ] as [FolderPath, string][]);
  const state = { ...stateOf({}), foreign: new Map([['c:d', 'Rename it.']]) };
  const found = troublesOf({ ...NOTHING, damaged, scan: scanOf({}, ['b']) }, state, LISTED);
  expect([...found.keys()]).toEqual(['c:d', 'a']);
  const before = { ...NOTHING, troubles: new Map([['e', 'Before.']]), scan: undefined };
  expect([...troublesOf(before, state, LISTED)]).toEqual([['e', 'Before.']]);
});
