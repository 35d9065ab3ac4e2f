/** Makes a data file from a snapshot and the records after it. */
import { createHash } from 'node:crypto';
import { StartError } from '../../common/start-error.ts';
import { limits } from '../../limits/service.ts';
import { RawFile } from '../../store/copies/raw-file.ts';
import { placeRow } from '../../store/logged/place.ts';
import type { StoredRow } from '../../store/logged/replica.ts';
import { type LoggedRow, storedKey } from '../../store/rows.ts';
import { OneBehind, openAhead } from '../ahead.ts';
import { type ChainEnd, follow } from '../chain.ts';
import type { CommitLog } from '../log/log.ts';
import { decodeRows } from '../row-bytes.ts';
import { addRow, type SnapshotManifest } from './manifest.ts';
import { readRecords } from './segments.ts';

/** Bytes of rows that are compared between two pauses for other work of this thread. */
const TURN_BYTES = 1024 * 1024;

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
  const writing = new OneBehind();
  try {
    for await (const { rows, bytes } of partsAhead(log, manifest)) {
      await writing.begin(() => file.write(rows));
      onBytes(bytes);
    }
    await writing.end();
    let turn = 0;
    for (const [table, { rows, sha256 }] of Object.entries(manifest.tables)) {
      const digest = createHash('sha256');
      let count = 0;
      for (const row of file.rows(table)) {
        addRow(digest, row);
        count += 1;
        turn += row.value.length;
        if (turn < TURN_BYTES) continue;
        turn = 0;
        await new Promise((resolve) => setImmediate(resolve));
      }
      if (count === rows && digest.digest('hex') === sha256) continue;
      throw new StartError(
        `The snapshot of record ${manifest.position} is damaged: its table ${table} has other rows.`,
      );
    }
  } finally {
    await writing.end().catch(() => undefined);
    await file.close();
  }
}

/** The rows of each part, of which the next is fetched and unpacked while the reader writes one. */
async function* partsAhead(
  log: CommitLog,
  { parts }: SnapshotManifest,
): AsyncGenerator<{ readonly rows: readonly LoggedRow[]; readonly bytes: number }> {
  const read = async (at: number) => {
    const part = parts[at];
    if (part === undefined) return undefined;
    const bytes = await checkedPart(log, part);
    return { rows: await decodeRows(bytes), bytes: bytes.length };
  };
  let next = read(0);
  for (let at = 1; ; at += 1) {
    const part = await next;
    if (part === undefined) return;
    next = read(at);
    // A reader that stops early leaves it behind, and its failure is not reported.
    next.catch(() => undefined);
    yield part;
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
  const writing = new OneBehind();
  let waiting: StoredRow[] = [];
  let size = 0;
  const commit = async () => {
    const { position, hash } = reached;
    const { key, bytes, table } = placeRow({ cell: manifest.cell, incarnation, position, hash });
    const rows = [...waiting, { table: table.name, key: storedKey(key), value: bytes }];
    waiting = [];
    size = 0;
    await writing.begin(() => file.write(rows));
  };
  try {
    const stored = readRecords(log, manifest.position + 1);
    for await (const { record, rows, bytes } of openAhead(stored, (part) => checkedPart(log, part))) {
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
      for (const row of rows) {
        waiting.push(row);
        size += row.value?.length ?? 0;
      }
      onBytes(bytes);
      if (size >= limits.logAppliedBytes) await commit();
    }
    await commit();
    await writing.end();
    return reached;
  } finally {
    await writing.end().catch(() => undefined);
    await file.close();
  }
}
