/** Computes digests while bytes arrive: of an upload SHA-256 (FIPS 180-4) and HMAC-SHA256 (RFC 2104), of a file its git blob id too. */
import { createHash, createHmac, webcrypto } from 'node:crypto';
import { limits } from '../limits/service.ts';
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

/**
 * Computes the digests of bytes that have all arrived. Longer ones are hashed by Node's own threads, both digests side
 * by side, which takes a third of the time of the calling thread. Do not modify the bytes before the promise settles.
 */
export async function digestsOf(bytes: Uint8Array<ArrayBuffer>, hmacKey: Uint8Array<ArrayBuffer>): Promise<Digests> {
  if (bytes.length <= limits.hashedHereBytesMax) {
    const digest = startDigest(hmacKey);
    digest.update(bytes);
    return digest.finish();
  }
  const { subtle } = webcrypto;
  const [sha256, hmac] = await Promise.all([
    subtle.digest('SHA-256', bytes),
    importedKey(hmacKey).then((key) => subtle.sign('HMAC', key, bytes)),
  ]);
  return { sha256: Buffer.from(sha256), hmac: Buffer.from(hmac) };
}

/** Keys in the form that Node's threads use, for as long as the caller keeps them. */
const imported = new WeakMap<Uint8Array, Promise<webcrypto.CryptoKey>>();

function importedKey(hmacKey: Uint8Array<ArrayBuffer>): Promise<webcrypto.CryptoKey> {
  const known = imported.get(hmacKey);
  if (known !== undefined) return known;
  const key = webcrypto.subtle.importKey('raw', hmacKey, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  imported.set(hmacKey, key);
  return key;
}
