/**
 * Builds a tar archive (POSIX.1-2017, pax interchange format): one header per file, preceded by an extended header when
 * the name does not fit the old format. It contains no owner and no mode of this machine.
 */
import type { Feed } from '../../../http/reply/feed.ts';

const BLOCK = 512;
const NAME_BYTES = 100;
const MODE = 0o644;
const FOLDER_MODE = 0o755;

/** The header of a file, with an extended header if needed. `mtimeMs`: milliseconds since 1970. */
export function tarHeader(name: string, size: number, mtimeMs: number): Uint8Array {
  const bytes = Buffer.from(name);
  const isPlain = bytes.length <= NAME_BYTES && /^[\x20-\x7e]*$/.test(name);
  if (isPlain) return header(bytes, size, mtimeMs, '0');
  const record = paxRecord('path', name);
  const extended = [header(Buffer.from('PaxHeader'), record.length, mtimeMs, 'x'), record, tarPadding(record.length)];
  return Buffer.concat([...extended, header(bytes.subarray(0, NAME_BYTES), size, mtimeMs, '0')]);
}

/** The entry of a folder, which may be empty. Throws RangeError for a name that does not fit the old format. */
export function tarFolder(name: string, mtimeMs: number): Uint8Array {
  const bytes = Buffer.from(`${name}/`);
  if (bytes.length > NAME_BYTES) throw new RangeError('the name of the folder is too long');
  return header(bytes, 0, mtimeMs, '5');
}

/** The padding after a content of this many bytes. */
export function tarPadding(size: number): Uint8Array {
  return Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
}

/** The end of an archive. */
export const TAR_END: Uint8Array = Buffer.alloc(2 * BLOCK);

/** Feeds the entries of an archive one by one, until `stop` is called because the reader is gone. */
export function tarFeed(entries: AsyncIterator<readonly Uint8Array[]>): Feed & { stop(): void } {
  let isOver = false;
  return {
    async next() {
      if (isOver) return undefined;
      const { value, done } = await entries.next();
      return done === true ? undefined : value;
    },
    stop() {
      isOver = true;
    },
  };
}

function header(name: Uint8Array, size: number, mtimeMs: number, type: '0' | 'x' | '5'): Buffer {
  const block = Buffer.alloc(BLOCK);
  block.set(name);
  octal(block, 100, 8, type === '5' ? FOLDER_MODE : MODE);
  octal(block, 108, 8, 0);
  octal(block, 116, 8, 0);
  octal(block, 124, 12, size);
  octal(block, 136, 12, Math.max(0, Math.floor(mtimeMs / 1000)));
  block.fill(' ', 148, 156);
  block.write(type, 156);
  block.write('ustar\u000000', 257, 'latin1');
  let sum = 0;
  for (const byte of block) sum += byte;
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

function octal(block: Buffer, at: number, width: number, value: number): void {
  block.write(`${value.toString(8).padStart(width - 1, '0')}\0`, at, 'latin1');
}

/** The length at the beginning of a record includes its own digits. */
function paxRecord(key: string, value: string): Uint8Array {
  const rest = Buffer.from(` ${key}=${value}\n`);
  let length = rest.length;
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length;
  return Buffer.concat([Buffer.from(String(length)), rest]);
}
