/** Brings the data file of a member to a snapshot of the log, where reading all records since is not possible or slow. */
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DATA_FILE } from '../../store/data-file/names.ts';
import { syncPath } from '../../store/data-file/sync-path.ts';
import type { LogPlace } from '../../store/logged/place.ts';
import type { CommitLog } from '../log/log.ts';
import { applyRecords, loadSnapshot } from './load.ts';
import { findSnapshot, type SnapshotManifest } from './manifest.ts';
import { listSegments } from './segments.ts';

/** In the data folder: the data file that is being made. */
const WORK_FOLDER = 'joining';
const POLL_MS = 1000;

export interface JoinOptions {
  readonly log: CommitLog;
  /** What the data file has of the log; undefined: nothing. */
  readonly place: LogPlace | undefined;
}

/**
 * The snapshot from which a member has to begin; undefined: it reads the records after those that it has. A member that
 * has records reads on as long as the log has the next one, alone or in a segment.
 */
export async function snapshotToJoin({ log, place }: JoinOptions): Promise<SnapshotManifest | undefined> {
  const next = (place?.position ?? 0) + 1;
  if (place !== undefined) {
    const ends = await log.ends();
    if (ends === undefined || next >= ends.first) return undefined;
    if ((await listSegments(log)).some(({ from, to }) => from <= next && next <= to)) return undefined;
  }
  const manifest = (await findSnapshot(log))?.manifest;
  if (manifest === undefined || manifest.position < next) return undefined;
  // Of another history than this member has: reading on says so.
  return place === undefined || place.incarnation === manifest.incarnation ? manifest : undefined;
}

/** Waits until the log has a snapshot of a position or a later one. Resolves with false when `signal` ended the waiting. */
export async function untilSnapshot(log: CommitLog, position: number, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted) {
    // A log that is away now may have it later.
    const found = await findSnapshot(log).catch(() => undefined);
    if (found !== undefined && found.manifest.position >= position) return true;
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
  return false;
}

/**
 * Makes the data file of a folder from a snapshot and the records after it, in place of the one that is there. The file
 * must be closed. Interrupted at any moment, the folder has the old file or the new one.
 */
export async function joinSnapshot(
  log: CommitLog,
  manifest: SnapshotManifest,
  { folder, mapBytes }: { readonly folder: string; readonly mapBytes: number },
): Promise<void> {
  const work = join(folder, WORK_FOLDER);
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { mode: 0o700 });
  try {
    const made = join(work, DATA_FILE);
    await loadSnapshot(log, manifest, made, mapBytes);
    await applyRecords(log, manifest, made, mapBytes, { stopsAtBegin: true });
    syncPath(made);
    // The lock file lists readers of the old data file. No process has it open.
    rmSync(join(folder, `${DATA_FILE}-lock`), { force: true });
    renameSync(made, join(folder, DATA_FILE));
    syncPath(folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
