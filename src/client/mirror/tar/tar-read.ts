/** Reads a tar as a stream (POSIX ustar and pax, with GNU long names). Holds one block at a time, whatever its size. */
import { ClientError } from '../../client-error.ts';
import { backupExit } from '../exit-codes.ts';

const BLOCK = 512;
const FILE = '0';
/** Longest header of the pax or GNU kind: names and targets. */
const HEADER_BYTES_MAX = 1024 * 1024;

export interface TarEntry {
  /** The type flag; a file is `0`. */
  readonly type: string;
  readonly path: string;
  /** Target of a link. */
  readonly target: string;
  readonly size: number;
  readonly isExecutable: boolean;
  /** Seconds since 1970. */
  readonly modified: number;
  /** The content, once. What is not read is skipped. */
  readonly body: () => AsyncGenerator<Buffer, void, undefined>;
}

export interface TarHeads {
  /** Comment of the global header: git writes the commit there. Known when the first entry is. */
  comment: string | undefined;
}

/**
 * Yields the entries in order, and reads to the end of the source, so that its checksums are verified. Throws ClientError
 * when the bytes are not a tar, or end early.
 */
export async function* readTar(source: AsyncIterable<Uint8Array>, heads?: TarHeads): AsyncGenerator<TarEntry, void> {
  const bytes = new ByteSource(source);
  let path: string | undefined;
  let target: string | undefined;
  for (;;) {
    const head = await bytes.take(BLOCK);
    if (head === undefined || head.every((byte) => byte === 0)) break;
    const size = sizeOf(head);
    const padding = (BLOCK - (size % BLOCK)) % BLOCK;
    const type = String.fromCharCode(head[156] ?? 0).replace('\0', FILE);
    if ('xgLK'.includes(type)) {
      if (size > HEADER_BYTES_MAX) throw notTar();
      const body = await bytes.require(size);
      await bytes.skip(padding);
      if (type === 'L') path = textOf(body);
      else if (type === 'K') target = textOf(body);
      else {
        const records = paxOf(body);
        // A global path would apply to every entry; git writes only a comment there.
        if (type === 'g' && (records.has('path') || records.has('linkpath'))) throw notTar();
        if (type === 'g' && heads !== undefined) heads.comment = records.get('comment');
        path = records.get('path') ?? path;
        target = records.get('linkpath') ?? target;
      }
      continue;
    }
    const left = { bytes: size };
    yield { ...entryOf(head, type, size, path, target), body: () => bytes.pieces(left) };
    await bytes.skip(left.bytes + padding);
    path = undefined;
    target = undefined;
  }
  await bytes.drain();
}

function entryOf(head: Buffer, type: string, size: number, path: string | undefined, target: string | undefined) {
  const [name, prefix] = [textOf(head.subarray(0, 100)), textOf(head.subarray(345, 500))];
  const isUstar = head.toString('latin1', 257, 262) === 'ustar' && head[262] === 0;
  const own = isUstar && prefix !== '' ? `${prefix}/${name}` : name;
  return {
    type,
    path: path ?? own,
    target: target ?? textOf(head.subarray(157, 257)),
    size,
    isExecutable: (octal(head, 100, 108) & 0o100) !== 0,
    modified: octal(head, 136, 148),
  };
}

/** Takes exact amounts from a stream of parts. */
class ByteSource {
  readonly #parts: AsyncIterator<Uint8Array>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#parts = source[Symbol.asyncIterator]();
  }

  /** Exactly `size` bytes; undefined at the end of the source. */
  async take(size: number): Promise<Buffer | undefined> {
    while (this.#rest.length < size) {
      const part = await this.#next();
      if (part === undefined) {
        if (this.#rest.length === 0) return undefined;
        throw cutShort();
      }
      this.#rest = this.#rest.length === 0 ? part : Buffer.concat([this.#rest, part]);
    }
    const taken = this.#rest.subarray(0, size);
    this.#rest = this.#rest.subarray(size);
    return taken;
  }

  async require(size: number): Promise<Buffer> {
    const taken = size === 0 ? Buffer.alloc(0) : await this.take(size);
    if (taken === undefined) throw cutShort();
    return taken;
  }

  /** Yields bytes until none are `left`. */
  async *pieces(left: { bytes: number }): AsyncGenerator<Buffer, void, undefined> {
    while (left.bytes > 0) {
      if (this.#rest.length === 0) {
        const part = await this.#next();
        if (part === undefined) throw cutShort();
        this.#rest = part;
      }
      const piece = this.#rest.subarray(0, left.bytes);
      this.#rest = this.#rest.subarray(piece.length);
      left.bytes -= piece.length;
      if (piece.length > 0) yield piece;
    }
  }

  async skip(size: number): Promise<void> {
    for await (const _ of this.pieces({ bytes: size })) {
      // Skipped.
    }
  }

  async drain(): Promise<void> {
    this.#rest = Buffer.alloc(0);
    while ((await this.#next()) !== undefined) {
      // Padding after the last entry.
    }
  }

  async #next(): Promise<Buffer | undefined> {
    const { value, done } = await this.#parts.next();
    return done === true ? undefined : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }
}

function sizeOf(head: Buffer): number {
  const size = octal(head, 124, 136);
  // PackBase-256 sizes are for files over 8 GiB; git writes a pax header for them, which no archive here has.
  if (Number.isNaN(size)) throw notTar();
  return size;
}

/** A number in octal digits; NaN when it is something else. */
function octal(head: Buffer, start: number, end: number): number {
  const text = head
    .toString('latin1', start, end)
    .replace(/[\0 ]+$/, '')
    .trim();
  return /^[0-7]{1,12}$/.test(text) ? Number.parseInt(text, 8) : Number.NaN;
}

/** Parses pax records: `LENGTH KEY=VALUE\n`, repeated; the length covers the whole record. */
function paxOf(body: Buffer): Map<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < body.length; ) {
    const blank = body.indexOf(0x20, at);
    const length = Number(body.toString('latin1', at, blank));
    if (blank < 0 || !Number.isInteger(length) || length < 5 || at + length > body.length) throw notTar();
    const record = body.toString('utf8', blank + 1, at + length - 1);
    const equals = record.indexOf('=');
    records.set(record.slice(0, equals), record.slice(equals + 1));
    at += length;
  }
  return records;
}

function textOf(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.toString('utf8', 0, end < 0 ? bytes.length : end);
}

function cutShort(): ClientError {
  return new ClientError('the archive is cut short.', backupExit.damaged);
}

function notTar(): ClientError {
  return new ClientError(
    'what was decrypted is not a tar that can be checked; restore it with --encrypted and look at it by hand.',
    backupExit.damaged,
  );
}
