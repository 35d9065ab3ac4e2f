/**
 * Reads the two meta pages at the head of an LMDB data file without LMDB: LMDB maps the file into memory, so damage
 * ends the process with SIGBUS or SIGSEGV. Layout: `MDB_page_header`, `MDB_meta` and `MDB_db` of liblmdb's mdb.c, data
 * format 2, 64-bit little-endian.
 */
import { readSync } from 'node:fs';

const MAGIC = 0xbeefc0de;
const DATA_VERSION = 2;
export const META_PAGES = 2;
const META_FLAG = 0x08;
const META_BYTES = 160;
/** The part of a meta page that only a commit changes: both trees, the last page and the transaction. */
export const HEAD_TREES_FROM = 48;
export const HEAD_TREES_TO = META_BYTES;
const PAGE_BYTES_MIN = 256;
const PAGE_BYTES_MAX = 0x10000;
/** Every page size that LMDB knows. */
const PAGE_SIZES = Array.from({ length: 9 }, (_, power) => PAGE_BYTES_MIN << power);
/** Size of the header of every page. */
export const PAGE_HEADER_BYTES = 24;
/** Size of the description of a tree (`MDB_db`). */
export const TREE_BYTES = 48;
/** Root number of a tree without pages. */
const NO_PAGE = 2n ** 64n - 1n;
const DEPTH_MAX = 32;
/** The flags of a tree's kind; those of the list of free pages have more bits, which are the environment's. */
const KIND_FLAGS = 0x7e;
const INTEGER_KEYS = 0x08;

/** One tree of pages: a table, the list of tables, or the list of free pages. */
export interface Tree {
  readonly depth: number;
  /** Undefined: the tree is empty. */
  readonly root: number | undefined;
  readonly rows: number;
}

/** Contents of the newest meta page. */
export interface FileHead {
  readonly pageBytes: number;
  readonly pageLast: number;
  readonly transaction: number;
  readonly free: Tree;
  readonly main: Tree;
}

/** Reports damage to the structure of a data file. */
export class DamagedFile extends Error {
  override readonly name = 'DamagedFile';
}

/** A meta page with its trees not yet parsed. */
interface MetaPage extends Omit<FileHead, 'free' | 'main'> {
  readonly trees: Buffer;
}

/**
 * The newest head of an open data file. Throws DamagedFile when either meta page is invalid, or the newest one has an
 * invalid tree. The trees of the older one are not checked: after a failed write of a meta page, LMDB writes the former
 * transaction number back into it but keeps the new trees.
 */
export function readDataFileHead(descriptor: number): FileHead {
  const first = readMeta(descriptor, 0, 0);
  const second = readMeta(descriptor, 1, first.pageBytes);
  if (second.pageBytes !== first.pageBytes) throw new DamagedFile('its two meta pages disagree on the page size');
  const { trees, ...newest } = first.transaction >= second.transaction ? first : second;
  const [free, main] = [trees.subarray(0, TREE_BYTES), trees.subarray(TREE_BYTES, 2 * TREE_BYTES)];
  if (!isFreePages(free) || !isPlainTable(main))
    throw new DamagedFile('its lists of pages and tables are of another kind');
  return { ...newest, free: readTree(free, newest.pageLast), main: readTree(main, newest.pageLast) };
}

/**
 * The heads of a file that can be read, the newest first. The pages of the older one are those of the transaction
 * before: LMDB reuses none of them until the next commit (`mdb_page_alloc` in mdb.c).
 */
export function readableHeads(descriptor: number): FileHead[] {
  const heads: FileHead[] = [];
  // Each page size in turn, because it stands in the first meta page, which may be the damaged one.
  for (const at of [0, ...PAGE_SIZES]) {
    try {
      const { trees, ...head } = readMeta(descriptor, at === 0 ? 0 : 1, at);
      if (at !== 0 && head.pageBytes !== at) continue;
      const main = readTree(trees.subarray(TREE_BYTES, 2 * TREE_BYTES), head.pageLast);
      // The list of free pages leads to no row.
      heads.push({ ...head, main, free: { depth: 0, root: undefined, rows: 0 } });
    } catch (error) {
      if (!(error instanceof DamagedFile)) throw error;
    }
  }
  return heads.sort((one, other) => other.transaction - one.transaction);
}

/** The newest head of a file with a concurrent writer, and the bytes of its meta page. Throws DamagedFile. */
export function newestHead(descriptor: number): { readonly head: FileHead; readonly page: Buffer } {
  for (;;) {
    const before = readDataFileHead(descriptor);
    const page = Buffer.alloc(before.pageBytes);
    // Transactions alternate between the two meta pages (`mdb_env_write_meta`).
    readSync(descriptor, page, 0, page.length, (before.transaction % META_PAGES) * before.pageBytes);
    const head = readDataFileHead(descriptor);
    if (head.transaction === before.transaction) return { head, page };
  }
}

/**
 * True for the `MDB_db` of a table, and of the list of tables: without fixed values or any flag. LMDB refuses a table of
 * another kind, or reads it in another way.
 */
export const isPlainTable = (bytes: Buffer): boolean => bytes.readUInt32LE(0) === 0 && bytes.readUInt16LE(4) === 0;

/** True for the `MDB_db` of the list of free pages, whose keys are integers. Its first field is the size of a page. */
const isFreePages = (bytes: Buffer): boolean => (bytes.readUInt16LE(4) & KIND_FLAGS) === INTEGER_KEYS;

/** Parses the bytes of an `MDB_db`. Throws DamagedFile when root or depth is invalid. */
export function readTree(bytes: Buffer, pageLast: number): Tree {
  const depth = bytes.readUInt16LE(6);
  const root = bytes.readBigUInt64LE(40);
  if (root === NO_PAGE) return { depth: 0, root: undefined, rows: 0 };
  if (root < META_PAGES || root > pageLast || depth < 1 || depth > DEPTH_MAX) {
    throw new DamagedFile(`a tree begins at page ${root} of ${pageLast}`);
  }
  return { depth, root: Number(root), rows: Number(bytes.readBigUInt64LE(32)) };
}

function readMeta(descriptor: number, index: number, pageBytes: number): MetaPage {
  const page = Buffer.alloc(META_BYTES);
  if (readSync(descriptor, page, 0, META_BYTES, index * pageBytes) < META_BYTES) {
    throw new DamagedFile('it ends before its second meta page');
  }
  const meta = page.subarray(PAGE_HEADER_BYTES);
  const trees = meta.subarray(24);
  if ((page.readUInt16LE(18) & META_FLAG) === 0 || meta.readUInt32LE(0) !== MAGIC) {
    throw new DamagedFile(`page ${index} is not a meta page`);
  }
  if ((meta.readUInt32LE(4) & 0xffff) !== DATA_VERSION) {
    throw new DamagedFile(`meta page ${index} has an unknown data format`);
  }
  const ownPageBytes = trees.readUInt32LE(0);
  if (ownPageBytes < PAGE_BYTES_MIN || ownPageBytes > PAGE_BYTES_MAX || (ownPageBytes & (ownPageBytes - 1)) !== 0) {
    throw new DamagedFile(`meta page ${index} has a page size of ${ownPageBytes} bytes`);
  }
  const last = meta.readBigUInt64LE(24 + 2 * TREE_BYTES);
  const transaction = meta.readBigUInt64LE(32 + 2 * TREE_BYTES);
  if (last < META_PAGES - 1 || last > Number.MAX_SAFE_INTEGER || transaction > Number.MAX_SAFE_INTEGER) {
    throw new DamagedFile(`meta page ${index} has a last page of ${last}`);
  }
  return { pageBytes: ownPageBytes, pageLast: Number(last), transaction: Number(transaction), trees };
}
