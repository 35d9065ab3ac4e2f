/** Finds the files and versions of a vault for a page. */
import { Refusal } from '../../common/fault.ts';
import { readId } from '../../fields/kinds.ts';
import type { ByteSource } from '../../http/reply/body.ts';
import { limits } from '../../limits/service.ts';
import type { FileRecord } from '../../sync/log/file-record.ts';
import { compileGlob, matchesGlob } from '../../sync/log/glob.ts';
import { checkPath } from '../../sync/log/paths.ts';
import type { VaultOf } from '../../sync/log/reader.ts';
import type { Sync } from '../../sync/service.ts';
import { foldCase } from '../../text/fold-case.ts';

/** The newest version of a path, possibly a tombstone. Throws Refusal `path_not_found`. */
export function vaultFileOf({ reader }: Sync, vaultId: string, given: string): FileRecord {
  const { path, folded } = checkPath(given);
  const file = reader.file(vaultId, folded);
  if (file === undefined) throw new Refusal({ kind: 'path_not_found', path, deletedAt: null });
  return file;
}

export interface ShownVersion {
  readonly sizeBytes: number;
  /** Of a large file: its bytes, read while they are sent. Undefined: `content` has them. */
  readonly source: ByteSource | undefined;
  /** Returns undefined when this version deleted the path. */
  readonly content: () => Uint8Array | undefined;
}

/** One version of a file, under any of its names. Throws Refusal `not_found` if it is deleted or of another file. */
export function versionOf(
  { reader, history, chunks }: Sync,
  vaultId: string,
  file: FileRecord,
  seq: number,
): ShownVersion {
  const meta = reader.versionMeta(vaultId, seq);
  if (meta === undefined || !history.has(vaultId, file, seq)) {
    throw new Refusal({ kind: 'not_found', what: 'this version of the file is not available' });
  }
  const list = reader.chunksOf(vaultId, seq);
  const source = list && chunks.source(vaultId, list);
  return { sizeBytes: meta.size_bytes, source, content: () => reader.content(vaultId, seq) };
}

/** A folder as it is written in an address; empty for the vault itself. Throws Refusal `invalid_fields`. */
export function vaultFolderOf(given: string): { readonly path: string; readonly folded: string } {
  return given === '' ? { path: '', folded: '' } : checkPath(given, 'folder');
}

/** The kept version before another one, of the numbers of a file. Undefined when it is the oldest, or not a version of it. */
export function previousIn(numbers: ReadonlyMap<number, number>, seq: number): number | undefined {
  const number = numbers.get(seq);
  return number === undefined ? undefined : [...numbers].find(([, other]) => other === number - 1)?.[0];
}

interface FileQuery {
  /** A pattern with wildcards, or a part of the path; empty matches every file. */
  readonly search: string;
  /** Only files after this folded path. */
  readonly after: string | undefined;
  readonly limit: number;
}

interface FoundFiles {
  readonly files: readonly FileRecord[];
  /** Start of the next page; undefined: this was the last. */
  readonly next: string | undefined;
}

/** Current files sorted by path. Scans at most `limits.listScanMax` files a call. */
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

/** Matches a pattern with wildcards, otherwise any part of the path. Ignores case. */
function matcherOf(search: string): (path: string) => boolean {
  if (search === '') return () => true;
  if (/[*?]/.test(search)) {
    const glob = compileGlob(search);
    return (path) => matchesGlob(glob, path);
  }
  const folded = foldCase(search);
  return (path) => foldCase(path).includes(folded);
}

/** The number of a version in a query or a form; undefined: invalid or missing. */
export function readSeq(text: string | null): number | undefined {
  return readId(text ?? undefined);
}
