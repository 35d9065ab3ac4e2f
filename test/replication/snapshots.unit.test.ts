/** Snapshots, segments, trimming and the way back, over a log in a folder. */
import { randomBytes } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { limits } from '../../src/limits/service.ts';
import { decodeHead, encodeRecord, NO_HASH } from '../../src/replication/frame.ts';
import { type CommitLog, LogGap } from '../../src/replication/log/log.ts';
import { openCommitLog } from '../../src/replication/log/open.ts';
import { isSnapshotDue } from '../../src/replication/snapshots/keeper.ts';
import { applyRecords, loadSnapshot } from '../../src/replication/snapshots/load.ts';
import { makeSnapshot } from '../../src/replication/snapshots/make.ts';
import { encodeManifest, findSnapshot, manifestName } from '../../src/replication/snapshots/manifest.ts';
import { listSegments, makeSegment, readRecords } from '../../src/replication/snapshots/segments.ts';
import { trimLog } from '../../src/replication/snapshots/trim.ts';
import { RawFile } from '../../src/store/copies/raw-file.ts';
import { DATA_FILE } from '../../src/store/data-file/names.ts';
import { placeRow, replicationTables } from '../../src/store/logged/place.ts';
import type { LoggedRow } from '../../src/store/rows.ts';
import { storedKey } from '../../src/store/rows.ts';
import { Store } from '../../src/store/store.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const MAP_BYTES = 1024 * 1024 * 1024;
const HOUR_MS = 3_600_000;
const START_MS = Date.parse('2026-01-01T00:00:00Z');

type Content = Map<string, string>;

/** A member that writes its own log: a record a minute, each sets some rows and removes some; one value is a part. */
async function filledLog(records: number) {
  const url = `file://${temporaryFolder()}`;
  const log = await openCommitLog(url);
  const folder = temporaryFolder();
  const path = join(folder, DATA_FILE);
  const content: Content = new Map();
  const moments: { readonly timeMs: number; readonly content: Content }[] = [];
  const file = new RawFile(path, MAP_BYTES, false);
  let hash = NO_HASH;
  for (let position = 1; position <= records; position += 1) {
    const timeMs = START_MS + position * 60_000;
    const rows: LoggedRow[] = [];
    for (let row = 0; row < 5; row += 1) {
      const [table, key] = [`t${row % 2}`, `k${(position * 7 + row * 3) % 40}`];
      const value = (position + row) % 6 === 0 ? undefined : `${position}-${row}`.repeat(1 + (row % 3));
      if (value === undefined) content.delete(`${table} ${key}`);
      else content.set(`${table} ${key}`, value);
      rows.push({ table, key: Buffer.from(key), value: value === undefined ? undefined : Buffer.from(value) });
    }
    await file.write(rows);
    const part = { name: `parts/${position}`, sha256: '', bytes: 0 };
    if (position % 10 === 0) {
      const large = randomBytes(50_000);
      await log.putPart(part.name, large);
      part.sha256 = (await import('node:crypto')).createHash('sha256').update(large).digest('hex');
      rows.push({ table: 'large', key: Buffer.from(`l${position}`), part: { ...part, bytes: large.length } });
      content.set(`large l${position}`, large.toString('latin1'));
      await file.write([{ table: 'large', key: Buffer.from(`l${position}`), value: large }]);
    }
    const made = await encodeRecord({
      cell: 1,
      incarnation: 'i',
      position,
      member: 'm',
      timeMs,
      id: `${position}`,
      previousHash: hash,
      kind: 'write',
      rows,
    });
    expect(await log.append(position, made.bytes)).toBe('written');
    hash = made.hash;
    const place = placeRow({ cell: 1, incarnation: 'i', position, hash });
    await file.write([{ table: place.table.name, key: storedKey(place.key), value: place.bytes }]);
    moments.push({ timeMs, content: new Map(content) });
  }
  await file.close();
  return { log, folder, moments };
}

async function snapshot(log: CommitLog, folder: string) {
  const store = new Store({ folder, tables: replicationTables, mapBytes: MAP_BYTES });
  try {
    return await makeSnapshot({ store, folder, mapBytes: MAP_BYTES, log });
  } finally {
    await store.close();
  }
}

async function contentOf(path: string): Promise<Content> {
  const file = new RawFile(path, MAP_BYTES, true);
  const found = file.tables
    .filter((table) => table !== 'replication')
    .flatMap((table) =>
      [...file.rows(table)].map((row) => [`${table} ${row.key.toString()}`, row.value.toString('latin1')] as const),
    );
  await file.close();
  return new Map(found);
}

/** The rows as of a moment, in a new data file. */
async function restored(log: CommitLog, atMs: number): Promise<Content> {
  const found = await findSnapshot(log, atMs);
  if (found === undefined) throw new Error('no snapshot');
  const path = join(temporaryFolder(), DATA_FILE);
  await loadSnapshot(log, found.manifest, path, MAP_BYTES);
  await applyRecords(log, found.manifest, path, MAP_BYTES, { atMs });
  return await contentOf(path);
}

test('[MEMBER-4] any kept moment is restored from a snapshot and the records after it, before and after trimming', async () => {
  const { log, folder, moments } = await filledLog(20);
  const early = await snapshot(log, folder);
  expect(early.position).toBe(20);
  expect(readdirSync(folder)).not.toContain('snapshotting');
  await expect(restored(log, START_MS)).rejects.toThrow('no snapshot');
  for (const { timeMs, content } of moments.slice(19)) expect(await restored(log, timeMs)).toEqual(content);
  expect(await restored(log, Number.POSITIVE_INFINITY)).toEqual(moments.at(-1)?.content);
});

test('[MEMBER-4] records are joined an hour after their successor, read as before, and go once no kept moment needs them', async () => {
  const { log, folder, moments } = await filledLog(50);
  await snapshot(log, folder);
  const all = async (from: number) => {
    const positions: number[] = [];
    for await (const { position } of readRecords(log, from)) positions.push(position);
    return positions;
  };
  const before = await all(1);
  const at = (record: number) => START_MS + record * 60_000;
  // Only what has a successor that is an hour old.
  expect(await trimLog({ log, keepDays: 7, nowMs: at(30) + HOUR_MS })).toMatchObject({
    joined: 28,
    segmentsRemoved: 0,
  });
  expect(await log.ends()).toEqual({ first: 29, last: 50 });
  expect(await all(1)).toEqual(before);
  expect(await all(15)).toEqual(before.slice(14));
  expect(await trimLog({ log, keepDays: 7, nowMs: at(100) + HOUR_MS })).toMatchObject({
    joined: 21,
    segmentsRemoved: 0,
  });
  // The newest stays, and so does all that moments need which are kept.
  expect(await log.ends()).toEqual({ first: 50, last: 50 });
  expect(await all(1)).toEqual(before);
  const late = await trimLog({ log, keepDays: 1, nowMs: at(50) + 25 * HOUR_MS });
  expect(late).toMatchObject({ joined: 0, segmentsRemoved: 2, snapshotsRemoved: 0 });
  expect(late.partsRemoved).toBe(4);
  expect(await listSegments(log)).toEqual([]);
  await expect(all(1)).rejects.toThrow(LogGap);
  expect(await restored(log, Number.POSITIVE_INFINITY)).toEqual(moments.at(-1)?.content);
});

const minute = (record: number) => START_MS + record * 60_000;

test('[MEMBER-4] a record is joined a millisecond after its successor is an hour old, and a kept day ends to the millisecond', async () => {
  const { log, folder } = await filledLog(12);
  await snapshot(log, folder);
  const trim = (nowMs: number) => trimLog({ log, keepDays: 2, nowMs });
  expect(await trim(minute(6) + HOUR_MS)).toMatchObject({ joined: 4 });
  expect(await trim(minute(6) + HOUR_MS)).toMatchObject({ joined: 0 });
  expect(await trim(minute(6) + HOUR_MS + 1)).toMatchObject({ joined: 1 });
  expect(await log.ends()).toEqual({ first: 6, last: 12 });
  const keptUntil = minute(12) + 48 * HOUR_MS;
  expect(await trim(keptUntil - 1)).toEqual({ joined: 6, segmentsRemoved: 0, partsRemoved: 0, snapshotsRemoved: 0 });
  expect(await trim(keptUntil)).toEqual({ joined: 0, segmentsRemoved: 3, partsRemoved: 1, snapshotsRemoved: 0 });
});

test('[MEMBER-4] what an interrupted trimming has joined and not removed is not joined again, and goes', async () => {
  const { log } = await filledLog(12);
  expect(await makeSegment(log, 1, 5)).toBe(5);
  const old = { log, keepDays: 1, nowMs: minute(12) + HOUR_MS + 1 };
  await expect(trimLog({ ...old, signal: AbortSignal.abort(new Error('stopped')) })).rejects.toThrow('stopped');
  expect(await log.ends()).toEqual({ first: 1, last: 12 });
  // Nothing is removed without a snapshot from before.
  const kept = { segmentsRemoved: 0, partsRemoved: 0, snapshotsRemoved: 0 };
  expect(await trimLog(old)).toEqual({ joined: 6, ...kept });
  expect((await listSegments(log)).map(({ from, to }) => [from, to])).toEqual([
    [1, 5],
    [6, 11],
  ]);
  expect(await log.ends()).toEqual({ first: 12, last: 12 });
  // Joined by a run that ended before it removed anything: the next one only removes.
  const again = await filledLog(12);
  await makeSegment(again.log, 1, 11);
  expect(await trimLog({ ...old, log: again.log })).toEqual({ joined: 0, ...kept });
  expect(await again.log.ends()).toEqual({ first: 12, last: 12 });
});

test('[MEMBER-4] a member that closes while it joins removes nothing of what is kept', async () => {
  const { log, folder } = await filledLog(12);
  await snapshot(log, folder);
  const end = new AbortController();
  const removeBefore = log.removeBefore.bind(log);
  log.removeBefore = async (position) => {
    await removeBefore(position);
    end.abort(new Error('stopped'));
  };
  const old = { log, keepDays: 1, nowMs: minute(12) + 48 * HOUR_MS };
  await expect(trimLog({ ...old, signal: end.signal })).rejects.toThrow('stopped');
  expect((await listSegments(log)).map(({ from, to }) => [from, to])).toEqual([[1, 11]]);
  expect(await trimLog(old)).toMatchObject({ joined: 0, segmentsRemoved: 1, partsRemoved: 1 });
});

test('[MEMBER-4] only what the oldest kept snapshot has goes, its large values too', async () => {
  const { log, folder } = await filledLog(22);
  const made = await snapshot(log, folder);
  // As if a snapshot had been made after record 10, and both segments by a run that was interrupted.
  const early = { ...made, form: 1 as const, position: 10, timeMs: minute(10) };
  await log.putPart(manifestName('0000000000000010-early'), encodeManifest(early));
  await makeSegment(log, 1, 10);
  await makeSegment(log, 11, 21);
  const trimmed = await trimLog({ log, keepDays: 1, nowMs: minute(15) + 24 * HOUR_MS });
  expect(trimmed).toMatchObject({ joined: 0, segmentsRemoved: 1, partsRemoved: 1, snapshotsRemoved: 0 });
  expect((await listSegments(log)).map(({ from, to }) => [from, to])).toEqual([[11, 21]]);
  expect(await log.listParts('parts/')).toEqual(['parts/20']);
});

test('[MEMBER-4] an empty log is trimmed to nothing', async () => {
  const log = await openCommitLog(`file://${temporaryFolder()}`);
  expect(await trimLog({ log, keepDays: 1, nowMs: START_MS })).toEqual({
    joined: 0,
    segmentsRemoved: 0,
    partsRemoved: 0,
    snapshotsRemoved: 0,
  });
  expect(await listSegments(log)).toEqual([]);
});

test('[MEMBER-4] older snapshots go with their manifest first, and what the kept one needs stays', async () => {
  const { log, folder, moments } = await filledLog(12);
  const first = await snapshot(log, folder);
  const second = await snapshot(log, folder);
  const removed: string[] = [];
  const removePart = log.removePart.bind(log);
  log.removePart = async (name) => {
    if (name.startsWith('snapshots/')) removed.push(name);
    await removePart(name);
  };
  const kept = (await findSnapshot(log))?.folder ?? '';
  const trimmed = await trimLog({ log, keepDays: 1, nowMs: minute(12) + 24 * HOUR_MS });
  expect(trimmed).toMatchObject({ snapshotsRemoved: 1 });
  expect(removed[0]).toMatch(/\/manifest$/);
  expect(removed).toHaveLength(1 + Math.max(first.parts.length, second.parts.length));
  expect(removed.filter((name) => name.includes(kept))).toEqual([]);
  expect(await restored(log, Number.POSITIVE_INFINITY)).toEqual(moments.at(-1)?.content);
});

test('[MEMBER-4] a damaged part of a snapshot, or one that is missing, is told and not loaded', async () => {
  const root = temporaryFolder();
  const { log, folder } = await filledLog(12);
  const { parts, ...manifest } = await snapshot(log, folder);
  const path = () => join(temporaryFolder(), DATA_FILE);
  const wrong = { ...manifest, parts: parts.map((part) => ({ ...part, sha256: '0'.repeat(64) })) };
  await expect(loadSnapshot(log, wrong, path(), MAP_BYTES)).rejects.toThrow(/has other bytes than were written/);
  const short = { ...manifest, parts: [] };
  await expect(loadSnapshot(log, short, path(), MAP_BYTES)).rejects.toThrow(/snapshot of record 12 is damaged/);
  writeFileSync(join(root, 'x'), '');
  for (const { name } of parts) await log.removePart(name);
  await expect(loadSnapshot(log, { ...manifest, parts }, path(), MAP_BYTES)).rejects.toThrow(/has no part snapshots/);
});

async function decodeHeadOf(log: CommitLog, at: number) {
  for await (const { bytes } of log.read(at)) return decodeHead(bytes);
  throw new Error(`the log has no record ${at}`);
}

test('[MEMBER-7] records of a restored hub are not put over those before: a join stops before them, a restore refuses', async () => {
  const { log, folder, moments } = await filledLog(4);
  await snapshot(log, folder);
  const last = await decodeHeadOf(log, 4);
  const record = {
    cell: 1,
    position: 5,
    member: 'm',
    timeMs: last.timeMs + 60_000,
    kind: 'take-over' as const,
    id: 'r',
  };
  const row = { table: 't0', key: Buffer.from('k'), value: Buffer.from('other') };
  const made = {
    ...record,
    incarnation: 'restored',
    previousHash: last.hash,
    rows: [row],
    note: { begins: 'restored' },
  };
  await log.append(5, (await encodeRecord(made)).bytes);
  await expect(restored(log, Number.POSITIVE_INFINITY)).rejects.toThrow(/restored at record 5, 2026-01-01T00:05/);
  expect(await restored(log, last.timeMs)).toEqual(moments.at(-1)?.content);
  const path = join(folder, DATA_FILE);
  const reached = await applyRecords(
    log,
    { cell: 1, incarnation: 'i', position: 4, hash: last.hash },
    path,
    MAP_BYTES,
    {
      stopsAtBegin: true,
    },
  );
  expect(reached.position).toBe(4);
});

test.each([
  ['there is none', undefined, 5, 0, true],
  ['nothing was written since', { position: 5, timeMs: 0 }, 5, limits.logSnapshotMs, false],
  ['it is young', { position: 5, timeMs: 0 }, 6, limits.logSnapshotMs - 1, false],
  ['it is old', { position: 5, timeMs: 0 }, 6, limits.logSnapshotMs, true],
  ['many records follow it', { position: 5, timeMs: 0 }, 5 + limits.logSnapshotRecords, 1, true],
  ['it is of the hub before a restore', { position: 5, timeMs: 0, incarnation: 'before' }, 6, 1, true],
] as const)('[MEMBER-4] whether a snapshot is due when %s', (_when, found, position, nowMs, isDue) => {
  const newest = found && { incarnation: 'i', ...found };
  expect(isSnapshotDue({ newest, incarnation: 'i', position, nowMs })).toBe(isDue);
});
