/**
 * Stores and compares checksums of the pages of a data file, to detect flipped bits also where Cairn has no hash. A
 * page is never rewritten while it is reachable, and contains the number of the transaction that wrote it (see
 * `walk.ts`). So the same page with the same transaction never changes its bytes.
 */
import { closeSync, fdatasyncSync, openSync, readFileSync, readSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { HEAD_TREES_FROM, HEAD_TREES_TO, META_PAGES, newestHead } from './head.ts';
import { fileIdentity } from './identity.ts';
import { DATA_FILE } from './names.ts';
import { PageWalk } from './walk.ts';

/** Beside the data file: one line of JSON, then 8 bytes for each page. */
const SUMS_FILE = 'page-sums';
const ENTRY_BYTES = 8;
/** Most pages reported individually. */
const NAMED_MAX = 100;
const HEAD = 'the head of the file';

interface Sums {
  /** Identity of the data file (`fileIdentity`). */
  readonly file: string;
  /** The last transaction covered; it is durable. */
  readonly until: number;
  /** CRC-32 and transaction (lower 32 bits) of each page, or of the first page of a run; zeros: unknown. */
  readonly entries: Buffer;
}

/** A page whose bytes have changed unexpectedly. */
export interface ChangedPage {
  readonly page: number;
  /** The tree containing it, worded for a message. */
  readonly tree: string;
}

/**
 * Compares the pages with the checksums of earlier calls, and stores those of new pages. Returns the changed pages.
 * Hold a read transaction during the call, and check the structure of the file first. In a read-only folder it only compares.
 * @param mayStore false: only compare
 */
export function checkPageSums(folder: string, mayStore = true): readonly ChangedPage[] {
  const path = join(folder, DATA_FILE);
  const file = fileIdentity(path);
  const descriptor = openSync(path, 'r');
  try {
    const { head, page: meta } = newestHead(descriptor);
    // The meta page may not be on disk yet; after a power failure another transaction could get the same number.
    fdatasyncSync(descriptor);
    const known = load(folder, file);
    const entries = Buffer.alloc((head.pageLast + 1) * ENTRY_BYTES);
    const changed: ChangedPage[] = [];
    const look = (page: number, tree: string, now: PageState) => {
      if (now.transaction > head.transaction || isChanged(known, page, now)) {
        if (changed.length < NAMED_MAX) changed.push({ page, tree });
        // Keep the old checksum, so that the next call reports the page again.
        known?.entries.copy(entries, page * ENTRY_BYTES, page * ENTRY_BYTES, (page + 1) * ENTRY_BYTES);
      } else {
        entries.writeUInt32LE(now.sum, page * ENTRY_BYTES);
        entries.writeUInt32LE(now.transaction % 2 ** 32, page * ENTRY_BYTES + 4);
      }
    };
    if (known !== undefined && head.transaction < known.until) {
      changed.push({ page: known.until % META_PAGES, tree: HEAD });
    } else {
      const sum = crc32(meta.subarray(HEAD_TREES_FROM, HEAD_TREES_TO));
      look(head.transaction % META_PAGES, HEAD, { sum, transaction: head.transaction });
    }
    new PageWalk(descriptor, head, {
      after: -1,
      onPages(page, count, tree) {
        const bytes = Buffer.allocUnsafe(count * head.pageBytes);
        const read = readSync(descriptor, bytes, 0, bytes.length, page * head.pageBytes);
        look(page, tree, { sum: crc32(bytes.subarray(0, read)), transaction: Number(bytes.readBigUInt64LE(8)) });
      },
      onTable: () => undefined,
    }).run(true);
    if (mayStore) save(folder, { file, until: head.transaction, entries });
    return changed;
  } finally {
    closeSync(descriptor);
  }
}

interface PageState {
  readonly sum: number;
  readonly transaction: number;
}

function isChanged(known: Sums | undefined, page: number, now: PageState): boolean {
  const at = page * ENTRY_BYTES;
  if (known === undefined || now.transaction > known.until || at + ENTRY_BYTES > known.entries.length) return false;
  const [sum, transaction] = [known.entries.readUInt32LE(at), known.entries.readUInt32LE(at + 4)];
  if (transaction === 0) return false;
  return transaction !== now.transaction % 2 ** 32 || sum !== now.sum;
}

function load(folder: string, file: string): Sums | undefined {
  try {
    const bytes = readFileSync(join(folder, SUMS_FILE));
    const end = bytes.indexOf('\n');
    const {
      file: of,
      until,
      sum,
    } = JSON.parse(bytes.toString('utf8', 0, end)) as Omit<Sums, 'entries'> & { sum: number };
    const entries = bytes.subarray(end + 1);
    return of === file && crc32(entries) === sum ? { file, until, entries } : undefined;
  } catch {
    // Missing, or itself damaged: this call starts over.
    return undefined;
  }
}

function save(folder: string, { file, until, entries }: Sums): void {
  const path = join(folder, SUMS_FILE);
  try {
    const head = `${JSON.stringify({ file, until, sum: crc32(entries) })}\n`;
    writeFileSync(`${path}.new`, Buffer.concat([Buffer.from(head), entries]), { mode: 0o600 });
    renameSync(`${path}.new`, path);
  } catch {
    // Read-only folder or full disk: the pages were compared nevertheless.
    rmSync(`${path}.new`, { force: true });
  }
}
