/**
 * Prepares content sent by a client for storage: checks, decodes, hashes and JSON-escapes it. The same code runs on the
 * main thread for small contents and in the pool for long ones. Pure.
 */
import { hash } from 'node:crypto';
import { limits } from '../../limits/service.ts';
import type { DigestedContent, PreparedContent, RawContent } from '../../pool/jobs.ts';

/**
 * Hashes the bytes of a content, or returns what is wrong with it. Text is hashed directly, without a copy of its
 * bytes.
 */
export function digestContent({ text, encoding }: RawContent): DigestedContent {
  if (encoding === 'base64') return digestBinary(text);
  if (!text.isWellFormed()) {
    return {
      ok: false,
      field: 'content',
      sentence: 'content contains half of a surrogate pair; send well-formed Unicode',
    };
  }
  const sizeBytes = Buffer.byteLength(text);
  if (sizeBytes > limits.fileBytesMax) return tooLong();
  return { ok: true, sizeBytes, sha256: hash('sha256', text), gitSha: hash('sha1', `blob ${sizeBytes}\0${text}`) };
}

function digestBinary(text: string): DigestedContent {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') !== text) {
    const sentence = 'content is not base64 (RFC 4648, section 4, with padding and without line breaks)';
    return { ok: false, field: 'content', sentence };
  }
  if (bytes.length > limits.fileBytesMax) return tooLong();
  return { ok: true, sizeBytes: bytes.length, sha256: hash('sha256', bytes), gitSha: gitShaOf(bytes) };
}

function tooLong(): DigestedContent {
  return {
    ok: false,
    field: 'content',
    sentence: `content is longer than ${limits.fileBytesMax} bytes; split the file`,
  };
}

/**
 * Hashes and escapes a content, or returns what is wrong with it. The escaped bytes have their own buffer, so that it
 * can be transferred to another thread.
 */
export function prepareRawContent(content: RawContent): PreparedContent {
  const digested = digestContent(content);
  if (!digested.ok) return digested;
  const text = JSON.stringify(content.text).slice(1, -1);
  const escaped = new Uint8Array(Buffer.byteLength(text));
  Buffer.from(escaped.buffer).write(text);
  return { ...digested, escaped };
}

/** The git blob id of these bytes, as `git hash-object` computes it. */
function gitShaOf(bytes: Uint8Array): string {
  const head = `blob ${bytes.length}\0`;
  const blob = Buffer.allocUnsafe(head.length + bytes.length);
  blob.write(head, 'latin1');
  blob.set(bytes, head.length);
  return hash('sha1', blob);
}
