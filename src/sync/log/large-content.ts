/** Tells which files are stored as chunks, and reads their lists within the limits of the hub. Pure. */
import { limits } from '../../limits/service.ts';
import { type Chunk, parseChunkList } from '../../text/chunk-list.ts';

const BOUNDS = { chunksMax: limits.fileChunksMax, bytesMax: limits.fileChunkBytesMax };

/** Returns the chunks of a list; undefined for a text that is no list, that does not match its own hash, or is too long. */
export function readChunkList(text: string): readonly Chunk[] | undefined {
  return parseChunkList(text, BOUNDS);
}

/** True when a file of this size is stored as chunks: exactly those that are too large to be sent whole. */
export function isChunked(sizeBytes: number): boolean {
  return sizeBytes > limits.fileBytesMax;
}
