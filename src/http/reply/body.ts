/** Declares the types of a reply's body: whole pieces, or bytes read while they are sent. */

/** Bytes read while they are sent. `read` may return a view that the next read invalidates. */
export interface ByteSource {
  readonly bytesTotal: number;
  /** The available bytes from `offset` on; never empty before the end. */
  read(offset: number): Uint8Array;
  /** Called once when no more is read: everything was sent, or the client disconnected. */
  readonly close?: () => void;
}

/**
 * A body that is in memory, sent in slices. `bytes` may not change any more. Others wait for one slice, not for all of
 * it, and the library copies none of it for a reader that is slow.
 */
export function slicesOf(bytes: Uint8Array, sliceBytes: number): ByteSource {
  return { bytesTotal: bytes.length, read: (offset) => bytes.subarray(offset, offset + sliceBytes) };
}

/** A text in pieces, sent in order. Byte pieces are UTF-8 and are not encoded again. */
export type Parts = readonly (string | Uint8Array)[];
