/** Calculates how full the data file is: rows and bytes per table, and free pages. Reads no rows. */
import type { Raw } from './transaction.ts';

interface TableStats {
  readonly name: string;
  readonly rows: number;
  /** Number of pages times page size: space used in the file, not the sum of the values. */
  readonly bytes: number;
}

export interface StoreStats {
  readonly pageBytes: number;
  /** Pages in use now or earlier: the size of the file, apart from rounding by the file system. */
  readonly pages: number;
  /** Free pages, reused before the file grows. */
  readonly pagesFree: number;
  readonly tables: readonly TableStats[];
}

/** The library's figures of one tree. */
interface Tree {
  readonly pageSize: number;
  readonly treeBranchPageCount: number;
  readonly treeLeafPageCount: number;
  readonly overflowPages: number;
  readonly entryCount: number;
}

/** The library's figures of a table and of the whole file. */
interface LibraryStats extends Tree {
  readonly root: Tree;
  readonly free: Tree;
  readonly lastPageNumber: number;
}

/** The two meta pages at the head of an LMDB file. */
const META_PAGES = 2;

/** The figures of one snapshot. `root` is the unnamed table listing the others; `tables` must contain every table. */
export function readStats(root: Pick<Raw, 'getStats'>, tables: ReadonlyMap<string, Pick<Raw, 'getStats'>>): StoreStats {
  const file = root.getStats() as LibraryStats;
  let pagesUsed = META_PAGES + pagesOf(file.root) + pagesOf(file.free);
  const rows: TableStats[] = [];
  for (const [name, raw] of tables) {
    const tree = raw.getStats() as LibraryStats;
    pagesUsed += pagesOf(tree);
    rows.push({ name, rows: tree.entryCount, bytes: pagesOf(tree) * tree.pageSize });
  }
  const pages = file.lastPageNumber + 1;
  // With a concurrent writer the last page may be from a newer snapshot than the tables.
  return { pageBytes: file.pageSize, pages, pagesFree: Math.max(0, pages - pagesUsed), tables: rows };
}

function pagesOf(tree: Tree): number {
  return tree.treeBranchPageCount + tree.treeLeafPageCount + tree.overflowPages;
}
