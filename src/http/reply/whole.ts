/**
 * Encodes a whole body in one reused buffer, because the HTTP library copies it before returning. Larger bodies get a
 * separate buffer.
 */
import { limits } from '../../limits/service.ts';
import type { Parts } from './body.ts';

/** A UTF-16 code unit takes at most three bytes of UTF-8. */
const UNIT_BYTES_MAX = 3;

export class ReplyBytes {
  readonly #shared = Buffer.allocUnsafeSlow(limits.replyBufferBytes);

  /** Returns the bytes of a body, valid until the next call. */
  of(body: string | Parts): Uint8Array {
    const parts = typeof body === 'string' ? [body] : body;
    const first = parts[0];
    if (parts.length === 1 && typeof first === 'object') return first;
    let bytesMax = 0;
    for (const part of parts) bytesMax += typeof part === 'string' ? part.length * UNIT_BYTES_MAX : part.length;
    const fits = bytesMax <= this.#shared.length;
    const buffer = fits
      ? this.#shared
      : Buffer.allocUnsafe(parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0));
    let at = 0;
    for (const part of parts) {
      if (typeof part === 'string') at += buffer.write(part, at);
      else {
        buffer.set(part, at);
        at += part.length;
      }
    }
    return buffer.subarray(0, at);
  }
}
