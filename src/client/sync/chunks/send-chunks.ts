/**
 * Sends the chunks of a large file that the hub does not have, several at once, before the push that lists them. After an
 * interruption the hub has some: only the others are sent then.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { limits } from '../../../limits/service.ts';
import { bytesOfChunks, type Chunk, formatChunkList } from '../../../text/chunk-list.ts';
import type { CallHow } from '../../tools.ts';
import { READ, sha256Of, Unreadable } from '../folder/file.ts';
import type { CutFile } from '../folder/large-files.ts';
import type { PushCall } from '../hub.ts';
import type { Replica } from '../replica.ts';

/** The file changed since it was hashed: nothing is known of what it is now. */
export class ChangedMeanwhile extends Unreadable {}

const CHANGED = 'It is large and changed while it was sent; the next sync looks at it again.';

interface Placed extends Chunk {
  readonly offset: number;
}

/** Completes a push: that of a large file gets its list, once the hub has its chunks. Throws ChangedMeanwhile. */
export async function withChunks(replica: Replica, call: PushCall, how: CallHow): Promise<PushCall> {
  if (call['encoding'] !== 'chunks' || call['content'] !== undefined) return call;
  const sha256 = String(call['sha256']);
  const place = replica.folder.large.placeOf(sha256);
  const file = place === undefined ? undefined : await replica.folder.large.cut(place);
  if (file?.sha256 !== sha256) throw new ChangedMeanwhile(CHANGED);
  await sendChunks(replica, { ...file, path: String(call['path']) }, how);
  return { ...call, content: formatChunkList(file.chunks) };
}

async function sendChunks(
  { hub }: Replica,
  { path, absolute, chunks }: CutFile & { readonly path: string },
  how: CallHow,
): Promise<void> {
  const placed = placedOnce(chunks);
  const total = bytesOfChunks(chunks);
  const hashes = placed.map(({ sha256 }) => sha256);
  const chunkBytes = placed.map(({ bytes }) => bytes);
  const missing = await hub.missingChunks(hashes, { path, sizeBytes: total, chunkBytes }, how);
  const left = placed.filter(({ sha256 }) => missing.has(sha256));
  let sent = total - bytesOfChunks(left);
  how.onSent?.(sent, total);
  if (left.length === 0) return;
  const file = await open(absolute, READ).catch(() => {
    throw new ChangedMeanwhile(CHANGED);
  });
  try {
    const sendNext = async (): Promise<void> => {
      for (let chunk = left.shift(); chunk !== undefined; chunk = left.shift()) {
        const bytes = await readChunkAt(file, chunk, chunk.offset);
        if (bytes === undefined) throw new ChangedMeanwhile(CHANGED);
        await hub.putChunk(chunk.sha256, bytes, withoutProgress(how));
        sent += chunk.bytes;
        how.onSent?.(sent, total);
      }
    };
    const senders = Array.from({ length: limits.clientChunksAtOnce }, sendNext);
    const ends = await Promise.allSettled(senders.map((sender) => sender.catch(stopping(left))));
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  } finally {
    await file.close();
  }
}

/** Ends the other senders too. */
function stopping(left: Placed[]) {
  return (error: unknown): never => {
    left.length = 0;
    throw error;
  };
}

/** The bytes of a chunk at an offset of a file; undefined when others are there. */
export async function readChunkAt(
  file: FileHandle,
  { sha256, bytes }: Chunk,
  offset: number,
): Promise<Buffer | undefined> {
  const buffer = Buffer.allocUnsafe(bytes);
  const { bytesRead } = await file.read(buffer, 0, bytes, offset);
  return bytesRead === bytes && sha256Of(buffer) === sha256 ? buffer : undefined;
}

/** Each chunk with its place in the file; one that is there several times once. */
export function placedOnce(chunks: readonly Chunk[]): Placed[] {
  const placed = new Map<string, Placed>();
  let offset = 0;
  for (const chunk of chunks) {
    if (!placed.has(chunk.sha256)) placed.set(chunk.sha256, { ...chunk, offset });
    offset += chunk.bytes;
  }
  return [...placed.values()];
}

/** The same call without progress: its bytes are not those of the file. */
export function withoutProgress({ signal }: CallHow): CallHow {
  return signal === undefined ? {} : { signal };
}
