/**
 * The list of the chunks of a large file. Its text is `SHA-256:bytes` of each chunk, in order, joined by commas, then a
 * semicolon and the SHA-256 of what is before it: so the list proves itself. Pure.
 */
import { hash } from 'node:crypto';

export interface Chunk {
  /** In lower-case hex. */
  readonly sha256: string;
  readonly bytes: number;
}

/** Most chunks of a list, and most bytes of a chunk. */
export interface ChunkBounds {
  readonly chunksMax: number;
  readonly bytesMax: number;
}

const CHUNK = /^([0-9a-f]{64}):([1-9][0-9]{0,7})$/;
const SHA_CHARS = 64;
/** Characters of the hash that ends a list. */
export const LIST_HASH_CHARS = SHA_CHARS;
/** A hash, a colon, eight digits and a comma. */
const ITEM_CHARS_MAX = SHA_CHARS + 10;

export function formatChunkList(chunks: readonly Chunk[]): string {
  const text = chunks.map(({ sha256, bytes }) => `${sha256}:${bytes}`).join(',');
  return `${text};${hash('sha256', text)}`;
}

/** Returns the chunks of a list; undefined for a text that is no list, or not within bounds, or does not match its own hash. */
export function parseChunkList(text: string, { chunksMax, bytesMax }: ChunkBounds): readonly Chunk[] | undefined {
  const at = text.length - SHA_CHARS - 1;
  if (text.length > chunksMax * ITEM_CHARS_MAX + SHA_CHARS || text[at] !== ';') return undefined;
  if (hash('sha256', text.slice(0, at)) !== text.slice(at + 1)) return undefined;
  const chunks: Chunk[] = [];
  for (const item of text.slice(0, at).split(',')) {
    const [, sha256 = '', bytes = ''] = CHUNK.exec(item) ?? [];
    if (sha256 === '' || Number(bytes) > bytesMax) return undefined;
    chunks.push({ sha256, bytes: Number(bytes) });
  }
  return chunks.length > chunksMax ? undefined : chunks;
}

/** Bytes of the file that the chunks make. */
export function bytesOfChunks(chunks: readonly Chunk[]): number {
  return chunks.reduce((sum, { bytes }) => sum + bytes, 0);
}
