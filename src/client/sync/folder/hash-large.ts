/**
 * Hashes a large file and cuts it into chunks, without holding it in memory. Runs in the process of the sync, a part at a
 * time: other work gets its turn after each (5 ms for a MiB).
 */
import { createHash, type Hash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { limits } from '../../../limits/service.ts';
import type { Chunk } from '../../../text/chunk-list.ts';
import { ChunkCutter } from './cut-chunks.ts';
import { codeOf, isAbsent, isAsSeen, READ, seenOf, Unreadable } from './file.ts';

export interface HashedFile {
  readonly sha256: string;
  readonly chunks: readonly Chunk[];
  /** Metadata before the first byte was read. The file had the same after the last one. */
  readonly stats: Stats;
}

const SIZES = {
  min: limits.fileChunkBytesMin,
  average: limits.fileChunkBytesAverage,
  max: limits.fileChunkBytesMax,
};

/** Hashes a plain file; undefined when there is none, it changed meanwhile, or the signal ended it. Throws Unreadable. */
export async function hashLarge(absolute: string, signal?: AbortSignal): Promise<HashedFile | undefined> {
  let file: FileHandle | undefined;
  try {
    file = await open(absolute, READ);
    const stats = await file.stat();
    if (!stats.isFile()) return undefined;
    const hashed = await hashOpened(file, signal);
    if (hashed === undefined) return undefined;
    return isAsSeen(await file.stat(), seenOf(stats, 0)) ? { ...hashed, stats } : undefined;
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw new Unreadable(`It cannot be read (${codeOf(error)}).`);
  } finally {
    await file?.close();
  }
}

async function hashOpened(
  file: FileHandle,
  signal: AbortSignal | undefined,
): Promise<Pick<HashedFile, 'sha256' | 'chunks'> | undefined> {
  const whole = createHash('sha256');
  const cutter = new ChunkCutter(SIZES);
  const chunks: Chunk[] = [];
  let open: { readonly hash: Hash; bytes: number } | undefined;
  const buffer = Buffer.allocUnsafe(limits.clientHashBytes);
  for (;;) {
    if (signal?.aborted === true) return undefined;
    const { bytesRead } = await file.read(buffer, 0, buffer.length, null);
    if (bytesRead === 0) break;
    let part = buffer.subarray(0, bytesRead);
    whole.update(part);
    while (part.length > 0) {
      const end = cutter.next(part);
      const own = part.subarray(0, end ?? part.length);
      open ??= { hash: createHash('sha256'), bytes: 0 };
      open.hash.update(own);
      open.bytes += own.length;
      part = part.subarray(own.length);
      if (end === undefined) break;
      chunks.push({ sha256: open.hash.digest('hex'), bytes: open.bytes });
      open = undefined;
    }
  }
  if (open !== undefined) chunks.push({ sha256: open.hash.digest('hex'), bytes: open.bytes });
  return { sha256: whole.digest('hex'), chunks };
}
