/** Reads the lists of the chunks of large files within the limits of the hub. Pure. */
import { CHUNK_BOUNDS } from '../../limits/large-file.ts';
import { type Chunk, parseChunkList } from '../../text/chunk-list.ts';

/** Returns the chunks of a list; undefined for a text that is no list, that does not match its own hash, or is too long. */
export function readChunkList(text: string): readonly Chunk[] | undefined {
  return parseChunkList(text, CHUNK_BOUNDS);
}
