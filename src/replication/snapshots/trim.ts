/**
 * Keeps the store of a log small: joins old records into segments, and removes what no kept moment needs.
 *
 * A former owner that was stopped for long could create a removed position and believe that it still owns the hub. So a
 * record goes only when its successor is at least an hour old: engines refuse an append that was signed more than 15
 * minutes ago, or whose predecessor is gone.
 *
 * A part that no record names is left when an owner ends between the part and its record. The name of a part has its
 * owner's term: the position by which that owner took over. Such parts go once the oldest record that is left, alone or in
 * a segment, is of a later term. Records of the owner before that one are gone then, and it can append no other: the
 * position after its last record has, or had, its successor's, so an append finds it taken, or is refused as one at a
 * removed position is. A part that a former owner puts even later is named by nothing either, and goes with the next.
 */
import { decodeHead, decodeRecord } from '../frame.ts';
import type { CommitLog } from '../log/log.ts';
import { PARTS, termOfPart } from '../names.ts';
import { findSnapshot, SNAPSHOTS } from './manifest.ts';
import { listSegments, makeSegment, readRecords, readSegment } from './segments.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export interface TrimOptions {
  readonly log: CommitLog;
  /** Each second of this many days can be restored. */
  readonly keepDays: number;
  readonly nowMs: number;
  /** Ends it early, by throwing. */
  readonly signal?: AbortSignal;
}

export interface Trimmed {
  readonly joined: number;
  readonly segmentsRemoved: number;
  /** Large values that removed records named, and those that no record has named. */
  readonly partsRemoved: number;
  readonly snapshotsRemoved: number;
}

/** One member at a time runs this: the owner. An interrupted run is continued by the next. */
export async function trimLog({ log, keepDays, nowMs, signal }: TrimOptions): Promise<Trimmed> {
  const joined = await joinOld(log, nowMs - HOUR_MS, signal);
  signal?.throwIfAborted();
  const removed = await removeOld(log, nowMs - keepDays * DAY_MS);
  return { joined, ...removed };
}

/** Joins records whose successor was written before `beforeMs`, and removes them one by one. Returns their number. */
async function joinOld(log: CommitLog, beforeMs: number, signal: AbortSignal | undefined): Promise<number> {
  const ends = await log.ends();
  if (ends === undefined) return 0;
  const done = (await listSegments(log)).at(-1)?.to ?? 0;
  let next = Math.max(ends.first, done + 1);
  const to = await lastBefore(log, next, beforeMs);
  const from = next;
  while (next <= to) {
    signal?.throwIfAborted();
    const last = await makeSegment(log, next, to);
    if (last === undefined) break;
    next = last + 1;
  }
  // What an interrupted run has joined and not removed goes as well.
  await log.removeBefore(next);
  return next - from;
}

/** The newest record from `from` on whose successor was written before `beforeMs`; `from - 1`: none. */
async function lastBefore(log: CommitLog, from: number, beforeMs: number): Promise<number> {
  let last = from - 1;
  for await (const { position, bytes } of log.read(from)) {
    if (decodeHead(bytes).timeMs >= beforeMs) break;
    if (position > from) last = position - 1;
  }
  return last;
}

/** Removes what only moments before `keepMs` need: they need a snapshot from before and all records since. */
async function removeOld(log: CommitLog, keepMs: number): Promise<Omit<Trimmed, 'joined'>> {
  const removed = { segmentsRemoved: 0, partsRemoved: 0, snapshotsRemoved: 0 };
  const base = await findSnapshot(log, keepMs);
  if (base === undefined) return removed;
  for (const segment of await listSegments(log)) {
    if (segment.to > base.manifest.position) break;
    // Large values of these records are in the snapshot.
    for (const { bytes } of await readSegment(log, segment)) {
      for (const { part } of (await decodeRecord(bytes)).rows) {
        if (part === undefined) continue;
        await log.removePart(part.name);
        removed.partsRemoved += 1;
      }
    }
    await log.removePart(segment.name);
    removed.segmentsRemoved += 1;
  }
  if (removed.segmentsRemoved > 0) removed.partsRemoved += await removeUnnamed(log);
  const older = (await log.listParts(SNAPSHOTS)).filter((name) => name < `${SNAPSHOTS}${base.folder}`);
  // The manifest first: half a snapshot is none.
  for (const name of older.toSorted((a, b) => Number(b.endsWith('/manifest')) - Number(a.endsWith('/manifest')))) {
    await log.removePart(name);
    if (name.endsWith('/manifest')) removed.snapshotsRemoved += 1;
  }
  return removed;
}

/** Removes the parts of terms that ended before the oldest record that is left. Returns their number. */
async function removeUnnamed(log: CommitLog): Promise<number> {
  const oldest = await oldestTerm(log);
  const parts = await log.listParts(PARTS);
  let removed = 0;
  for (const name of parts) {
    const isUnnamed = (termOfPart(name) ?? oldest) < oldest;
    if (!isUnnamed) continue;
    await log.removePart(name);
    removed += 1;
  }
  return removed;
}

/** The term of the oldest record that is left; 0: it does not say, because an earlier version wrote it. */
async function oldestTerm(log: CommitLog): Promise<number> {
  const [segment] = await listSegments(log);
  const ends = await log.ends();
  if (ends === undefined) return 0;
  // A run that ended between joining and removing leaves records that are in segments too.
  const from = Math.min(ends.first, segment?.from ?? ends.first);
  for await (const { bytes } of readRecords(log, from)) return Number(decodeHead(bytes).note?.['term'] ?? 0);
  return 0;
}
