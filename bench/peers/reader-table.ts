/** Opens the data file of a running hub, and reads the age of its oldest reader and the length of the file. */
import { open } from 'lmdb';
import { limits } from '../../src/limits/service.ts';

export interface ReaderTable {
  /** Returns the number of commits between the oldest snapshot in use by other processes and the newest one. */
  oldestBehind(): number;
  /** Returns the bytes of all pages ever allocated in the file. */
  bytes(): number;
  close(): Promise<void>;
}

interface FileStats {
  readonly lastTxnId: number;
  readonly lastPageNumber: number;
  readonly pageSize: number;
}

export function openReaderTable(path: string): ReaderTable {
  const db = open({ path, noSubdir: true, readOnly: true, mapSize: limits.mapBytes, overlappingSync: false });
  const stats = () => db.getStats() as FileStats;
  const { readerList } = db as unknown as { readonly readerList: () => string };
  return {
    oldestBehind() {
      const { lastTxnId } = stats();
      // One line per reader: process, thread, and the commit it reads, or - when it reads none.
      const others = [...readerList().matchAll(/^\s*(\d+)\s+\S+\s+(\d+)$/gm)].filter(
        ([, pid]) => Number(pid) !== process.pid,
      );
      return Math.max(0, ...others.map(([, , commit]) => lastTxnId - Number(commit)));
    },
    bytes() {
      const { lastPageNumber, pageSize } = stats();
      return (lastPageNumber + 1) * pageSize;
    },
    close: () => db.close(),
  };
}
