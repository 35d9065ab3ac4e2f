/**
 * Seals fields and makes keyed hashes with keys derived from the master key. Each use has its own subkey (HKDF-SHA256,
 * RFC 5869). A sealed field is bound to its owner and name, so a value moved to another row does not open.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { aessiv } from '@noble/ciphers/aes.js';

const KEY_VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export interface Sealer {
  /** AES-SIV (RFC 5297): equal input has equal output, and nothing else is revealed. */
  sealDeterministic(owner: string, field: string, plain: Uint8Array): Uint8Array;
  openDeterministic(owner: string, field: string, sealed: Uint8Array): Uint8Array;
  /** AES-256-GCM with a random nonce: equal input has different output each time. */
  sealRandom(owner: string, field: string, plain: Uint8Array): Uint8Array;
  openRandom(owner: string, field: string, sealed: Uint8Array): Uint8Array;
  /**
   * AES-SIV of what somebody else keeps and presents later. It opens as long as keyed hashes match: also after a change
   * of the master key.
   */
  sealHandle(purpose: string, plain: Uint8Array): Uint8Array;
  /** Throws when it was not sealed here for this purpose. */
  openHandle(purpose: string, sealed: Uint8Array): Uint8Array;
  /** AES-256-GCM with a random nonce, bound to a purpose. It opens as long as keyed hashes match, like a handle. */
  sealKept(purpose: string, plain: Uint8Array): Uint8Array;
  /** Throws when it was not sealed here for this purpose. */
  openKept(purpose: string, sealed: Uint8Array): Uint8Array;
  /** HMAC-SHA256 of a secret under a subkey, as hex; keys and tokens are looked up by it. */
  keyedHash(purpose: string, secret: string): string;
}

const subkey = (masterKey: Uint8Array, use: string, bytes: number): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', masterKey, new Uint8Array(0), `cairn/${use}/v${KEY_VERSION}`, bytes));

/** The hash key of a data file whose master key was never changed. */
export const hashKeyOf = (masterKey: Uint8Array): Uint8Array => subkey(masterKey, 'keyed-hash', 32);

/**
 * Creates the sealer of a 32-byte master key. Opening throws when the key, the owner or the field differs.
 * @param hashKey the key of keyed hashes; differs from `hashKeyOf(masterKey)` after a change of the master key
 */
export function createSealer(masterKey: Uint8Array, hashKey: Uint8Array = hashKeyOf(masterKey)): Sealer {
  const sivKey = subkey(masterKey, 'field-siv', 64);
  const gcmKey = subkey(masterKey, 'field-gcm', 32);
  const handleKey = subkey(hashKey, 'handle-siv', 64);
  const keptKey = subkey(hashKey, 'kept-gcm', 32);
  const bind = (owner: string, field: string) => Buffer.from(`${owner}\n${field}`, 'utf8');
  return {
    sealDeterministic: (owner, field, plain) =>
      Buffer.concat([Buffer.of(KEY_VERSION), aessiv(sivKey, bind(owner, field)).encrypt(plain)]),
    openDeterministic: (owner, field, sealed) =>
      aessiv(sivKey, bind(owner, field)).decrypt(Uint8Array.from(versioned(sealed))),
    sealRandom: (owner, field, plain) => sealGcm(gcmKey, bind(owner, field), plain),
    openRandom: (owner, field, sealed) => openGcm(gcmKey, bind(owner, field), sealed),
    sealHandle: (purpose, plain) => aessiv(handleKey, Buffer.from(purpose, 'utf8')).encrypt(plain),
    openHandle: (purpose, sealed) => aessiv(handleKey, Buffer.from(purpose, 'utf8')).decrypt(Uint8Array.from(sealed)),
    sealKept: (purpose, plain) => sealGcm(keptKey, Buffer.from(purpose, 'utf8'), plain),
    openKept: (purpose, sealed) => openGcm(keptKey, Buffer.from(purpose, 'utf8'), sealed),
    keyedHash: (purpose, secret) =>
      createHmac('sha256', hashKey).update(purpose).update('\n').update(secret).digest('hex'),
  };
}

function sealGcm(key: Uint8Array, bound: Uint8Array, plain: Uint8Array): Uint8Array {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(bound);
  const body = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([Buffer.of(KEY_VERSION), nonce, body, cipher.getAuthTag()]);
}

function openGcm(key: Uint8Array, bound: Uint8Array, sealed: Uint8Array): Uint8Array {
  const bytes = versioned(sealed);
  const tagAt = bytes.length - TAG_BYTES;
  const cipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES))
    .setAAD(bound)
    .setAuthTag(bytes.subarray(tagAt));
  return Buffer.concat([cipher.update(bytes.subarray(NONCE_BYTES, tagAt)), cipher.final()]);
}

function versioned(sealed: Uint8Array): Uint8Array {
  if (sealed[0] !== KEY_VERSION) throw new Error('a sealed field has an unknown key version');
  return sealed.subarray(1);
}
