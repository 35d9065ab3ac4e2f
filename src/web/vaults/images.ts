/** Detects images by their first bytes, never by their names. Pure. */

const PNG = '89504e470d0a1a0a';
const JPEG = 'ffd8ff';

/**
 * The media type of an image without markup; undefined for anything else, including SVG, which is markup. The
 * signatures are from the MIME Sniffing standard of WHATWG, section 6.1; the brand of AVIF is from ISO/IEC 23000-22.
 */
export function imageTypeOf(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 16));
  const hex = head.toString('hex');
  const ascii = head.toString('latin1');
  if (hex.startsWith(PNG)) return 'image/png';
  if (hex.startsWith(JPEG)) return 'image/jpeg';
  if (ascii.startsWith('GIF87a') || ascii.startsWith('GIF89a')) return 'image/gif';
  if (ascii.startsWith('RIFF') && ascii.slice(8, 14) === 'WEBPVP') return 'image/webp';
  return ascii.slice(4, 12) === 'ftypavif' ? 'image/avif' : undefined;
}
