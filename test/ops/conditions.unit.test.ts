/** Which conditions of a hub follow from what was measured, and which changes of them are told. */
import { expect, test } from 'vitest';
import { limits } from '../../src/limits/service.ts';
import { conditionChanges, type ToldConditions, wordsOf } from '../../src/ops/conditions/changes.ts';
import {
  CONDITION_NAMES,
  type ConditionName,
  canWrite,
  conditionOf,
  conditionsOf,
  type Facts,
} from '../../src/ops/conditions/rules.ts';

const NOW = Date.UTC(2026, 10, 23, 12);
const SECOND = 1000;
const HOUR = 3600 * SECOND;
const DAY = 24 * HOUR;

const FINE: Facts = {
  nowMs: NOW,
  startedMs: NOW - 90 * DAY,
  phase: 'ready',
  writes: { waitingMs: 0 },
  disk: { usableBytes: 500, totalBytes: 1000, isReserved: false },
  clock: 'right',
  backup: { dataBornMs: NOW - 90 * DAY },
};
const disk = (usableBytes: number, isReserved = false) => ({ disk: { usableBytes, totalBytes: 1000, isReserved } });
const backup = (given: Partial<Facts['backup']>) => ({ backup: { ...FINE.backup, ...given } });
const follow = (agoMs: number, more: Partial<NonNullable<Facts['follow']>> = {}) => ({
  follow: { seenMs: NOW - agoMs, everyMs: 5 * SECOND, isCopyingAll: false, ...more },
});
const log = (unloggedMs: number, setAside = 0, appendingMs = 0) => ({ unloggedMs, setAside, appendingMs });
const held = (...names: ConditionName[]) => new Map(names.map((name) => [name, NOW - HOUR]));

interface Case {
  readonly what: string;
  readonly facts: Partial<Facts>;
  readonly held?: readonly ConditionName[];
  readonly expected: readonly ConditionName[];
  readonly writes?: false;
}

const CASES: readonly Case[] = [
  {
    what: 'chores that a clock years ahead has noted: nobody knows when they ran',
    facts: {
      ...backup({ doneMs: NOW + 400 * DAY }),
      verify: { doneMs: NOW + 400 * DAY, problems: 0 },
      ...follow(-400 * DAY),
    },
    expected: ['backup_late', 'follow_late', 'verify_late'],
  },
  {
    what: 'chores that a clock an hour ahead has noted',
    facts: { ...backup({ doneMs: NOW + HOUR }), verify: { doneMs: NOW + HOUR, problems: 0 }, ...follow(-HOUR) },
    expected: [],
  },
  { what: 'nothing is wrong', facts: {}, expected: [] },
  { what: 'it starts', facts: { phase: 'starting' }, expected: ['starting'], writes: false },
  { what: 'it stops', facts: { phase: 'draining' }, expected: ['draining'], writes: false },
  {
    what: 'a write failed',
    facts: { writes: { failedMs: NOW, waitingMs: 0 } },
    expected: ['writes_failing'],
    writes: false,
  },
  {
    what: 'a write waits for long',
    facts: { writes: { waitingMs: 30_001 } },
    expected: ['writes_stalled'],
    writes: false,
  },
  {
    what: 'a write waits for long, for the log',
    facts: { writes: { waitingMs: 30_001 }, log: log(0, 0, 30_001) },
    expected: ['log_away'],
    writes: false,
  },
  {
    what: 'a write waits for long, though the log answers',
    facts: { writes: { waitingMs: 30_001 }, log: log(0, 0, 5) },
    expected: ['writes_stalled'],
    writes: false,
  },
  { what: 'a write waits', facts: { writes: { waitingMs: 30_000 } }, expected: [] },
  {
    what: 'a write failed and the next one waits: one of a family',
    facts: { writes: { failedMs: NOW, waitingMs: 60_000 } },
    expected: ['writes_failing'],
    writes: false,
  },
  { what: 'the disk is unknown', facts: { disk: undefined }, expected: [] },
  { what: '80 % used', facts: disk(200), expected: [] },
  { what: 'more than 80 % used', facts: disk(199), expected: ['disk_80'] },
  { what: '90 % used', facts: disk(100), expected: ['disk_80'] },
  { what: 'more than 90 % used', facts: disk(99), expected: ['disk_90'] },
  { what: '95 % used', facts: disk(50), expected: ['disk_90'] },
  { what: 'writes are refused', facts: disk(49, true), expected: ['disk_95'], writes: false },
  { what: 'nothing left', facts: disk(0, true), expected: ['disk_full'], writes: false },
  { what: 'less than nothing left', facts: disk(-9, true), expected: ['disk_full'], writes: false },
  { what: '79 % after 80 %', facts: disk(219), held: ['disk_80'], expected: ['disk_80'] },
  { what: '78 % after 80 %', facts: disk(220), held: ['disk_80'], expected: [] },
  { what: '89 % after 90 %', facts: disk(119), held: ['disk_90'], expected: ['disk_90'] },
  { what: '88 % after 90 %', facts: disk(121), held: ['disk_90'], expected: ['disk_80'] },
  { what: '79 % after 95 %', facts: disk(210), held: ['disk_95'], expected: ['disk_80'] },
  { what: '89 % after 80 %', facts: disk(110), held: ['disk_80'], expected: ['disk_80'] },
  { what: 'writes are still refused', facts: disk(59, true), held: ['disk_95'], expected: ['disk_95'], writes: false },
  { what: '94 % after 95 %', facts: disk(60), held: ['disk_95'], expected: ['disk_90'] },
  { what: 'the clock went back', facts: { clock: 'behind' }, expected: ['clock_behind'] },
  { what: 'the clock jumped', facts: { clock: 'ahead' }, expected: ['clock_ahead'] },
  { what: 'no backup was ever made, and none is expected', facts: {}, expected: [] },
  { what: 'no backup was ever made of an old hub', facts: backup({ everyMs: 26 * HOUR }), expected: ['backup_late'] },
  {
    what: 'no backup was made yet of a new hub',
    facts: backup({ everyMs: 26 * HOUR, dataBornMs: NOW - 26 * HOUR }),
    expected: [],
  },
  { what: 'a backup of 48 hours ago', facts: backup({ doneMs: NOW - 48 * HOUR }), expected: [] },
  { what: 'an older backup', facts: backup({ doneMs: NOW - 48 * HOUR - 1 }), expected: ['backup_late'] },
  {
    what: 'a backup older than the setting',
    facts: backup({ doneMs: NOW - 27 * HOUR, everyMs: 26 * HOUR }),
    expected: ['backup_late'],
  },
  { what: 'a weekly backup', facts: backup({ doneMs: NOW - 6 * DAY, everyMs: 7 * DAY }), expected: [] },
  { what: 'follow is silent for a minute', facts: follow(60 * SECOND), expected: [] },
  { what: 'follow is silent for longer', facts: follow(61 * SECOND), expected: ['follow_late'] },
  { what: 'follow looks every hour', facts: follow(3 * HOUR, { everyMs: HOUR }), expected: [] },
  { what: 'follow missed its hours', facts: follow(3 * HOUR + 1, { everyMs: HOUR }), expected: ['follow_late'] },
  { what: 'follow makes a whole copy', facts: follow(6 * HOUR, { isCopyingAll: true }), expected: [] },
  { what: 'a whole copy never ends', facts: follow(6 * HOUR + 1, { isCopyingAll: true }), expected: ['follow_late'] },
  { what: 'both start after a boot', facts: { ...follow(DAY), startedMs: NOW - 60 * SECOND }, expected: [] },
  { what: 'only the hub starts', facts: { ...follow(DAY), startedMs: NOW - 61 * SECOND }, expected: ['follow_late'] },
  { what: 'the log has all', facts: { log: log(0, 0) }, expected: [] },
  { what: 'the log is 5 s behind', facts: { log: log(5 * SECOND, 0) }, expected: [] },
  { what: 'the log is further behind', facts: { log: log(5001, 0) }, expected: ['log_behind'] },
  { what: 'no member is away', facts: { members: { away: 0, withoutRoom: 0 } }, expected: [] },
  {
    what: 'one member is away, another one without room',
    facts: { members: { away: 1, withoutRoom: 1 } },
    expected: ['member_away', 'member_no_room'],
  },
  { what: 'writes were set aside', facts: { log: log(0, 1) }, expected: ['set_aside'] },
  { what: 'a verification of 35 days ago', facts: { verify: { doneMs: NOW - 35 * DAY, problems: 0 } }, expected: [] },
  {
    what: 'an older verification',
    facts: { verify: { doneMs: NOW - 35 * DAY - 1, problems: 0 } },
    expected: ['verify_late'],
  },
  { what: 'problems found', facts: { verify: { doneMs: NOW - DAY, problems: 1 } }, expected: ['damage'] },
  { what: 'damage was read', facts: { damagedMs: NOW }, expected: ['damage'] },
  {
    what: 'damage was read before a good verification',
    facts: { damagedMs: NOW - DAY, verify: { doneMs: NOW - HOUR, problems: 0 } },
    expected: [],
  },
  { what: 'damage was read before a restart', facts: {}, held: ['damage'], expected: ['damage'] },
  {
    what: 'a good verification after damage',
    facts: { verify: { doneMs: NOW - SECOND, problems: 0 } },
    held: ['damage'],
    expected: [],
  },
  { what: 'two weeks of a certificate', facts: { certificateExpiresMs: NOW + 14 * DAY }, expected: [] },
  {
    what: 'less of a certificate',
    facts: { certificateExpiresMs: NOW + 14 * DAY - 1 },
    expected: ['certificate_expires'],
  },
  { what: 'the end of a certificate', facts: { certificateExpiresMs: NOW }, expected: ['certificate_expired'] },
  {
    what: 'several at once, in the order of the table',
    facts: { ...disk(0, true), ...backup({ doneMs: 0 }), clock: 'behind', writes: { failedMs: 1, waitingMs: 0 } },
    expected: ['writes_failing', 'disk_full', 'clock_behind', 'backup_late'],
    writes: false,
  },
];

test.each(CASES)('[OPS-27] $what: $expected', ({ facts, held: names = [], expected, writes = true }) => {
  const found = conditionsOf({ ...FINE, ...facts }, held(...names));
  expect(found).toEqual(expected);
  expect(canWrite(found)).toBe(writes);
});

test('[OPS-27] every condition has a case, and words that name no path or account and say what to do', () => {
  const cased = new Set(CASES.flatMap(({ expected }) => expected));
  expect(CONDITION_NAMES.filter((name) => !cased.has(name))).toEqual([]);
  for (const name of CONDITION_NAMES) {
    const { title, message } = conditionOf(name);
    expect(title.length).toBeLessThan(40);
    expect(message).toMatch(/^[A-Z`].*\.$/);
    expect(message).not.toMatch(/\/[a-z]+\/|acc_|@/);
  }
});

/** Plays what holds at moments (in seconds) and returns what is told. */
function play(
  moments: readonly (readonly [seconds: number, ...names: ConditionName[]])[],
  before: ToldConditions = new Map(),
) {
  let told = before;
  const said: string[] = [];
  for (const [seconds, ...names] of moments) {
    const step = conditionChanges(told, names, NOW + seconds * SECOND);
    told = step.told;
    for (const { name, isOver, before: old } of step.changes) {
      said.push(`${seconds} ${isOver ? 'over ' : ''}${name}${old === undefined ? '' : ` after ${old}`}`);
    }
  }
  return { told, said };
}

test('[OPS-28] a condition is told once, and once when it has been over for a minute', () => {
  expect(limits.conditionQuietMs).toBe(60_000);
  expect(play([[0, 'damage'], [5, 'damage'], [10], [69], [70], [200]]).said).toEqual(['0 damage', '70 over damage']);
});

test('[OPS-28] a condition that comes and goes is not told again', () => {
  const flapping: [number, ...ConditionName[]][] = [];
  for (let seconds = 0; seconds < 600; seconds += 5) {
    flapping.push(seconds % 10 === 0 ? [seconds, 'writes_failing'] : [seconds]);
  }
  expect(play([...flapping, [600], [655], [660]]).said).toEqual(['0 writes_failing', '655 over writes_failing']);
});

test('[OPS-28] a worse or better condition of a family replaces the one before', () => {
  const moments = [[0, 'disk_80'], [5, 'disk_90'], [10, 'disk_95'], [15, 'disk_90'], [20], [80]] as const;
  expect(play(moments).said).toEqual([
    '0 disk_80',
    '5 disk_90 after disk_80',
    '10 disk_95 after disk_90',
    '15 disk_90 after disk_95',
    '80 over disk_90',
  ]);
});

test('[OPS-28] a restart tells nothing again, and still tells what is over', () => {
  const { told } = play([[0, 'backup_late', 'disk_80']]);
  expect(
    play(
      [
        [3600, 'backup_late', 'disk_80'],
        [3700, 'disk_80'],
        [3760, 'disk_80'],
      ],
      told,
    ).said,
  ).toEqual(['3760 over backup_late']);
});

test('[OPS-28] a start and a stop are not told', () => {
  expect(play([[0, 'starting'], [5], [99, 'draining']])).toEqual({ told: new Map(), said: [] });
});

test('[OPS-28] a letter says which hub, what it means, since when, and what it was before', () => {
  const change = { name: 'disk_95', isOver: false, before: 'disk_90', sinceMs: NOW } as const;
  expect(wordsOf(change, 'hub.example.org')).toEqual({
    title: 'hub.example.org: Disk 95% full',
    text: `${conditionOf('disk_95').message} Before: Disk 90% full. Since 2026-11-23T12:00:00.000Z.`,
    severity: 'critical',
  });
  expect(wordsOf({ ...change, isOver: true, before: undefined }, 'hub.example.org')).toEqual({
    title: 'hub.example.org: over: Disk 95% full',
    text: 'It began at 2026-11-23T12:00:00.000Z and is over.',
    severity: 'over',
  });
});
