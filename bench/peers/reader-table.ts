/** Child program: opens the data file of a running hub beside it, and says how far its oldest reader is behind. */
import { open } from 'lmdb';
import { limits } from '../../src/limits.ts';

export interface ReaderTable {
  /** Commits that the oldest snapshot in use is behind the newest one. */
  readonly oldestBehind: number;
  /** Pages that the file has ever had. */
  readonly pages: number;
  readonly pageBytes: number;
}

interface FileStats {
  readonly lastTxnId: number;
  readonly lastPageNumber: number;
  readonly pageSize: number;
}

const [path = ''] = process.argv.slice(2);
const db = open({ path, noSubdir: true, readOnly: true, mapSize: limits.mapBytes, overlappingSync: false });
const { lastTxnId, lastPageNumber, pageSize } = db.getStats() as FileStats;
const { readerList } = db as unknown as { readerList: () => string };
// A line for each reader: process, thread, and the commit that it looks at, or - when it looks at none.
const looked = [...readerList().matchAll(/^\s*(\d+)\s+\S+\s+(\d+)$/gm)]
  .filter(([, pid]) => Number(pid) !== process.pid)
  .map(([, , commit]) => lastTxnId - Number(commit));
const table: ReaderTable = {
  oldestBehind: Math.max(0, ...looked),
  pages: lastPageNumber + 1,
  pageBytes: pageSize,
};
process.stdout.write(JSON.stringify(table));
await db.close();
