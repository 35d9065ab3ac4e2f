/**
 * Walks every tree of an LMDB data file page by page without LMDB, so that a damaged page is reported and does not end
 * the process. It checks structure (page numbers, kinds, offsets, sizes, free pages), not values. Layout as in `head.ts`, and
 * `MDB_node` of the same source.
 */
import { fstatSync, readSync } from 'node:fs';
import { checkFreePages } from './free-pages.ts';
import {
  DamagedFile,
  type FileHead,
  isPlainTable,
  PAGE_HEADER_BYTES,
  readTree,
  TREE_BYTES,
  type Tree,
} from './head.ts';

const BRANCH = 0x01;
const LEAF = 0x02;
const OVERFLOW = 0x04;
const KINDS = BRANCH | LEAF | OVERFLOW | 0x08 | 0x20 | 0x40;
const NODE_HEADER_BYTES = 8;
const BIG_VALUE = 0x01;
const SUB_TREE = 0x02;
const PAGE_NUMBER_BYTES = 8;
const FREE_PAGES = 'the list of free pages';
/** Findings after which a walk ends, unless it also passes rows: one damaged page near a root causes many. */
const PROBLEMS_MAX = 20;

interface Node {
  readonly flags: number;
  readonly keyBytes: number;
  /** Offset of its key in the page. */
  readonly at: number;
  readonly lowHalf: number;
  readonly highHalf: number;
}

/** Limits a walk to new pages, and receives the pages and tables reached. */
export interface WalkWatcher {
  /**
   * Only pages written after this transaction are walked. A reachable page is never rewritten in place; a change below
   * it writes a new copy (`mp_txnid` and `mdb_page_touch` in mdb.c). So all pages below an older page are at least as
   * old.
   */
  readonly after: number;
  /** Called for each run of pages reached, with the name of its tree. */
  onPages(first: number, count: number, tree: string): void;
  /** Called for each table reached, with its number of rows. */
  onTable(name: string, rows: number): void;
  /** Called for each row of the table reached last whose bytes are where they belong. The walk then visits all pages. */
  onRow?(key: Buffer, value: Buffer): void;
}

export class PageWalk {
  readonly problems: string[] = [];
  readonly #descriptor: number;
  readonly #head: FileHead;
  readonly #seen: Uint8Array;
  readonly #pagesInFile: number;
  readonly #watcher: WalkWatcher | undefined;
  #deep = true;

  constructor(descriptor: number, head: FileHead, watcher?: WalkWatcher) {
    this.#watcher = watcher;
    this.#descriptor = descriptor;
    this.#head = head;
    this.#pagesInFile = Math.floor(fstatSync(descriptor).size / head.pageBytes);
    this.#seen = new Uint8Array(Math.ceil((head.pageLast + 1) / 8));
  }

  /** Walks the lists of free pages and of tables; with `deep` every table too. Returns one sentence per finding. */
  run(deep: boolean): readonly string[] {
    this.#deep = deep;
    this.#tree(this.#head.free, FREE_PAGES);
    this.#tree(this.#head.main, 'the list of tables');
    return this.problems;
  }

  #tree({ root, depth }: Tree, name: string): void {
    if (root !== undefined) this.#page(root, depth, name);
  }

  #page(pageNumber: number, depth: number, name: string): void {
    if (this.problems.length >= PROBLEMS_MAX && this.#watcher?.onRow === undefined) return;
    this.#attempt(pageNumber, name, () => {
      const page = this.#read(pageNumber, depth > 1 ? BRANCH : LEAF);
      if (this.#isOld(page)) return;
      this.#watcher?.onPages(pageNumber, 1, name);
      for (const node of this.#nodes(page, depth > 1)) {
        if (depth > 1) this.#page(branchTarget(node), depth - 1, name);
        else this.#attempt(pageNumber, name, () => this.#value(page, node, name));
      }
    });
  }

  /** Records damage found by `look`; the walk goes on with the next entry. */
  #attempt(pageNumber: number, name: string, look: () => void): void {
    try {
      look();
    } catch (error) {
      if (!(error instanceof DamagedFile)) throw error;
      this.problems.push(`page ${pageNumber} of ${name}: ${error.message}`);
    }
  }

  /** Checks a value of a leaf: stored in the page, on overflow pages, or a table's tree. */
  #value(page: Buffer, { flags, at, keyBytes, lowHalf, highHalf }: Node, name: string): void {
    const valueAt = at + keyBytes;
    const valueBytes = lowHalf + highHalf * 0x10000;
    const key = page.subarray(at, valueAt);
    if ((flags & BIG_VALUE) !== 0) {
      const first = Number(page.readBigUInt64LE(valueAt));
      this.#overflow(first, valueBytes, name);
      if (name === FREE_PAGES) checkFreePages(this.#bigValue(first, valueBytes), this.#head.pageLast);
      if (this.#watcher?.onRow !== undefined) this.#watcher.onRow(key, this.#bigValue(first, valueBytes));
    } else if ((flags & SUB_TREE) !== 0) {
      const table = page.toString('latin1', at, valueAt).replace(/\0$/, '');
      const bytes = page.subarray(valueAt, valueAt + TREE_BYTES);
      const tree = readTree(bytes, this.#head.pageLast);
      this.#watcher?.onTable(table, tree.rows);
      // Its pages are those of a table all the same.
      if (!isPlainTable(bytes)) this.problems.push(`table ${table} of ${name} is of another kind`);
      if (this.#deep) this.#tree(tree, `table ${table}`);
    } else if (valueAt + valueBytes > page.length) {
      throw new DamagedFile(`a value of ${name} reaches beyond its page`);
    } else if (name === FREE_PAGES) checkFreePages(page.subarray(valueAt, valueAt + valueBytes), this.#head.pageLast);
    else this.#watcher?.onRow?.(key, page.subarray(valueAt, valueAt + valueBytes));
  }

  /** The bytes of a value on overflow pages, after the header of the first. */
  #bigValue(pageNumber: number, valueBytes: number): Buffer {
    const value = Buffer.allocUnsafe(valueBytes);
    const at = pageNumber * this.#head.pageBytes + PAGE_HEADER_BYTES;
    if (readSync(this.#descriptor, value, 0, valueBytes, at) < valueBytes) {
      throw new DamagedFile(`the file ends before the value on page ${pageNumber} does`);
    }
    return value;
  }

  #overflow(pageNumber: number, valueBytes: number, name: string): void {
    const pages = Math.floor((PAGE_HEADER_BYTES - 1 + valueBytes) / this.#head.pageBytes) + 1;
    const page = this.#read(pageNumber, OVERFLOW);
    if (page.readUInt32LE(20) !== pages) throw new DamagedFile(`the value on page ${pageNumber} has a wrong length`);
    for (let more = 1; more < pages; more += 1) this.#claim(pageNumber + more);
    if (!this.#isOld(page)) this.#watcher?.onPages(pageNumber, pages, name);
  }

  #isOld(page: Buffer): boolean {
    return this.#watcher !== undefined && page.readBigUInt64LE(8) <= this.#watcher.after;
  }

  #read(pageNumber: number, kind: number): Buffer {
    this.#claim(pageNumber);
    const { pageBytes } = this.#head;
    const page = Buffer.allocUnsafe(pageBytes);
    if (readSync(this.#descriptor, page, 0, pageBytes, pageNumber * pageBytes) < pageBytes) {
      throw new DamagedFile(`the file ends before page ${pageNumber}`);
    }
    if (Number(page.readBigUInt64LE(0)) !== pageNumber || (page.readUInt16LE(18) & KINDS) !== kind) {
      throw new DamagedFile(`page ${pageNumber} is not the page that belongs there`);
    }
    return page;
  }

  /** Marks a page as used. Throws DamagedFile when it is used twice, outside the file, or a meta page. */
  #claim(pageNumber: number): void {
    if (!(pageNumber >= 2 && pageNumber <= this.#head.pageLast)) {
      throw new DamagedFile(`there is no page ${pageNumber}`);
    }
    if (pageNumber >= this.#pagesInFile) throw new DamagedFile(`the file ends before page ${pageNumber}`);
    const [byte, bit] = [pageNumber >> 3, 1 << (pageNumber & 7)];
    const seen = this.#seen[byte] ?? 0;
    if ((seen & bit) !== 0) throw new DamagedFile(`page ${pageNumber} is used twice`);
    this.#seen[byte] = seen | bit;
  }

  *#nodes(page: Buffer, isBranch: boolean): Generator<Node> {
    const [lower, upper] = [page.readUInt16LE(20), page.readUInt16LE(22)];
    const spaceBytes = page.length - PAGE_HEADER_BYTES;
    if (lower > upper || upper > spaceBytes || lower % 2 !== 0 || (isBranch && lower < 2)) {
      throw new DamagedFile('its list of entries is damaged');
    }
    for (let index = 0; index < lower / 2; index += 1) {
      const offset = page.readUInt16LE(PAGE_HEADER_BYTES + index * 2) + PAGE_HEADER_BYTES;
      if (offset < upper + PAGE_HEADER_BYTES || offset + NODE_HEADER_BYTES > page.length) {
        throw new DamagedFile(`entry ${index} is outside of it`);
      }
      const flags = page.readUInt16LE(offset + 4);
      const keyBytes = page.readUInt16LE(offset + 6);
      const at = offset + NODE_HEADER_BYTES;
      if (at + keyBytes + (isBranch ? 0 : fixedBytes(flags)) > page.length)
        throw new DamagedFile(`entry ${index} reaches beyond it`);
      yield { flags, keyBytes, at, lowHalf: page.readUInt16LE(offset), highHalf: page.readUInt16LE(offset + 2) };
    }
  }
}

/** Size of the reference stored instead of a value outside the page; 0 when the value is in the page. */
function fixedBytes(flags: number): number {
  if ((flags & BIG_VALUE) !== 0) return PAGE_NUMBER_BYTES;
  return (flags & SUB_TREE) !== 0 ? TREE_BYTES : 0;
}

/** The page number in an entry of a branch: 48 bits, the upper 16 stored in the flags. */
function branchTarget({ lowHalf, highHalf, flags }: Node): number {
  return lowHalf + highHalf * 0x10000 + flags * 0x100000000;
}
