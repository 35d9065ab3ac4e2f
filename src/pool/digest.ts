/** Computes digests: of an upload SHA-256 (FIPS 180-4) and HMAC-SHA256 (RFC 2104), of a file its git blob id too. */
import { createHash, createHmac, hash } from 'node:crypto';
import type { Digests, FileHashes } from './jobs.ts';

export interface RunningDigest<T> {
  update(bytes: Uint8Array): void;
  finish(): T;
}

/** SHA-256 and git blob id of a file of this size. */
export function startFileDigest(sizeBytes: number): RunningDigest<FileHashes> {
  const sha256 = createHash('sha256');
  const sha1 = createHash('sha1').update(`blob ${sizeBytes}\0`);
  return {
    update(bytes) {
      sha256.update(bytes);
      sha1.update(bytes);
    },
    finish: () => ({ sha256: sha256.digest('hex'), gitSha: sha1.digest('hex') }),
  };
}

export function startDigest(hmacKey: Uint8Array): RunningDigest<Digests> {
  const sha256 = createHash('sha256');
  const hmac = createHmac('sha256', hmacKey);
  return {
    update(bytes) {
      sha256.update(bytes);
      hmac.update(bytes);
    },
    finish: () => ({ sha256: sha256.digest(), hmac: hmac.digest() }),
  };
}

/** Computes the digests of bytes that have all arrived, in the calling thread. */
export function digestsOf(bytes: Uint8Array, hmacKey: Uint8Array): Digests {
  return { sha256: hash('sha256', bytes, 'buffer'), hmac: createHmac('sha256', hmacKey).update(bytes).digest() };
}
