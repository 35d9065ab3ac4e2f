/**
 * Checks whether stored content still matches the hash in its version: whole lines, packs of them, long contents. Pure.
 */
import { createHash, type Hash, hash } from 'node:crypto';
import { readChunkList } from './large-content.ts';
import {
  decodeContent,
  type Encoding,
  readContentText,
  readVersionHead,
  versionSha256,
  type WholeEncoding,
} from './version.ts';

const NEWLINE = 0x0a;
const BACKSLASH = 0x5c;
/** Longest escape of JSON: a backslash, `u` and four digits. */
const ESCAPE_BYTES_MAX = 6;
/** Characters of base64 that encode whole bytes. */
const BASE64_GROUP = 4;

/** A content that matches its hash, with base64 not decoded; of a tombstone: no text. */
export interface WholeContent {
  readonly text: string | undefined;
}

/**
 * Returns the content of a version, read once, or undefined when it does not match its hash. `escaped` reads its pieces,
 * if it has any.
 */
export function wholeContent(bytes: Uint8Array, escaped: () => Uint8Array): WholeContent | undefined {
  try {
    const text = readContentText(bytes, escaped);
    if (text === undefined) return { text };
    return isWholeContent(text, readVersionHead(bytes).encoding, versionSha256(bytes)) ? { text } : undefined;
  } catch {
    // Bytes that are no longer a version are as damaged as those with another hash.
    return undefined;
  }
}

/** True when a content matches the hash of its file. A list of chunks proves itself; its chunks are checked where they are read. */
function isWholeContent(text: string, encoding: Encoding, sha256: string): boolean {
  return encoding === 'chunks' ? readChunkList(text) !== undefined : sha256Of(text, encoding) === sha256;
}

/** True when the content of a version matches its hash, and for a tombstone. */
export function isWholeVersion(bytes: Uint8Array, escaped: () => Uint8Array): boolean {
  return wholeContent(bytes, escaped) !== undefined;
}

/** True when the content of every line of a pack matches the hash in the line. */
export function areWholeLines(bytes: Uint8Array): boolean {
  let from = 0;
  for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, from)) {
    if (!isWholeLine(Buffer.from(bytes.buffer, bytes.byteOffset + from, end - from))) return false;
    from = end + 1;
  }
  return from === bytes.length;
}

function isWholeLine(line: Buffer): boolean {
  try {
    const { type, sha256, content, encoding } = JSON.parse(line.toString('utf8')) as Record<string, unknown>;
    if (type === 'deleted') return content === undefined;
    return typeof content === 'string' && sha256Of(content, encoding === 'base64' ? 'base64' : 'utf-8') === sha256;
  } catch {
    // Not JSON: a bit of its structure has changed.
    return false;
  }
}

function sha256Of(text: string, encoding: WholeEncoding): string {
  return hash('sha256', encoding === 'base64' ? decodeContent(text, encoding) : text);
}

/** Hashes a long content from its escaped pieces, wherever they are cut. */
export class EscapedHash {
  readonly #hash: Hash = createHash('sha256');
  readonly #encoding: WholeEncoding;
  #rest: Buffer = Buffer.alloc(0);
  #digest: string | undefined;

  constructor(encoding: WholeEncoding) {
    this.#encoding = encoding;
  }

  /** Adds the next bytes of the inside of a JSON string. Throws SyntaxError when they cannot be part of one. */
  update(part: Uint8Array): void {
    const bytes = Buffer.concat([this.#rest, part]);
    const end = this.#encoding === 'base64' ? bytes.length - (bytes.length % BASE64_GROUP) : wholeCharacters(bytes);
    this.#take(bytes.subarray(0, end));
    this.#rest = bytes.subarray(end);
  }

  /** Returns the SHA-256 as hex, and the same again when called again. Do not call `update` after it. */
  digest(): string {
    if (this.#digest === undefined) {
      this.#take(this.#rest);
      this.#digest = this.#hash.digest('hex');
    }
    return this.#digest;
  }

  #take(bytes: Buffer): void {
    const text = JSON.parse(`"${bytes.toString('utf8')}"`) as string;
    this.#hash.update(decodeContent(text, this.#encoding));
  }
}

/** Number of leading bytes that end with a whole character and a whole escape. */
function wholeCharacters(bytes: Buffer): number {
  let end = bytes.length;
  // Skips back over a multi-byte character, which may be incomplete.
  while (end > 0 && ((bytes[end - 1] ?? 0) & 0xc0) === 0x80) end -= 1;
  if (end > 0 && (bytes[end - 1] ?? 0) >= 0xc0) end -= 1;
  for (let at = Math.max(0, end - ESCAPE_BYTES_MAX); at < end; at += 1) {
    if (bytes[at] === BACKSLASH && !isEscaped(bytes, at) && at + escapeBytes(bytes[at + 1]) > end) return at;
  }
  return end;
}

const LETTER_U = 0x75;

function escapeBytes(letter: number | undefined): number {
  return letter === LETTER_U ? ESCAPE_BYTES_MAX : 2;
}

/** True when a backslash is itself escaped: an odd number of backslashes precedes it. */
function isEscaped(bytes: Buffer, at: number): boolean {
  let before = 0;
  while (at - before > 0 && bytes[at - before - 1] === BACKSLASH) before += 1;
  return before % 2 === 1;
}
