/** Opens the data file of a running hub beside it, and says how far its oldest reader is behind and how long the file is. */
import { open } from 'lmdb';
import { limits } from '../../src/limits/service.ts';

export interface ReaderTable {
  /** Commits that the oldest snapshot in use by others is behind the newest one. */
  oldestBehind(): number;
  /** Bytes of the pages that the file has ever had. */
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
      // A line for each reader: process, thread, and the commit that it looks at, or - when it looks at none.
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
