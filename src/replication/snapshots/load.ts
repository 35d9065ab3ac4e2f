/** Makes a data file from a snapshot and the records after it. */
import { createHash } from 'node:crypto';
import { StartError } from '../../common/start-error.ts';
import { RawFile } from '../../store/copies/raw-file.ts';
import { placeRow } from '../../store/logged/place.ts';
import { type LoggedRow, storedKey } from '../../store/rows.ts';
import { type ChainEnd, follow } from '../chain.ts';
import { decodeRecord } from '../frame.ts';
import type { CommitLog } from '../log/log.ts';
import { decodeRows } from '../row-bytes.ts';
import { addRow, type SnapshotManifest } from './manifest.ts';
import { readRecords } from './segments.ts';

/** Bytes of rows that one commit takes from records. */
const COMMIT_BYTES = 16 * 1024 * 1024;

/** What has been read, for progress. */
export type OnBytes = (bytes: number) => void;

/**
 * Writes a snapshot into a new data file at `path`, and compares row counts and digests. Throws StartError when the
 * snapshot is not what its manifest says.
 */
export async function loadSnapshot(
  log: CommitLog,
  manifest: SnapshotManifest,
  path: string,
  mapBytes: number,
  onBytes: OnBytes = () => undefined,
): Promise<void> {
  const file = new RawFile(path, mapBytes, false);
  try {
    for (const part of manifest.parts) {
      const bytes = await checkedPart(log, part);
      await file.write(await decodeRows(bytes));
      onBytes(bytes.length);
    }
    for (const [table, { rows, sha256 }] of Object.entries(manifest.tables)) {
      const digest = createHash('sha256');
      let count = 0;
      for (const row of file.rows(table)) {
        addRow(digest, row);
        count += 1;
      }
      if (count === rows && digest.digest('hex') === sha256) continue;
      throw new StartError(
        `The snapshot of record ${manifest.position} is damaged: its table ${table} has other rows.`,
      );
    }
  } finally {
    await file.close();
  }
}

async function checkedPart(log: CommitLog, part: { name: string; sha256: string }): Promise<Uint8Array> {
  const bytes = await log.getPart(part.name);
  if (createHash('sha256').update(bytes).digest('hex') === part.sha256) return bytes;
  throw new StartError(`The part ${part.name} of the log has other bytes than were written.`);
}

export interface Reached extends ChainEnd {
  /** When the newest applied record was written, in milliseconds since 1970. */
  readonly timeMs: number;
  /** True while the rows of a hub that had no log are only partly in it. */
  readonly isPartial: boolean;
}

export interface ApplyOptions {
  readonly atMs?: number;
  readonly onBytes?: OnBytes;
  /** Stop before the first record of a restored hub, whose rows are in a snapshot; default: throw StartError. */
  readonly stopsAtBegin?: boolean;
}

/**
 * Applies the records after a snapshot to its data file, up to the last one before the first that was written after
 * `atMs`. Throws ChainBroken, LogGap and DamagedRecord.
 */
export async function applyRecords(
  log: CommitLog,
  manifest: Pick<SnapshotManifest, 'cell' | 'incarnation' | 'position' | 'hash'> & { readonly timeMs?: number },
  path: string,
  mapBytes: number,
  { atMs = Number.POSITIVE_INFINITY, onBytes = () => undefined, stopsAtBegin = false }: ApplyOptions = {},
): Promise<Reached> {
  const file = new RawFile(path, mapBytes, false);
  const { position: at, hash: start, timeMs = 0 } = manifest;
  let reached: Reached = { position: at, hash: start, timeMs, isPartial: false };
  let { incarnation } = manifest;
  let waiting: LoggedRow[] = [];
  let size = 0;
  const commit = async () => {
    const { position, hash } = reached;
    const { key, bytes, table } = placeRow({ cell: manifest.cell, incarnation, position, hash });
    await file.write([...waiting, { table: table.name, key: storedKey(key), value: bytes }]);
    waiting = [];
    size = 0;
  };
  try {
    for await (const { bytes } of readRecords(log, manifest.position + 1)) {
      const record = await decodeRecord(bytes);
      if (record.timeMs > atMs) break;
      if (record.note?.['begins'] !== undefined) {
        if (stopsAtBegin) break;
        throw new StartError(
          `The hub was restored at record ${record.position}, ${new Date(record.timeMs).toISOString()}, and the log has no snapshot between that and the time that you name. Name an earlier time, or one after the next snapshot.`,
        );
      }
      const seed = record.note?.['seed'];
      const isPartial = seed === undefined ? reached.isPartial : seed === 'more';
      reached = { ...follow(reached, record), timeMs: record.timeMs, isPartial };
      incarnation = record.incarnation;
      for (const row of record.rows) {
        const value = row.part === undefined ? row.value : await checkedPart(log, row.part);
        waiting.push({ table: row.table, key: row.key, value });
        size += value?.length ?? 0;
      }
      onBytes(bytes.length);
      if (size >= COMMIT_BYTES) await commit();
    }
    await commit();
    return reached;
  } finally {
    await file.close();
  }
}
