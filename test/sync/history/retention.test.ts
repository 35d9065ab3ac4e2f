/** What is let go of with time, and what never is. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { conflictBytes, pieces } from '../../../src/sync/log/records.ts';
import { openSyncDesk, type SyncDesk } from '../support.ts';

const DAY_MS = 86_400_000;
const START_MS = Date.parse('2026-11-20T12:00:00.000Z');
const LONG = 'l'.repeat(100_000);
const WHO = 'account';
let desk: SyncDesk;

beforeEach(async () => {
  desk = await openSyncDesk(START_MS);
});
afterEach(() => desk.close());

async function push(path: string, content: string, more = {}) {
  desk.clock.ms += 1000;
  return (await desk.sync.push.push(WHO, desk.push(path, content, more))).record;
}

async function versionsOf(path: string) {
  const page = await desk.sync.history.list(WHO, { path, vaultId: undefined, limit: 1000, before: undefined });
  return page.versions.map(({ seq }) => seq);
}

const piecesLeft = () => [...desk.store.keys(pieces)].length;

test('[SYN-7] a version goes only when it is older than 30 days and not among the newest 20 of its path', async () => {
  for (let n = 1; n <= 25; n += 1) await push('busy.md', `${n}`);
  for (let n = 1; n <= 20; n += 1) await push('quiet.md', `${n}`);
  expect(await desk.sync.retention.run()).toBe(0);
  await push('busy.md', 'new');
  // Of the six beyond the newest twenty, three are of the first three seconds.
  desk.clock.ms = START_MS + 30 * DAY_MS + 3001;
  expect(await desk.sync.retention.run()).toBe(3);
  expect(await versionsOf('busy.md')).toHaveLength(23);
  expect(await versionsOf('quiet.md')).toHaveLength(20);
  desk.clock.ms = START_MS + 100 * DAY_MS;
  expect(await desk.sync.retention.run()).toBe(3);
  expect(await versionsOf('busy.md')).toEqual([46, ...Array.from({ length: 19 }, (_, n) => 25 - n)]);
  expect(await desk.sync.retention.run()).toBe(0);
  expect(desk.problems()).toEqual([]);
  expect(await push('busy.md', 'again')).toMatchObject({ versions: 21 });
  expect(desk.problems()).toEqual([]);
});

test('[SYN-7] a chain of any length goes, and its pieces with it, but for those that a restored version holds', async () => {
  const first = await push('long.md', `${LONG}1`);
  await push('long.md', `${LONG}2`);
  for (let n = 1; n <= 450; n += 1) await push('long.md', `${n}`);
  await desk.sync.history.restore(WHO, {
    path: 'long.md',
    seq: first.seq,
    vaultId: undefined,
    baseSha: undefined,
    deviceId: undefined,
  });
  expect(piecesLeft()).toBe(2);
  desk.clock.ms += 31 * DAY_MS;
  expect(await desk.sync.retention.run()).toBe(433);
  expect(piecesLeft()).toBe(1);
  expect(desk.problems()).toEqual([]);
  const vaultId = desk.sync.reader.primaryOf(WHO) ?? '';
  expect(desk.sync.reader.content(vaultId, 453)?.toString()).toBe(`${LONG}1`);
});

test('[SYN-6] a tombstone stays for good', async () => {
  const { sha256 } = await push('gone.md', 'x');
  desk.clock.ms += 1000;
  const gone = { content: undefined, sha256: undefined, deleted: true, base_sha: sha256 };
  await desk.sync.push.push(WHO, desk.push('gone.md', '', gone));
  desk.clock.ms += 1000 * DAY_MS;
  expect(await desk.sync.retention.run()).toBe(0);
  expect(await versionsOf('gone.md')).toHaveLength(2);
});

test('[SYN-14] nothing of a path goes while a conflict of it is pending', async () => {
  for (let n = 1; n <= 30; n += 1) await push('both.md', `${n}`);
  await expect(push('both.md', 'mine', { device_id: 'phone', base_sha: `${'0'.repeat(63)}1` })).rejects.toThrow(
    'Conflict',
  );
  desk.clock.ms += 31 * DAY_MS;
  expect(await desk.sync.retention.run()).toBe(0);
  await desk.sync.conflicts.resolvePath(WHO, {
    path: 'both.md',
    vaultId: undefined,
    keep: { side: 'theirs' },
    baseSha: undefined,
    deviceId: undefined,
  });
  expect(await desk.sync.retention.run()).toBe(10);
  expect(desk.problems()).toEqual([]);
});

test('[SYN-14] a settled conflict goes 30 days later with its bytes, short or long, and not before', async () => {
  for (const content of ['mine', LONG]) {
    const path = `${content.length}.md`;
    await push(path, 'theirs');
    await expect(push(path, content, { device_id: 'phone', base_sha: '' })).rejects.toThrow('Conflict');
    const { conflicts } = await desk.sync.conflicts.pending(WHO, {
      vaultId: undefined,
      path,
      limit: 9,
      cursor: undefined,
    });
    await desk.sync.conflicts.resolve(WHO, {
      conflictId: conflicts[0]?.id ?? '',
      vaultId: undefined,
      keep: { side: 'theirs' },
      baseSha: undefined,
      deviceId: undefined,
    });
  }
  desk.clock.ms += 30 * DAY_MS - 5000;
  expect(await desk.sync.retention.run()).toBe(0);
  desk.clock.ms += 10_000;
  expect(await desk.sync.retention.run()).toBe(2);
  expect([piecesLeft(), [...desk.store.keys(conflictBytes)].length]).toEqual([0, 0]);
  expect(desk.problems()).toEqual([]);
});
