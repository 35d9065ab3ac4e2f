/** Owns how full the data file is: rows and bytes of each table, and the pages that hold nothing. It reads no row. */
import type { Raw } from './group-commit.ts';

interface TableStats {
  readonly name: string;
  readonly rows: number;
  /** Pages of the table times their size: what it takes of the file, not the sum of its values. */
  readonly bytes: number;
}

export interface StoreStats {
  readonly pageBytes: number;
  /** Pages that the file has in use or had: its size, but for what the file system rounds. */
  readonly pages: number;
  /** Pages that hold nothing now and are written again before the file grows. */
  readonly pagesFree: number;
  readonly tables: readonly TableStats[];
}

/** What the library tells of one tree. */
interface Tree {
  readonly pageSize: number;
  readonly treeBranchPageCount: number;
  readonly treeLeafPageCount: number;
  readonly overflowPages: number;
  readonly entryCount: number;
}

/** What the library tells of a table and of the file around it. */
interface LibraryStats extends Tree {
  readonly root: Tree;
  readonly free: Tree;
  readonly lastPageNumber: number;
}

/** The two meta pages at the head of an LMDB file. */
const META_PAGES = 2;

/** The figures of one snapshot. `root` is the unnamed table that names the others; every table of the file is in `tables`. */
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
  // Beside a writer the last page may be of a newer snapshot than the tables.
  return { pageBytes: file.pageSize, pages, pagesFree: Math.max(0, pages - pagesUsed), tables: rows };
}

function pagesOf(tree: Tree): number {
  return tree.treeBranchPageCount + tree.treeLeafPageCount + tree.overflowPages;
}
