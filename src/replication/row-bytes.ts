/** The bytes of a list of rows, compressed: in records of the log, in parts and in snapshots. */
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';
import type { LoggedRow, RowPart } from '../store/rows.ts';

const compress = promisify(brotliCompress);
const expand = promisify(brotliDecompress);

/** The most bytes that one list expands to: a snapshot's part of 32 MiB ends with a row, and a row has at most 16 MiB. */
export const ROW_BYTES_MAX = 64 * 1024 * 1024;
/** In place of a value's length: the row is removed, or its value is a part. */
const REMOVED = 0xffff_ffff;
const PART = 0xffff_fffe;
/** Bytes of the three lengths of a row, of a part's SHA-256, and of a part's two lengths. */
const LENGTHS = 1 + 2 + 4;
const SHA_BYTES = 32;
const PART_LENGTHS = 1 + 4;

/** Bytes that a row takes before compression. */
export const rowSize = ({ table, key, value, part }: LoggedRow): number =>
  LENGTHS +
  Buffer.byteLength(table) +
  key.length +
  (part === undefined ? (value?.length ?? 0) : PART_LENGTHS + SHA_BYTES + Buffer.byteLength(part.name));

/** Quality 1 of brotli: a tenth of the size of rows of tasks, at some 150 MB/s of one thread of libuv's pool. */
export async function encodeRows(rows: readonly LoggedRow[]): Promise<Buffer> {
  const size = rows.reduce((sum, row) => sum + rowSize(row), 0);
  if (size > ROW_BYTES_MAX)
    throw new RangeError(`${size} bytes of rows are more than the ${ROW_BYTES_MAX} of one list`);
  const bytes = Buffer.allocUnsafe(size);
  let at = 0;
  for (const { table, key, value, part } of rows) {
    at = bytes.writeUInt8(Buffer.byteLength(table), at);
    at += bytes.write(table, at);
    at = bytes.writeUInt16LE(key.length, at);
    bytes.set(key, at);
    at += key.length;
    if (part !== undefined) {
      at = bytes.writeUInt32LE(PART, at);
      at = bytes.writeUInt32LE(part.bytes, at);
      at += bytes.write(part.sha256, at, 'hex');
      at = bytes.writeUInt8(Buffer.byteLength(part.name), at);
      at += bytes.write(part.name, at);
      continue;
    }
    at = bytes.writeUInt32LE(value === undefined ? REMOVED : value.length, at);
    if (value === undefined) continue;
    bytes.set(value, at);
    at += value.length;
  }
  const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = constants;
  return await compress(bytes, { params: { [BROTLI_PARAM_QUALITY]: 1, [BROTLI_PARAM_SIZE_HINT]: size } });
}

/** Returns the rows as views of one buffer. Throws on bytes that are not a list of rows. */
export async function decodeRows(compressed: Uint8Array): Promise<LoggedRow[]> {
  const bytes = await expand(compressed, { maxOutputLength: ROW_BYTES_MAX });
  const rows: LoggedRow[] = [];
  let at = 0;
  const take = (length: number): Buffer => {
    const from = at;
    at += length;
    if (at > bytes.length) throw new RangeError('a list of rows ends too early');
    return bytes.subarray(from, at);
  };
  while (at < bytes.length) {
    const table = take(take(1).readUInt8()).toString();
    const key = take(take(2).readUInt16LE());
    const valueLength = take(4).readUInt32LE();
    if (valueLength === REMOVED) rows.push({ table, key });
    else if (valueLength === PART) rows.push({ table, key, part: takePart(take) });
    else rows.push({ table, key, value: take(valueLength) });
  }
  return rows;
}

function takePart(take: (length: number) => Buffer): RowPart {
  const bytes = take(4).readUInt32LE();
  const sha256 = take(SHA_BYTES).toString('hex');
  return { name: take(take(1).readUInt8()).toString(), sha256, bytes };
}
