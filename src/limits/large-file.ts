/** Tells which files are large, for the hub and its clients. Pure. */
import { limits } from './service.ts';

/** What a list of chunks is read with. */
export const CHUNK_BOUNDS = { chunksMax: limits.fileChunksMax, bytesMax: limits.fileChunkBytesMax };

/** True when a file of this size is sent and stored as chunks: exactly those that are too large to be sent whole. */
export function isChunked(sizeBytes: number): boolean {
  return sizeBytes > limits.fileBytesMax;
}
