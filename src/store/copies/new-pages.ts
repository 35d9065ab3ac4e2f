/**
 * Copies the pages of a data file written after a transaction, without reading the rest. They are found from the roots
 * of the trees, while a read transaction prevents their reuse.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { StartError } from '../../common/start-error.ts';
import { DamagedFile, type FileHead, META_PAGES, newestHead } from '../data-file/head.ts';
import { PageWalk } from '../data-file/walk.ts';
import { BLOCK_BYTES, ENTRY_BYTES } from './journal.ts';

export interface NewPages {
  readonly transaction: number;
  /** Size of the data file at that transaction. */
  readonly bytes: number;
  /** Number of rows of the tables with new pages. */
  readonly tables: Readonly<Record<string, number>>;
  /** Number and bytes of each block with a new page; each is read when the iterator reaches it. */
  readonly entries: Iterable<Buffer>;
}

export function newestTransaction(path: string): number {
  return withFile(path, (descriptor) => newestHead(descriptor).head.transaction);
}

/**
 * Passes the pages written after a transaction to `take`. Hold a read transaction from before the call until it
 * returns.
 * @throws StartError when a new page is damaged
 */
export function takeNewPages<T>(path: string, after: number, take: (pages: NewPages) => T): T {
  return withFile(path, (descriptor) => {
    const { head, page: meta } = newestHead(descriptor);
    // The first block contains both meta pages.
    const blocks = new Set([0]);
    const tables: Record<string, number> = {};
    const [damage] = new PageWalk(descriptor, head, {
      after,
      onPages(first, count) {
        const last = Math.floor(((first + count) * head.pageBytes - 1) / BLOCK_BYTES);
        for (let block = Math.floor((first * head.pageBytes) / BLOCK_BYTES); block <= last; block += 1)
          blocks.add(block);
      },
      onTable(name, rows) {
        tables[name] = rows;
      },
    }).run(true);
    if (damage !== undefined) throw new DamagedFile(damage);
    const bytes = Math.min(fstatSync(descriptor).size, (head.pageLast + 1) * head.pageBytes);
    const sorted = [...blocks].sort((a, b) => a - b);
    return take({ transaction: head.transaction, bytes, tables, entries: read(descriptor, sorted, head, meta) });
  });
}

function* read(descriptor: number, blocks: readonly number[], head: FileHead, meta: Buffer): Generator<Buffer> {
  for (const block of blocks) {
    const entry = Buffer.alloc(ENTRY_BYTES);
    entry.writeUInt32LE(block, 0);
    readSync(descriptor, entry, 4, BLOCK_BYTES, block * BLOCK_BYTES);
    // A writer may be in the middle of either meta page, so both become copies of the one read earlier.
    if (block === 0) {
      for (let page = 0; page < META_PAGES; page += 1) {
        meta.copy(entry, 4 + page * head.pageBytes);
        entry.writeBigUInt64LE(BigInt(page), 4 + page * head.pageBytes);
      }
    }
    yield entry;
  }
}

function withFile<T>(path: string, look: (descriptor: number) => T): T {
  const descriptor = openSync(path, 'r');
  try {
    return look(descriptor);
  } catch (error) {
    if (!(error instanceof DamagedFile)) throw error;
    throw new StartError(
      `the data file is damaged (${error.message}), so nothing more is copied; run \`cairn verify\`.`,
    );
  } finally {
    closeSync(descriptor);
  }
}
