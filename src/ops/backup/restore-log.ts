/** Restores any kept second of the log of several machines into a data folder without data, as a hub of its own. */
import { join } from 'node:path';
import { StartError } from '../../common/start-error.ts';
import { version } from '../../common/version.ts';
import { decodeHead, NO_HASH } from '../../replication/frame.ts';
import type { CommitLog } from '../../replication/log/log.ts';
import { openCommitLog } from '../../replication/log/open.ts';
import { applyRecords, loadSnapshot, type Reached } from '../../replication/snapshots/load.ts';
import { findSnapshot, type SnapshotManifest } from '../../replication/snapshots/manifest.ts';
import { RawFile } from '../../store/copies/raw-file.ts';
import { DATA_FILE } from '../../store/data-file/names.ts';
import { placeRow } from '../../store/logged/place.ts';
import { storedKey } from '../../store/rows.ts';
import { writeBeginMark } from '../member/begin-mark.ts';
import { findRestoreKey, type RestoreOptions, restoreInto } from './restore.ts';

export interface LogRestoreOptions extends Omit<RestoreOptions, 'from'> {
  readonly url: string;
  /** Whether the log is to go on with the restored hub. */
  readonly isIntoLog?: boolean;
  /** The settings of the store: see `openCommitLog`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface RestoredFromLog {
  readonly position: number;
  /** When the newest restored record was written, in milliseconds since 1970. */
  readonly timeMs: number;
  readonly epoch: string;
}

/** True for what `restoreLog` takes. */
export const isLogUrl = (text: string): boolean => /^(s3|file|postgres|postgresql):\/\//.test(text);

/** Before the first record. A log from which nothing was removed needs no snapshot. */
const EMPTY: SnapshotManifest = {
  form: 1,
  cell: 0,
  incarnation: '',
  position: 0,
  hash: NO_HASH,
  timeMs: 0,
  cairn: version,
  tables: {},
  parts: [],
};

/**
 * Restores the state after the last record at or before a time. Throws StartError when the log does not have that time,
 * and everything that a restore of a backup throws.
 */
export async function restoreLog(options: LogRestoreOptions): Promise<RestoredFromLog> {
  const { url, environment, atMs, dataFolder, masterKey, mapBytes, isIntoLog = false } = options;
  const key = findRestoreKey(dataFolder, dataFolder, masterKey);
  const log = await openCommitLog(url, environment);
  try {
    const base = (await findSnapshot(log, atMs))?.manifest ?? EMPTY;
    let reached: Reached | undefined;
    const epoch = await restoreInto({ dataFolder, masterKey, mapBytes, key }, async (work) => {
      const path = join(work, DATA_FILE);
      await loadSnapshot(log, base, path, mapBytes);
      reached = await applyRecords(log, base, path, mapBytes, atMs === undefined ? {} : { atMs });
      if (reached.position === 0 || reached.isPartial) {
        throw new StartError('The log does not have the whole hub at that time. Name a later time.');
      }
      await leaveLog(path, mapBytes);
      return {};
    });
    if (isIntoLog) writeBeginMark(dataFolder, await incarnationOf(log));
    const { position, timeMs } = reached ?? base;
    return { position, timeMs, epoch };
  } finally {
    await log.close();
  }
}

async function incarnationOf(log: CommitLog): Promise<string> {
  const last = (await log.ends())?.last ?? 0;
  for await (const { bytes } of log.read(last)) return decodeHead(bytes).incarnation;
  throw new StartError('The log is empty.');
}

/** A restored hub is no member: nothing that it writes belongs to the log. */
async function leaveLog(path: string, mapBytes: number): Promise<void> {
  const { table, key } = placeRow({ cell: 0, incarnation: '', position: 0, hash: '' });
  const file = new RawFile(path, mapBytes, false);
  try {
    await file.write([{ table: table.name, key: storedKey(key) }]);
  } finally {
    await file.close();
  }
}
