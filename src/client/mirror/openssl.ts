/**
 * Decrypts what `openssl enc -aes-256-cbc -pbkdf2` wrote, the form of "Back up without the command" in the manual. The
 * form has no checksum of its own: the SHA-256 of the archive, which the download is compared with, covers it.
 */
import { createDecipheriv, type Decipher, pbkdf2Sync } from 'node:crypto';

const MAGIC = 'Salted__';
const SALT_BYTES = 8;
/** What `-pbkdf2` alone means, from OpenSSL 1.1.1 on. */
const ITERATIONS = 10_000;
const KEY_BYTES = 32;
const IV_BYTES = 16;

/** Bytes before the encrypted ones. */
export const OPENSSL_HEAD_BYTES = MAGIC.length + SALT_BYTES;

/** True when an archive that begins with these bytes was encrypted by openssl with a passphrase. */
export function isOfOpenssl(head: Buffer): boolean {
  return head.length >= OPENSSL_HEAD_BYTES && head.toString('latin1', 0, MAGIC.length) === MAGIC;
}

/** Decrypts the bytes after the head. */
export function opensslDecipher(head: Buffer, passphrase: string): Decipher {
  const salt = head.subarray(MAGIC.length, OPENSSL_HEAD_BYTES);
  const derived = pbkdf2Sync(passphrase, salt, ITERATIONS, KEY_BYTES + IV_BYTES, 'sha256');
  return createDecipheriv('aes-256-cbc', derived.subarray(0, KEY_BYTES), derived.subarray(KEY_BYTES));
}

/** True when the passphrase fits: its first block is the beginning of a gzip file, as every archive is. */
export function opensPassphrase(head: Buffer, passphrase: string): boolean {
  const block = head.subarray(OPENSSL_HEAD_BYTES, OPENSSL_HEAD_BYTES + IV_BYTES);
  if (block.length < IV_BYTES) return false;
  const plain = opensslDecipher(head, passphrase).setAutoPadding(false).update(block);
  return plain[0] === 0x1f && plain[1] === 0x8b && plain[2] === 8;
}
