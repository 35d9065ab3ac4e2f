/** Who may take over, how long a lease holds, and how an owner settles what the log did not say. */
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { afterEach, expect, test } from 'vitest';
import { StartError } from '../../src/common/start-error.ts';
import { CHAIN_START, ChainBroken } from '../../src/replication/chain.ts';
import { DamagedRecord, decodeHead, decodeRecord, NO_HASH, type RecordHead } from '../../src/replication/frame.ts';
import { type CommitLog, type Created, LogGap, OutcomeUnknown } from '../../src/replication/log/log.ts';
import { BegunAgain, checkBegins } from '../../src/replication/members/begin-again.ts';
import { type ClockMoment, heardNothingMs, MemberLease, systemClock } from '../../src/replication/members/lease.ts';
import { Owner } from '../../src/replication/members/owner.ts';
import {
  isFatal,
  isNewHistory,
  mayTakeOver,
  ownerOf,
  type TakeOverFacts,
} from '../../src/replication/members/take-over.ts';
import { Forked, meet } from '../../src/replication/members/unlogged.ts';
import { termOfPart } from '../../src/replication/names.ts';

const head = (more: Partial<RecordHead>): RecordHead => ({
  cell: 1,
  incarnation: 'i',
  position: 7,
  member: 'west',
  timeMs: 0,
  id: 'r',
  previousHash: NO_HASH,
  kind: 'beat',
  ...more,
});
const facts = (more: Partial<TakeOverFacts>): TakeOverFacts => ({
  newest: head({ note: { instance: 'w', lease: '10000' } }),
  identity: { name: 'east', instance: 'e' },
  silentMs: 0,
  leaseMs: 10_000,
  priority: 0,
  isPartial: false,
  hasRoom: true,
  ...more,
});

test.each<[string, Partial<TakeOverFacts>, string | null]>([
  ['an empty log', { newest: undefined }, null],
  ['an owner that was just heard', { silentMs: 11_999 }, 'west'],
  ['an owner that was not heard for longer than its lease', { silentMs: 12_000 }, null],
  ['the same, and a priority: nobody serves meanwhile', { silentMs: 12_000, priority: 3 }, null],
  ['the same, and a disk without room', { silentMs: 99_999, hasRoom: false }, null],
  ['an owner with a longer lease', { silentMs: 12_000, leaseMs: 1000 }, null],
  ['a hand-over', { newest: head({ kind: 'hand-over', note: { to: 'north' } }) }, null],
])('[MEMBER-3] who serves, as a follower knows it: %s', (_what, more, owner) => {
  expect(ownerOf(facts(more))).toBe(owner);
});

test.each<[string, Partial<TakeOverFacts>, boolean]>([
  ['an empty log', { newest: undefined }, true],
  ['an owner that was just heard', { silentMs: 9999 }, false],
  ['one lease of silence', { silentMs: 10_000 }, false],
  ['1.2 leases of silence', { silentMs: 12_000 }, true],
  ['1.2 leases of silence, with a priority of 3', { silentMs: 12_000, priority: 3 }, false],
  ['almost three seconds more', { silentMs: 14_999, priority: 3 }, false],
  ['three seconds more', { silentMs: 15_000, priority: 3 }, true],
  ['a shorter lease of its own: that of the owner counts', { silentMs: 2000, leaseMs: 1000 }, false],
  ['a hand-over to whoever is first', { newest: head({ kind: 'hand-over', note: {} }) }, true],
  ['a hand-over to this member', { newest: head({ kind: 'hand-over', note: { to: 'east' } }) }, true],
  ['a hand-over to another member', { newest: head({ kind: 'hand-over', note: { to: 'north' } }) }, false],
  [
    'a hand-over of its own to another',
    { newest: head({ kind: 'hand-over', note: { to: 'north', instance: 'e' } }) },
    false,
  ],
  ['a crash of its own', { newest: head({ note: { instance: 'e' } }) }, true],
  ['a crash of its own after it served', { newest: head({ note: { instance: 'e', term: '3' } }) }, true],
  ['a crash of its own while it started', { newest: head({ note: { instance: 'e', term: '4' } }) }, false],
  [
    'a crash of its own at once',
    { newest: head({ kind: 'take-over', note: { instance: 'e', term: '7' } }), silentMs: 11_999 },
    false,
  ],
  [
    'a crash of its own at once, and nobody else came',
    { newest: head({ kind: 'take-over', note: { instance: 'e', term: '7', lease: '10000' } }), silentMs: 12_000 },
    true,
  ],
  ['a disk without room', { silentMs: 99_999, hasRoom: false }, false],
  ['a hand-over to a disk without room', { newest: head({ kind: 'hand-over', note: {} }), hasRoom: false }, false],
  ['an empty log and a disk without room', { newest: undefined, hasRoom: false }, false],
  ['a log that does not have the whole hub', { silentMs: 99_999, isPartial: true }, false],
])('[MEMBER-3] whether a member takes over: %s', (_what, more, isDue) => {
  expect(mayTakeOver(facts(more))).toMatchObject({ isDue, why: expect.stringMatching(/./) });
});

test.each<[string, Partial<ClockMoment>, boolean]>([
  ['just before its end', { monotonicMs: 9999 }, true],
  ['at its end', { monotonicMs: 10_000 }, false],
  ['a wall clock that is an hour ahead', { monotonicMs: 1, wallMs: 3_600_000 }, false],
  ['a wall clock that was set back', { monotonicMs: 9999, wallMs: -3_600_000 }, true],
  ['a wall clock that was set back cannot lengthen it', { monotonicMs: 10_000, wallMs: -3_600_000 }, false],
])('[MEMBER-2] whether a lease holds: %s', (_what, moment, isValid) => {
  const start: ClockMoment = { monotonicMs: 5000, wallMs: 7000, bootMs: undefined };
  let now = start;
  const lease = new MemberLease(10_000, { now: () => now, look: () => now });
  expect(lease.isValid).toBe(false);
  lease.renew(start);
  const { monotonicMs = 0, wallMs = 0 } = moment;
  now = { ...start, monotonicMs: start.monotonicMs + monotonicMs, wallMs: start.wallMs + wallMs };
  expect(lease.isValid).toBe(isValid);
  lease.end();
  expect(lease.isValid).toBe(false);
});

test.each<[string, ClockMoment, number]>([
  ['a second', { monotonicMs: 1000, wallMs: 1000, bootMs: 1000 }, 1000],
  ['a wall clock that is set an hour ahead', { monotonicMs: 1, wallMs: 3_600_001, bootMs: 1 }, 1],
  ['a wall clock that is set back', { monotonicMs: 1000, wallMs: -3_600_000, bootMs: 1000 }, 1000],
  ['an hour of sleep', { monotonicMs: 1, wallMs: 3_600_001, bootMs: 3_600_001 }, 1],
])('[MEMBER-3] for how long a follower has heard nothing: %s', (_what, passed, ms) => {
  const from = { monotonicMs: 5000, wallMs: 7000, bootMs: 9000 };
  const to = {
    monotonicMs: from.monotonicMs + passed.monotonicMs,
    wallMs: from.wallMs + passed.wallMs,
    bootMs: from.bootMs + (passed.bootMs ?? 0),
  };
  expect(heardNothingMs(from, to)).toBe(ms);
});

test.each<[string, ClockMoment, number]>([
  ['nothing but the monotonic clock goes on', { monotonicMs: 2000, wallMs: 0, bootMs: 0 }, 2000],
  ['a machine that slept for an hour', { monotonicMs: 1, wallMs: 0, bootMs: 3_600_000 }, 3_600_000],
  ['a system that does not say how long it slept', { monotonicMs: 3, wallMs: 2, bootMs: undefined }, 3],
])('[MEMBER-2] for how long an owner was silent, by the clock that says most: %s', (_what, passed, ms) => {
  const from: ClockMoment = { monotonicMs: 5000, wallMs: 7000, bootMs: 9000 };
  const now: ClockMoment = {
    monotonicMs: from.monotonicMs + passed.monotonicMs,
    wallMs: from.wallMs + passed.wallMs,
    bootMs: passed.bootMs === undefined ? undefined : 9000 + passed.bootMs,
  };
  const lease = new MemberLease(10_000, { now: () => now, look: () => now });
  lease.renew(from);
  expect(lease.silentMs()).toBe(ms);
});

test.runIf(existsSync('/proc/uptime'))(
  '[MEMBER-2] the clock of the machine counts from its boot, in milliseconds',
  () => {
    const bootMs = Number.parseFloat(readFileSync('/proc/uptime', 'utf8')) * 1000;
    expect(Math.abs((systemClock.look().bootMs ?? 0) - bootMs)).toBeLessThan(60_000);
    expect(systemClock.now().bootMs).toBeUndefined();
  },
);

test.each<[string, Partial<RecordHead> | undefined, boolean]>([
  ['an empty log', undefined, false],
  ['an owner that answers after the log', { note: { instance: 'w', ack: 'log' } }, false],
  ['an owner of an earlier version, which says nothing', { note: { instance: 'w' } }, false],
  ['an owner that answered before the log', { note: { instance: 'w', ack: 'local' } }, true],
  ['one that handed over: the log has all', { kind: 'hand-over', note: { instance: 'w', ack: 'local' } }, false],
  ['itself before a crash: its file has all', { note: { instance: 'e', ack: 'local' } }, false],
])('[MEMBER-5] whether answered writes may be missing after a take-over from %s', (_what, newest, isNew) => {
  const { identity } = facts({});
  expect(isNewHistory({ newest: newest && head(newest), identity })).toBe(isNew);
});

const ROW = { table: 't', key: Buffer.of(1), value: Buffer.of(1) };
const SPAN = { first: 3, last: 5 };
test.each<[string, Record<string, string>, number, typeof SPAN | undefined, ReturnType<typeof meet>]>([
  ['of another member, when the log has all', { instance: 'w' }, 1, undefined, 'apply'],
  ['of its own, when the log has all', { instance: 'e', through: '9' }, 1, undefined, 'apply'],
  ['of its own with the first commit', { instance: 'e', through: '3' }, 1, SPAN, 'confirm'],
  ['of its own with all commits', { instance: 'e', through: '5' }, 1, SPAN, 'confirm'],
  ['of its own with earlier commits only', { instance: 'e', through: '2' }, 1, SPAN, 'forked'],
  ['of its own without rows, such as a beat', { instance: 'e' }, 0, SPAN, 'apply'],
  ['a beat of its own, when it lacks all', { instance: 'e' }, 0, { first: 1, last: 2 }, 'apply'],
  ['of its own with rows of no commit', { instance: 'e' }, 1, SPAN, 'forked'],
  ['of another member', { instance: 'w' }, 1, SPAN, 'forked'],
  ['of another member without rows: it has taken over', { instance: 'w' }, 0, SPAN, 'forked'],
  ['of another member with the number of a commit', { instance: 'w', through: '5' }, 1, SPAN, 'forked'],
])(
  '[MEMBER-5] what a record means for a file with commits that no record has: one %s',
  (_what, note, rows, span, is) => {
    expect(meet({ note, rows: Array.from({ length: rows }, () => ROW) }, 'e', span)).toBe(is);
  },
);

test.each<[string, unknown, boolean]>([
  ['another log', new ChainBroken('x'), true],
  ['changed bytes', new DamagedRecord('x'), true],
  ['a removed record', new LogGap(1, 3), true],
  ['another master key', new StartError('x'), true],
  ['a log that goes on with a restored hub', new BegunAgain(head({})), true],
  ['a log that begins again', Object.assign(new Error('x'), { name: 'OtherIncarnation' }), true],
  ['a fork', new Forked(head({})), true],
  ['a store that does not answer', new Error('x'), false],
  ['an unknown outcome', new OutcomeUnknown('x'), false],
  ['no error at all', 'StartError', false],
])('[MEMBER-4] what ends a follower: %s', (_what, error, isEnd) => {
  expect(isFatal(error)).toBe(isEnd);
});

test.each<[string, string, RegExp | undefined]>([
  ['the one that was restored', 'before', undefined],
  ['its own first record, after a crash', 'after', undefined],
  ['another restored hub', 'other', /gone on with another restored hub at record 7/],
])('[MEMBER-7] a restored hub that goes into the log meets there: %s', (_what, incarnation, refusal) => {
  const check = () => checkBegins({ from: 'before', begins: 'after' }, head({ incarnation }));
  if (refusal === undefined) check();
  else expect(check).toThrow(refusal);
});

/** A log in memory whose answers are scripted: what it does with the next appends, then it writes. */
class ScriptedLog implements Partial<CommitLog> {
  readonly records = new Map<number, Uint8Array>();
  readonly script: ('lose the answer' | 'lose the request')[] = [];
  readonly parts: string[] = [];

  putPart(name: string): Promise<void> {
    this.parts.push(name);
    return Promise.resolve();
  }

  append(position: number, bytes: Uint8Array): Promise<Created> {
    const act = this.script.shift();
    if (act === 'lose the request') return Promise.reject(new OutcomeUnknown('cut'));
    const there = this.records.get(position);
    if (there === undefined) this.records.set(position, bytes);
    if (act === 'lose the answer') return Promise.reject(new OutcomeUnknown('cut'));
    return Promise.resolve(there === undefined || Buffer.compare(there, bytes) === 0 ? 'written' : 'taken');
  }

  ends() {
    const positions = [...this.records.keys()];
    return Promise.resolve(positions.length === 0 ? undefined : { first: 1, last: Math.max(...positions) });
  }
}

const owners: Owner[] = [];
afterEach(() => {
  for (const owner of owners.splice(0)) owner.stop();
});

function newOwner(log: ScriptedLog, clock?: { now: () => ClockMoment; look: () => ClockMoment }, end = CHAIN_START) {
  const deaths: string[] = [];
  const lease = new MemberLease(60_000, clock);
  lease.renew(lease.clock.look());
  const owner = new Owner({
    commitLog: log as unknown as CommitLog,
    identity: { name: 'west', instance: 'w' },
    ack: 'log',
    cell: 1,
    incarnation: 'i',
    end,
    lease,
    log: pino({ level: 'silent' }),
    die: (words) => deaths.push(words),
  });
  owners.push(owner);
  return { owner, lease, deaths };
}

const row = (n: number) => ({ table: 't', key: Buffer.from([n]), value: Buffer.from([n]) });

test('[MEMBER-4] records and the names of parts say the position by which their owner took over', async () => {
  const log = new ScriptedLog();
  const { owner } = newOwner(log, undefined, { position: 6, hash: CHAIN_START.hash });
  const part = await owner.putPart(Buffer.from('large'));
  await owner.append([row(1)]);
  await owner.append([{ table: 't', key: Buffer.from([2]), part }]);
  await owner.handOver(undefined);
  const heads = [...log.records.values()].map(decodeHead);
  expect(heads.map(({ position, note }) => [position, note?.['term']])).toEqual([
    [7, '6'],
    [8, '6'],
    [9, '6'],
  ]);
  expect(log.parts.map(termOfPart)).toEqual([6]);
});

test('[MEMBER-2] lost requests and lost answers are settled: each append has one record, in order', async () => {
  const log = new ScriptedLog();
  const { owner, deaths } = newOwner(log);
  log.script.push('lose the answer', 'lose the request', 'lose the request', 'lose the answer');
  const places = await Promise.all([1, 2, 3].map((n) => owner.append([row(n)])));
  expect(places.map(({ position }) => position)).toEqual([1, 2, 3]);
  const records = await Promise.all([...log.records.values()].map(decodeRecord));
  expect(records.map(({ rows }) => rows[0]?.key[0])).toEqual([1, 2, 3]);
  expect(records.map(({ previousHash }) => previousHash)).toEqual([NO_HASH, places[0]?.hash, places[1]?.hash]);
  expect(deaths).toEqual([]);
});

test('[MEMBER-2] a position that another record has ends the owner, and nobody is answered', async () => {
  const log = new ScriptedLog();
  const { owner, deaths } = newOwner(log);
  log.records.set(1, Buffer.from('of another member'));
  let answered = false;
  void owner.append([row(1)]).then(() => {
    answered = true;
  });
  while (deaths.length === 0) await sleep(1);
  await sleep(20);
  expect([deaths, answered]).toEqual([['member: fenced: another member owns the log'], false]);
});

test('[MEMBER-2] after a silence longer than its lease an owner looks at the end of the log before it appends', async () => {
  const log = new ScriptedLog();
  let ms = 0;
  const moment = () => ({ monotonicMs: ms, wallMs: 0, bootMs: undefined });
  const { owner, deaths } = newOwner(log, { now: moment, look: moment });
  await owner.append([row(1)]);
  // Position 2 was another member's and has been trimmed: it looks free.
  log.records.set(3, Buffer.from('of another member'));
  ms = 61_000;
  void owner.append([row(2)]);
  while (deaths.length === 0) await sleep(1);
  await sleep(20);
  expect([deaths[0], log.records.has(2)]).toEqual(['member: fenced: another member owns the log', false]);
});

test('[MEMBER-2] an append that took long renews the lease from its first attempt', async () => {
  const log = new ScriptedLog();
  let ms = 0;
  const moment = () => ({ monotonicMs: ms, wallMs: 0, bootMs: undefined });
  const { owner, lease } = newOwner(log, { now: moment, look: moment });
  log.script.push('lose the answer');
  const written = owner.append([row(1)]);
  while (!owner.isUnsure) await sleep(1);
  ms = 59_000;
  await written;
  expect(lease.leftMs).toBe(1000);
});

test('[MEMBER-2] an owner that was answered is unsure no more, and hands over without a lease', async () => {
  const log = new ScriptedLog();
  const { owner, lease } = newOwner(log);
  log.script.push('lose the answer');
  await owner.append([row(1)]);
  expect([owner.isUnsure, lease.isValid]).toEqual([false, true]);
  const handed = owner.handOver('east');
  // From the first moment on: what it answered later, the other one would not know.
  expect(lease.isValid).toBe(false);
  await handed;
  const last = await decodeRecord(log.records.get(2) ?? Buffer.alloc(0));
  expect([last.kind, last.note?.['to']]).toEqual(['hand-over', 'east']);
});

test('[MEMBER-2] an owner whose data file does not take what the log has ends itself', () => {
  const { owner, deaths } = newOwner(new ScriptedLog());
  owner.lost(new Error('no space'));
  expect(deaths).toEqual([expect.stringContaining('does not take a record')]);
});

test('[MEMBER-1] a log says whether it has the whole hub that it began with', async () => {
  const log = new ScriptedLog();
  const { owner } = newOwner(log);
  const places = [await owner.seed([row(1)], false), await owner.append([row(2)]), await owner.seed([row(3)], true)];
  expect(places.map(({ isPartial }) => isPartial === true)).toEqual([true, true, false]);
  const records = await Promise.all([...log.records.values()].map(decodeRecord));
  expect(records.map(({ note }) => note?.['seed'])).toEqual(['more', undefined, 'last']);
});
