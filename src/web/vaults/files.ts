/** Finds the files and versions of a vault that a page shows. */
import { Refusal } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import type { FileRecord } from '../../sync/log/file-record.ts';
import { compileGlob, matchesGlob } from '../../sync/log/glob.ts';
import { checkPath } from '../../sync/log/paths.ts';
import type { VaultOf } from '../../sync/log/reader.ts';
import type { Sync } from '../../sync/service.ts';
import { foldCase } from '../../text/fold-case.ts';

/** The newest version of a path, which may be a tombstone. Refuses with `path_not_found`. */
export function fileOf({ reader }: Sync, vaultId: string, given: string): FileRecord {
  const { path, folded } = checkPath(given);
  const file = reader.file(vaultId, folded);
  if (file === undefined) throw new Refusal({ kind: 'path_not_found', path, deletedAt: null });
  return file;
}

export interface ShownVersion {
  readonly sizeBytes: number;
  /** Undefined: the path was deleted with this version. */
  readonly content: () => Uint8Array | undefined;
}

/** One version of a file, under whatever name. Refuses with `not_found` one of another file, and one that is kept no longer. */
export function versionOf({ reader, history }: Sync, vaultId: string, file: FileRecord, seq: number): ShownVersion {
  const meta = reader.versionMeta(vaultId, seq);
  if (meta === undefined || !history.has(vaultId, file, seq)) {
    throw new Refusal({ kind: 'not_found', what: 'this version of the file is not available' });
  }
  return { sizeBytes: meta.size_bytes, content: () => reader.content(vaultId, seq) };
}

interface FileQuery {
  /** A pattern with wildcards, or a part of the path; empty finds every file. */
  readonly search: string;
  /** Only files after this folded path. */
  readonly after: string | undefined;
  readonly limit: number;
}

interface FoundFiles {
  readonly files: readonly FileRecord[];
  /** Where the next page begins; undefined: this was the last. */
  readonly next: string | undefined;
}

/** Current files in the order of their paths. Looks at a bounded number of them. */
export async function findFiles(
  { reading }: Sync,
  { accountId, vaultId }: VaultOf,
  query: FileQuery,
): Promise<FoundFiles> {
  const { search, after, limit } = query;
  const passes = matcherOf(search);
  const found: FileRecord[] = [];
  let looked = 0;
  let last = after;
  for await (const { folded, file } of reading.fileLists.walk({ accountId, vaultId }, '', after)) {
    const isMatch = !file.deleted && passes(file.path);
    if (looked === limits.listScanMax || (isMatch && found.length === limit)) return { files: found, next: last };
    if (isMatch) found.push(file);
    looked += 1;
    last = folded;
  }
  return { files: found, next: undefined };
}

/** A pattern with wildcards, else any part of the path; case does not count. */
function matcherOf(search: string): (path: string) => boolean {
  if (search === '') return () => true;
  if (/[*?]/.test(search)) {
    const glob = compileGlob(search);
    return (path) => matchesGlob(glob, path);
  }
  const folded = foldCase(search);
  return (path) => foldCase(path).includes(folded);
}

/** The number of a version, as a query or a form names it; undefined: it names none. */
export function readSeq(text: string | null): number | undefined {
  return text !== null && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
}
