/** Reads both sides of a conflict. */
import type { ByteSource } from '../../http/reply/body.ts';
import type { Chunk } from '../../text/chunk-list.ts';
import type { ChunkStore } from '../contents/chunk-store.ts';
import { type FileRecord, liveFile } from '../log/file-record.ts';
import { checkPath } from '../log/paths.ts';
import type { Conflict, SyncReader } from '../log/reader.ts';

/** The content of a side: its bytes, or of a large file what reads them while they are sent. */
export type SideContent =
  | { readonly sizeBytes: number; readonly bytes: Buffer; readonly source?: undefined }
  | { readonly sizeBytes: number; readonly bytes?: undefined; readonly source: ByteSource };

/** The content of a side is read when it is first asked for, which throws Refusal `damaged`. */
export interface ConflictSides {
  readonly vaultId: string;
  readonly conflict: Conflict;
  /** The current version. Undefined when the file does not exist. */
  readonly file: FileRecord | undefined;
  /** The content of the refused push. Undefined for a delete, or when no longer stored. */
  readonly yours: SideContent | undefined;
  /** The current version and its content. Undefined when the file does not exist. */
  readonly current: { readonly record: FileRecord; readonly content: SideContent } | undefined;
}

interface SidesOptions {
  readonly reader: SyncReader;
  readonly chunks: Pick<ChunkStore, 'source'>;
}

/** Both sides of a conflict of a vault. Throws Refusal `not_found`. */
export function sidesOf({ reader, chunks }: SidesOptions, vaultId: string, conflictId: string): ConflictSides {
  const conflict = reader.conflict(vaultId, conflictId);
  const file = liveFile(reader.file(vaultId, checkPath(conflict.record.path).folded));
  const sideOf = (list: readonly Chunk[] | undefined, whole: () => Buffer | undefined): SideContent | undefined => {
    if (list !== undefined) {
      const source = chunks.source(vaultId, list);
      return { sizeBytes: source.bytesTotal, source };
    }
    const bytes = whole();
    return bytes && { sizeBytes: bytes.length, bytes };
  };
  const yours = once(() =>
    sideOf(reader.conflictChunks(vaultId, conflict), () => reader.conflictContent(vaultId, conflict)),
  );
  const current = once(() => {
    if (file === undefined) return undefined;
    const content = sideOf(reader.chunksOf(vaultId, file.seq), () => reader.content(vaultId, file.seq));
    return content && { record: file, content };
  });
  return {
    vaultId,
    conflict,
    file,
    get yours() {
      return yours();
    },
    get current() {
      return current();
    },
  };
}

/** The value of `read`, which is called when it is first asked for. */
function once<T>(read: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: read() };
    return made.value;
  };
}
