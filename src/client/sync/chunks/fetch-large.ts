/**
 * Downloads a large file into `.cairn/incoming`, several chunks at once. What is here already is not asked for: the chunks of the file
 * that it replaces or of one with the same bytes, and those of a download that was cut off. A part is removed when the disk has
 * no room for the rest; it begins again once there is.
 */
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { limits } from '../../../limits/service.ts';
import { bytesOfChunks, type Chunk } from '../../../text/chunk-list.ts';
import { ClientError } from '../../client-error.ts';
import { lookAt, READ, Unreadable } from '../folder/file.ts';
import { checkDiskRoom, fullDisk } from '../folder/room.ts';
import { Unwritable, unwritable } from '../folder/unwritable.ts';
import type { RemoteRecord } from '../remote-record.ts';
import type { Replica } from '../replica.ts';
import { inOrder } from './in-order.ts';
import { placedOnce, readChunkAt } from './send-chunks.ts';

export interface FetchHow {
  readonly signal?: AbortSignal;
  /** Bytes of the file that are here by now. */
  readonly onBytes?: (bytes: number) => void;
}

/** Where chunks are read from instead of the hub. */
interface Source {
  readonly file: FileHandle;
  /** Offsets in it, by hash. */
  readonly offsets: ReadonlyMap<string, number>;
}

/**
 * The record with its bytes in a file, which were checked as a whole. Throws Unwritable when the disk does not take them, or
 * the hub has them damaged.
 */
export async function fetchLarge(
  replica: Pick<Replica, 'folder' | 'hub'>,
  record: RemoteRecord,
  how: FetchHow = {},
): Promise<RemoteRecord> {
  const { folder } = replica;
  const { path, side } = record;
  if (side?.chunks === undefined) return record;
  const { chunks, sha256 } = side;
  const part = folder.partOf(sha256);
  const bytesTotal = bytesOfChunks(chunks);
  try {
    await checkDiskRoom(part, bytesTotal);
    const sources = await sourcesOf(replica, [folder.at(path), folder.large.placeOf(sha256)], how.signal);
    try {
      await fill(replica, part, chunks, { ...how, sources });
    } finally {
      for (const { file } of sources) await file.close();
    }
    const whole = await folder.large.cut(part, how.signal);
    how.signal?.throwIfAborted();
    if (whole?.sha256 === sha256) return { ...record, side: { ...side, file: part } };
    // Every chunk was checked, so the list does not make this file.
    await unlink(part);
  } catch (error) {
    if (error instanceof ClientError) throw error;
    throw fullDisk(error, part, bytesTotal) ?? unwritable(error);
  }
  throw new Unwritable('What the hub sent does not match its hash; run `cairn verify` there.');
}

/** Writes what the part lacks, in order, so that it goes on there after an interruption. */
async function fill(
  { hub }: Pick<Replica, 'hub'>,
  part: string,
  chunks: readonly Chunk[],
  { sources, signal, onBytes }: FetchHow & { readonly sources: readonly Source[] },
): Promise<void> {
  const file = await openPart(part);
  try {
    const offsets = await checkedOffsets(file, chunks);
    const left = chunks.slice(offsets.count);
    let at = bytesOfChunks(chunks) - bytesOfChunks(left);
    // Beyond that, what is there is not known.
    await file.truncate(at);
    // A chunk that comes several times is asked for once.
    const coming = new Map<string, Promise<Buffer | undefined>>();
    const bytesOf = async (chunk: Chunk, ended: AbortSignal) =>
      (await readFrom([...sources, { file, offsets: offsets.known }], chunk)) ??
      (await hub.getChunk(chunk.sha256, { signal: signal === undefined ? ended : AbortSignal.any([ended, signal]) }));
    const arrive = async (chunk: Chunk, ended: AbortSignal) => {
      const bytes = coming.get(chunk.sha256) ?? bytesOf(chunk, ended);
      coming.set(chunk.sha256, bytes);
      return { chunk, bytes: await bytes };
    };
    for await (const { chunk, bytes } of inOrder(left, limits.clientChunksAtOnce, arrive)) {
      if (bytes?.length !== chunk.bytes)
        throw new Unwritable('A part of it is missing or damaged on the hub; run `cairn verify` there.');
      await file.write(bytes, 0, bytes.length, at);
      offsets.known.set(chunk.sha256, at);
      coming.delete(chunk.sha256);
      at += chunk.bytes;
      onBytes?.(at);
    }
    // Now, beside the syncs: they flush it once more when it has its place, and would wait for all of it.
    await file.sync();
  } finally {
    await file.close();
  }
}

async function openPart(part: string): Promise<FileHandle> {
  const before = lookAt(part);
  // A process may have died right after it gave the file its name: then these are the bytes of a file in the folder.
  const isOwn = before?.isFile() === true && before.nlink === 1;
  if (before !== undefined && !isOwn) await unlink(part);
  return await open(part, isOwn ? 'r+' : 'wx+', 0o666);
}

/** The first of these chunks that are at the beginning of a file: their number, and where each is. */
async function checkedOffsets(file: FileHandle, chunks: readonly Chunk[]) {
  const known = new Map<string, number>();
  let offset = 0;
  let count = 0;
  for (const chunk of chunks) {
    if ((await readChunkAt(file, chunk, offset)) === undefined) break;
    known.set(chunk.sha256, offset);
    offset += chunk.bytes;
    count += 1;
  }
  return { count, known };
}

async function readFrom(sources: readonly Source[], chunk: Chunk): Promise<Buffer | undefined> {
  for (const { file, offsets } of sources) {
    const offset = offsets.get(chunk.sha256);
    const bytes = offset === undefined ? undefined : await readChunkAt(file, chunk, offset);
    if (bytes !== undefined) return bytes;
  }
  return undefined;
}

/** Cuts the files that are there, so that their chunks are found. */
async function sourcesOf(
  { folder }: Pick<Replica, 'folder'>,
  places: readonly (string | undefined)[],
  signal: AbortSignal | undefined,
): Promise<Source[]> {
  const sources: Source[] = [];
  for (const place of new Set(places)) {
    if (place === undefined) continue;
    try {
      const cut = await folder.large.cut(place, signal);
      if (cut === undefined) continue;
      const file = await open(place, READ);
      sources.push({ file, offsets: new Map(placedOnce(cut.chunks).map(({ sha256, offset }) => [sha256, offset])) });
    } catch (error) {
      // It saves only a download.
      if (!(error instanceof Unreadable) && (error as NodeJS.ErrnoException).code === undefined) throw error;
    }
  }
  return sources;
}
