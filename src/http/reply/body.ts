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
 * Sends a body from memory in slices: other requests wait for one slice at most, and the library copies nothing for a
 * slow reader. Do not modify `bytes` afterwards.
 */
export function slicesOf(bytes: Uint8Array, sliceBytes: number): ByteSource {
  return { bytesTotal: bytes.length, read: (offset) => bytes.subarray(offset, offset + sliceBytes) };
}

/** A text in pieces, sent in order. Byte pieces are UTF-8 and are not encoded again. */
export type Parts = readonly (string | Uint8Array)[];
