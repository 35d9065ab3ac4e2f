/** Computes the two digests of an upload: SHA-256 (FIPS 180-4) and HMAC-SHA256 (RFC 2104) over the same bytes. */
import { createHash, createHmac } from 'node:crypto';
import type { Digests } from './jobs.ts';

export interface RunningDigest {
  update(bytes: Uint8Array): void;
  finish(): Digests;
}

export function startDigest(hmacKey: Uint8Array): RunningDigest {
  const hash = createHash('sha256');
  const hmac = createHmac('sha256', hmacKey);
  return {
    update(bytes) {
      hash.update(bytes);
      hmac.update(bytes);
    },
    finish: () => ({ sha256: hash.digest(), hmac: hmac.digest() }),
  };
}
