/** Makes a snapshot: all rows of a data file at one position, as parts in the store of the log. */
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { version } from '../../common/version.ts';
import { RawFile, type RawRow } from '../../store/copies/raw-file.ts';
import { DATA_FILE } from '../../store/data-file/names.ts';
import { type LogPlace, placeOfFile, replicationTables } from '../../store/logged/place.ts';
import { ReplicaFile } from '../../store/logged/replica.ts';
import { Store } from '../../store/store.ts';
import { decodeHead } from '../frame.ts';
import type { CommitLog } from '../log/log.ts';
import { positionText } from '../names.ts';
import { encodeRows, rowSize } from '../row-bytes.ts';
import { applyRecords } from './load.ts';
import { addRow, encodeManifest, manifestName, SNAPSHOTS, type SnapshotManifest } from './manifest.ts';

/** Bytes of rows in one part, before compression. */
const PART_BYTES = 32 * 1024 * 1024;
/** Bytes of rows between two pauses for other work of this thread. */
const TURN_BYTES = 1024 * 1024;
/** In the data folder: the copy that the rows are read from. */
const WORK_FOLDER = 'snapshotting';

export interface SnapshotOptions {
  readonly store: Pick<Store, 'copyTo' | 'settled'>;
  /** The data folder of the store. Its disk needs room for a second data file meanwhile. */
  readonly folder: string;
  readonly mapBytes: number;
  readonly log: CommitLog;
  /** Gives the snapshot up: it throws, and what it has written is no snapshot. */
  readonly signal?: AbortSignal;
}

/**
 * Makes a snapshot of a store that is in use. Its position is the one that the store has applied. Throws when the store
 * belongs to no log.
 */
export async function makeSnapshot({
  store,
  folder,
  mapBytes,
  log,
  signal,
}: SnapshotOptions): Promise<SnapshotManifest> {
  const work = join(folder, WORK_FOLDER);
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { mode: 0o700 });
  try {
    await store.copyTo(join(work, DATA_FILE));
    const place = await settledPlace({ store, work, mapBytes, log });
    const file = new RawFile(join(work, DATA_FILE), mapBytes, true);
    try {
      return await writeSnapshot(file, log, place, await timeOf(log, place.position), signal);
    } finally {
      await file.close();
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * The place of a copy. Commits in it that the log did not have yet are in later records: with these, the copy is what
 * the log says.
 */
async function settledPlace({
  store,
  work,
  mapBytes,
  log,
}: Pick<SnapshotOptions, 'store' | 'mapBytes' | 'log'> & { readonly work: string }): Promise<LogPlace> {
  const place = await readPlace(work, mapBytes);
  const copy = new ReplicaFile({ folder: work, mapBytes });
  try {
    const { unlogged } = copy;
    if (unlogged === undefined) return place;
    await store.settled();
    await copy.confirm(unlogged.last, place);
  } finally {
    await copy.close();
  }
  await applyRecords(log, place, join(work, DATA_FILE), mapBytes);
  return await readPlace(work, mapBytes);
}

async function readPlace(folder: string, mapBytes: number): Promise<LogPlace> {
  const copy = new Store({ folder, tables: replicationTables, mapBytes, readOnly: true });
  try {
    const place = placeOfFile(copy);
    if (place === undefined) throw new Error('the data file belongs to no log');
    return place;
  } finally {
    await copy.close();
  }
}

async function timeOf(log: CommitLog, position: number): Promise<number> {
  for await (const { bytes } of log.read(position)) return decodeHead(bytes).timeMs;
  throw new Error(`the log has no record ${position}`);
}

/** Writes the parts, then the manifest: a snapshot without one does not exist. */
async function writeSnapshot(
  file: RawFile,
  log: CommitLog,
  place: LogPlace,
  timeMs: number,
  signal: AbortSignal | undefined,
): Promise<SnapshotManifest> {
  const folder = `${positionText(place.position)}-${randomBytes(4).toString('hex')}`;
  const parts: SnapshotManifest['parts'] = [];
  const tables: SnapshotManifest['tables'] = {};
  let rows: RawRow[] = [];
  let size = 0;
  const flush = async () => {
    signal?.throwIfAborted();
    if (rows.length === 0) return;
    const bytes = await encodeRows(rows);
    const name = `${SNAPSHOTS}${folder}/${positionText(parts.length + 1)}`;
    await log.putPart(name, bytes);
    parts.push({
      name,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      bytes: bytes.length,
      rows: rows.length,
    });
    rows = [];
    size = 0;
  };
  let turn = 0;
  for (const table of file.tables) {
    const digest = createHash('sha256');
    let count = 0;
    for (const row of file.rows(table)) {
      const kept = { table, key: Buffer.from(row.key), value: Buffer.from(row.value) };
      addRow(digest, kept);
      count += 1;
      rows.push(kept);
      size += rowSize(kept);
      turn += rowSize(kept);
      if (size >= PART_BYTES) await flush();
      if (turn < TURN_BYTES) continue;
      turn = 0;
      signal?.throwIfAborted();
      await new Promise((resolve) => setImmediate(resolve));
    }
    tables[table] = { rows: count, sha256: digest.digest('hex') };
  }
  await flush();
  signal?.throwIfAborted();
  const { cell, incarnation, position, hash } = place;
  const manifest: SnapshotManifest = {
    form: 1,
    cell,
    incarnation,
    position,
    hash,
    timeMs,
    cairn: version,
    tables,
    parts,
  };
  await log.putPart(manifestName(folder), encodeManifest(manifest));
  return manifest;
}
