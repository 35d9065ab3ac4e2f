/**
 * Finds the header of an archive in the age format: text that names no secret, before the encrypted content. Pure. See
 * https://github.com/C2SP/C2SP/blob/main/age.md.
 */

const BEGINNING = 'age-encryption.org/v1\n';
/** The last line of a header has the MAC. */
const END = /\n--- [A-Za-z0-9+/]+\n/;

/** Bytes in which a header ends, where the archive is one: each recipient takes less than 2.5 KiB. */
export const AGE_HEADER_BYTES_MAX = 64 * 1024;

/** Length of the header; undefined: the bytes do not begin with a whole one. */
export function ageHeaderLength(beginning: Uint8Array): number | undefined {
  const text = Buffer.from(beginning.buffer, beginning.byteOffset, beginning.byteLength).toString('latin1');
  const end = text.startsWith(BEGINNING) ? END.exec(text) : null;
  return end === null ? undefined : end.index + end[0].length;
}
