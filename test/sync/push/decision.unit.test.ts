/** What becomes of a push, case by case: the order of the checks, bases, clocks, deletions, and the room that it needs. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../../src/limits/service.ts';
import { formatHlc } from '../../../src/sync/log/hlc.ts';
import { decidePush, matches } from '../../../src/sync/push/decision.ts';
import type { Base, PushDecision, PushRequest } from '../../../src/sync/push/types.ts';
import {
  clockAt,
  contentOf,
  fileOf,
  gitShaOf,
  type Met,
  NOW_MS,
  pushOf,
  shaOf,
  stateOf,
  TOMBSTONE,
} from '../../support/push-state.ts';

const NOTHING: Base = { kind: 'nothing' };
const on = (name: string): Base => ({ kind: 'sha', sha: shaOf(name) });
const UNREAD: Base = { kind: 'unread' };
const DELETE = { content: undefined };
/** The content of the current version, and none other. */
const SAME = { content: contentOf('a') };
const live = { file: fileOf() };
const dead = { file: TOMBSTONE };

/** The outcome in one word and its detail. */
function outcomeOf(decision: PushDecision): string {
  if (decision.kind === 'accept') return `accept ${decision.status}`;
  if (decision.kind === 'conflict') return `conflict ${decision.conflictKind} by ${decision.reason}`;
  if (decision.kind === 'unknown_base') return `look for ${decision.sha.slice(0, 1)}`;
  if (decision.kind === 'unchanged') return 'unchanged';
  const { fault } = decision;
  if (fault.kind === 'invalid_fields') return `refuse ${Object.keys(fault.fields).join()}`;
  return fault.kind === 'quota_exceeded' ? `refuse ${fault.kind} of ${fault.of}` : `refuse ${fault.kind}`;
}

const NEW = pushOf({ hlc: clockAt(-1000) });
const OLD = pushOf({ hlc: clockAt(-3000) });
const EQUAL = pushOf({ hlc: clockAt(-2000) });
const LATER = pushOf({ hlc: { ...clockAt(-2000), counter: 1 } });
const AHEAD = pushOf({ hlc: clockAt(limits.hlcAheadMsMax + 1) });
const ATLIMIT = pushOf({ hlc: clockAt(limits.hlcAheadMsMax) });

type Row = readonly [title: string, push: PushRequest, met: Met, outcome: string];

describe('[SYN-1] a push that tells neither base nor clock creates, and changes nothing that it has not read', () => {
  test.each<Row>([
    ['a new file', pushOf({ base: UNREAD }), {}, 'accept created'],
    ['a deleted file', pushOf({ base: UNREAD }), dead, 'accept created'],
    ['a file with other bytes', pushOf({ base: UNREAD }), live, 'refuse sync_conflict'],
    ['a file with the same bytes', pushOf({ ...SAME, base: UNREAD }), live, 'unchanged'],
    ['a delete', pushOf({ ...DELETE, base: UNREAD }), live, 'refuse base_sha'],
    ['a delete of what is not there', pushOf({ ...DELETE, base: UNREAD }), {}, 'refuse path_not_found'],
  ])('%s', (_, push, met, outcome) => {
    expect(outcomeOf(decidePush(push, stateOf(met)))).toBe(outcome);
  });
});

describe('[SYN-3, SYN-14, SYN-15] what is refused before anything else is compared', () => {
  test.each<Row>([
    ['resolves a conflict of the path', pushOf({ resolves: 'c1' }), { conflicts: ['c1'] }, 'accept created'],
    ['resolves no conflict of the path', pushOf({ resolves: 'c2' }), { conflicts: ['c1'] }, 'refuse resolves'],
    ['the same spelling', pushOf(), live, 'accept updated'],
    ['another spelling of a file', pushOf({ path: 'Notes.md' }), live, 'refuse path'],
    ['another spelling of a deleted file', pushOf({ path: 'Notes.md' }), dead, 'accept created'],
    ['another spelling, deleted', pushOf({ ...DELETE, path: 'Notes.md' }), live, 'refuse path'],
    ['a file where a folder is', pushOf(), { clash: { kind: 'folder', path: 'notes.md' } }, 'refuse path'],
    ['a file below a file', pushOf(), { clash: { kind: 'file', path: 'notes' } }, 'refuse path'],
    ['a deleted file where a folder is', pushOf(), { ...dead, clash: { kind: 'folder', path: 'x' } }, 'refuse path'],
    [
      'a file that is there has no clash',
      pushOf(),
      { ...live, clash: { kind: 'folder', path: 'x' } },
      'accept updated',
    ],
    ['a delete has no clash', pushOf(DELETE), { ...dead, clash: { kind: 'folder', path: 'x' } }, 'unchanged'],
  ])('%s', (_, push, met, outcome) => {
    expect(outcomeOf(decidePush(push, stateOf(met)))).toBe(outcome);
  });
});

describe('[SYN-3] a push with a base is decided without any clock', () => {
  test.each<Row>([
    ['the current sha256', { ...OLD, base: on('a') }, live, 'accept updated'],
    ['the current git_sha', { ...OLD, base: { kind: 'sha', sha: gitShaOf('a') } }, live, 'accept updated'],
    [
      'an earlier version',
      { ...NEW, base: on('e') },
      { ...live, versions: [shaOf('e')] },
      'conflict edit/edit by base',
    ],
    ['bytes that the path never had', { ...NEW, base: on('e') }, live, 'look for e'],
    ['the same, of another file', { ...NEW, base: on('e'), baseIsForeign: true }, live, 'refuse base_sha'],
    ['the same, of no file', { ...NEW, base: on('e'), baseIsForeign: false }, live, 'conflict edit/edit by base'],
    ['no file, and there is none', { ...OLD, base: NOTHING }, {}, 'accept created'],
    ['no file, and it was deleted', { ...OLD, base: NOTHING }, dead, 'accept created'],
    ['no file, and there is one', { ...NEW, base: NOTHING }, live, 'conflict create/create by base'],
    [
      'the content of a deleted file',
      { ...NEW, base: on('a') },
      { ...dead, versions: [shaOf('a')] },
      'conflict edit/delete by deleted',
    ],
    ['unknown bytes, and it was deleted', { ...NEW, base: on('e') }, dead, 'look for e'],
    [
      'unknown bytes, and there was no file',
      { ...NEW, base: on('e'), baseIsForeign: false },
      {},
      'conflict edit/delete by deleted',
    ],
    ['a protected file with its base', { ...OLD, base: on('a') }, { ...live, protected: true }, 'accept updated'],
    ['a clock far ahead', { ...AHEAD, base: on('a') }, live, 'accept updated'],
  ])('%s', (_, push, met, outcome) => {
    expect(outcomeOf(decidePush(push, stateOf(met)))).toBe(outcome);
  });
});

describe('[SYN-3, HLC-2] a push without a base is decided by its clock', () => {
  test.each<Row>([
    ['no file', OLD, {}, 'accept created'],
    ['no file, far ahead', AHEAD, {}, 'accept created'],
    ['newer', NEW, live, 'accept updated'],
    ['newer by a counter', LATER, live, 'accept updated'],
    ['equal, with other bytes', EQUAL, live, 'conflict edit/edit by clock'],
    ['older', OLD, live, 'conflict edit/edit by clock'],
    [
      'older than the first version of another device',
      OLD,
      { file: fileOf({ versions: 1 }) },
      'conflict create/create by clock',
    ],
    [
      'older than its own first version',
      OLD,
      { file: fileOf({ versions: 1, device_id: 'laptop' }) },
      'conflict edit/edit by clock',
    ],
    ['newer, and protected', NEW, { ...live, protected: true }, 'refuse base_sha'],
    ['older, and protected', OLD, { ...live, protected: true }, 'refuse base_sha'],
    ['newer, and a protected path without a file', NEW, { protected: true }, 'accept created'],
    ['newer, and a protected path with a tombstone', NEW, { ...dead, protected: true }, 'accept created'],
    ['as far ahead as it may be', ATLIMIT, live, 'accept updated'],
    ['further ahead', AHEAD, live, 'refuse hlc'],
    ['further ahead of a tombstone', AHEAD, dead, 'refuse hlc'],
    ['newer than a tombstone', NEW, dead, 'accept created'],
    [
      'newer than a tombstone, with bytes known to be older',
      NEW,
      { ...dead, versions: [shaOf('b')] },
      'conflict edit/delete by deleted',
    ],
    ['as old as a tombstone', EQUAL, dead, 'conflict edit/delete by deleted'],
    ['older than a tombstone', OLD, dead, 'conflict edit/delete by deleted'],
  ])('%s', (_, push, met, outcome) => {
    expect(outcomeOf(decidePush(push, stateOf(met)))).toBe(outcome);
  });
});

describe('[SYN-1, SYN-3] the same bytes', () => {
  const same = (changes: Partial<PushRequest>) => pushOf({ ...SAME, ...changes });
  test.each<Row>([
    ['without a base', same({}), live, 'unchanged'],
    ['with any base', same({ base: on('e') }), live, 'unchanged'],
    ['of a protected file', same({}), { ...live, protected: true }, 'unchanged'],
    ['above the quota', same({}), { ...live, roomBytes: { files: -1, history: -1e6 } }, 'unchanged'],
    ['of a deleted file', same({}), { ...dead, versions: [shaOf('a')] }, 'conflict edit/delete by deleted'],
    ['the same bit', same({ executable: false, base: on('a') }), live, 'unchanged'],
    ['another bit with the current base', same({ executable: true, base: on('a') }), live, 'accept updated'],
    ['another bit with an outdated base', same({ executable: true, base: on('e') }), live, 'unchanged'],
    ['another bit, newer', same({ executable: true }), live, 'accept updated'],
    ['another bit, newer by a counter', same({ executable: true, hlc: LATER.hlc }), live, 'accept updated'],
    ['another bit, as old', same({ executable: true, hlc: clockAt(-2000) }), live, 'unchanged'],
    ['another bit, older', same({ executable: true, hlc: clockAt(-3000) }), live, 'unchanged'],
    ['the bit taken away', same({ executable: false }), { file: fileOf({ executable: true }) }, 'accept updated'],
    ['no word about the bit', same({}), { file: fileOf({ executable: true }) }, 'unchanged'],
  ])('%s', (_, push, met, outcome) => {
    expect(outcomeOf(decidePush(push, stateOf(met)))).toBe(outcome);
  });
});

describe('[SYN-6] a delete is never decided by a clock', () => {
  const gone = (changes: Partial<PushRequest>) => pushOf({ ...DELETE, ...changes });
  test.each<Row>([
    ['of a path that never existed', gone({}), {}, 'refuse path_not_found'],
    ['of a deleted path', gone({}), dead, 'unchanged'],
    ['of a deleted path, with a base', gone({ base: on('e') }), dead, 'unchanged'],
    ['without a base', gone({}), live, 'refuse base_sha'],
    ['with the current base', gone({ base: on('a') }), live, 'accept deleted'],
    ['with the current base, older', gone({ base: on('a'), hlc: clockAt(-9000) }), live, 'accept deleted'],
    [
      'with the current base, above every quota',
      gone({ base: on('a') }),
      { ...live, roomBytes: { files: -1, history: -1e6 } },
      'accept deleted',
    ],
    ['with the base of no file', gone({ base: NOTHING }), live, 'conflict delete/edit by base'],
    [
      'with an earlier base',
      gone({ base: on('e') }),
      { ...live, versions: [shaOf('e')] },
      'conflict delete/edit by base',
    ],
    ['with an unknown base', gone({ base: on('e') }), live, 'look for e'],
    ['with the base of another file', gone({ base: on('e'), baseIsForeign: true }), live, 'refuse base_sha'],
  ])('%s', (_, push, met, outcome) => {
    expect(outcomeOf(decidePush(push, stateOf(met)))).toBe(outcome);
  });
});

describe('[SYN-3, SYN-21] the quota, to the byte, before base and clock', () => {
  const ten = pushOf({ base: on('a') });
  const thirty = pushOf({ base: on('a'), content: contentOf('b', 30) });
  test.each<Row>([
    ['a new file that fits', pushOf(), { roomBytes: { files: 10, history: 0 } }, 'accept created'],
    ['a new file one byte above', pushOf(), { roomBytes: { files: 9, history: 0 } }, 'refuse quota_exceeded of files'],
    [
      'an overwrite needs only what it is larger by',
      thirty,
      { ...live, roomBytes: { files: 20, history: 10 } },
      'accept updated',
    ],
    [
      'an overwrite one byte above',
      thirty,
      { ...live, roomBytes: { files: 19, history: 10 } },
      'refuse quota_exceeded of files',
    ],
    [
      'an overwrite of the same size above the quota',
      ten,
      { ...live, roomBytes: { files: -1, history: 10 } },
      'accept updated',
    ],
    [
      'what is overwritten becomes history',
      ten,
      { ...live, roomBytes: { history: 9 } },
      'refuse quota_exceeded of history',
    ],
    [
      'a tombstone holds no bytes of files',
      pushOf({ base: NOTHING }),
      { ...dead, roomBytes: { files: 10, history: 0 } },
      'accept created',
    ],
    [
      'a record alone needs room in history',
      pushOf(),
      { roomBytes: { history: -1 } },
      'refuse quota_exceeded of history',
    ],
    [
      'above the quota with an outdated base',
      { ...thirty, base: on('e') },
      { ...live, roomBytes: { files: 0 } },
      'refuse quota_exceeded of files',
    ],
    [
      'above the quota, older',
      { ...OLD, content: contentOf('b', 30) },
      { ...live, roomBytes: { files: 0 } },
      'refuse quota_exceeded of files',
    ],
  ])('%s', (_, push, met, outcome) => {
    expect(outcomeOf(decidePush(push, stateOf(met)))).toBe(outcome);
  });
});

test.each<[Base, ReturnType<typeof fileOf> | undefined, boolean]>([
  [{ kind: 'unsaid' }, undefined, false],
  [{ kind: 'unsaid' }, fileOf(), false],
  [NOTHING, undefined, true],
  [NOTHING, fileOf(), false],
  [on('a'), fileOf(), true],
  [{ kind: 'sha', sha: gitShaOf('a') }, fileOf(), true],
  [on('b'), fileOf(), false],
  [on('a'), undefined, false],
])('[SYN-3] the base %j matches %s: %s', (base, file, is) => {
  expect(matches(base, file)).toBe(is);
});

describe('[SYN-4] a modification time permits nothing, but an older one is told', () => {
  const at = (ms: number) => new Date(NOW_MS + ms).toISOString();
  test.each<[title: string, mtime: string | null, before: string | null, deleted: boolean, warnings: number]>([
    ['newer', at(0), at(-1), false, 0],
    ['older by as much as a clock may differ', at(-limits.mtimeRegressMs), at(0), false, 0],
    ['older by more', at(-limits.mtimeRegressMs - 1), at(0), false, 1],
    ['unknown now', null, at(0), false, 0],
    ['unknown before', at(-9000), null, false, 0],
    ['older than the deleted file', at(-9000), at(0), true, 0],
  ])('%s', (_, mtime, before, deleted, warnings) => {
    const file = fileOf({ mtime: before, deleted });
    const decision = decidePush(pushOf({ mtime, base: deleted ? NOTHING : on('a') }), stateOf({ file }));
    expect(decision).toMatchObject({ kind: 'accept' });
    if (decision.kind === 'accept') expect(decision.warnings.length).toBe(warnings);
  });

  test('the warning says by how much, before those of the clock', () => {
    const file = fileOf({ mtime: at(0), hlc: formatHlc(clockAt(0)) });
    const decision = decidePush(pushOf({ mtime: at(-260_000), base: on('a'), hlc: clockAt(-1) }), stateOf({ file }));
    expect(decision).toMatchObject({
      warnings: [
        'mtime is 260.0 s older than in the previous version; check the clock',
        "your hlc is not above the previous version's; the change was stored under a clock of the hub",
      ],
    });
  });
});
