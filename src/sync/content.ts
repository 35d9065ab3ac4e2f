/**
 * Owns how a content that a client sent becomes what is stored: checked, decoded, hashed, JSON-escaped. The same code runs
 * in place for small contents and in the pool for long ones. Pure.
 */
import { hash } from 'node:crypto';
import { limits } from '../limits.ts';
import type { DigestedContent, RawContent } from '../pool/jobs.ts';

/** Hashes the bytes of a content, or says what is wrong with it. */
export function digestContent({ text, encoding }: RawContent): DigestedContent {
  if (encoding === 'utf-8' && !text.isWellFormed()) {
    return {
      ok: false,
      field: 'content',
      sentence: 'content holds half of a surrogate pair; send well-formed Unicode',
    };
  }
  const bytes = Buffer.from(text, encoding === 'base64' ? 'base64' : 'utf8');
  if (encoding === 'base64' && bytes.toString('base64') !== text) {
    const sentence = 'content is not base64 (RFC 4648, section 4, with padding and without line breaks)';
    return { ok: false, field: 'content', sentence };
  }
  if (bytes.length > limits.fileBytesMax) {
    return {
      ok: false,
      field: 'content',
      sentence: `content is longer than ${limits.fileBytesMax} bytes; split the file`,
    };
  }
  return { ok: true, bytes, sha256: hash('sha256', bytes), gitSha: gitShaOf(bytes) };
}

/** The inside of the JSON string that holds a content. */
export function escapeContent(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** The id that git gives a blob of these bytes, as `git hash-object` does. */
function gitShaOf(bytes: Uint8Array): string {
  const head = `blob ${bytes.length}\0`;
  const blob = Buffer.allocUnsafe(head.length + bytes.length);
  blob.write(head, 'latin1');
  blob.set(bytes, head.length);
  return hash('sha1', blob);
}
