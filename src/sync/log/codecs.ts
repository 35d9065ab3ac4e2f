/**
 * Encodes the rows that every push reads and writes. Fixed layouts are a third of the size of self-describing ones and
 * take a fraction of the time, and these rows dominate the cost of a push.
 */
import { type Codec, spacious } from '../../store/codec.ts';
import type { FileRecord } from './file-record.ts';

const LAYOUT = 1;

/** A codec for rows of plain numbers, in the order of their names. */
export function numbersCodec<V extends Readonly<Record<keyof V, number>>>(
  names: readonly (keyof V & string)[],
): Codec<V> {
  const length = 1 + 8 * names.length;
  return spacious<V>({
    encodeWith(value, spare) {
      const bytes = Buffer.allocUnsafe(length + spare);
      bytes[0] = LAYOUT;
      for (let at = 0; at < names.length; at += 1) bytes.writeDoubleLE(value[names[at] as keyof V], 1 + 8 * at);
      return bytes;
    },
    decode(bytes) {
      const view = viewOf(bytes, length);
      const value: Record<string, number> = {};
      for (let at = 0; at < names.length; at += 1) value[names[at] as string] = view.getFloat64(1 + 8 * at, true);
      return value as V;
    },
  });
}

const DELETED = 1;
const HAS_MTIME = 2;
/** Rows from before this flag existed are read as not executable. */
const EXECUTABLE = 4;
/** Layout, flags, four numbers, a count, both hashes, three lengths; then path, clock, device, mtime. */
const FILE_HEAD_BYTES = 2 + 8 * 4 + 4 + 32 + 20 + 2 + 1 + 2;

export const fileCodec = spacious<FileRecord>({
  encodeWith(file, spare) {
    const { path, hlc, device_id: device, mtime } = file;
    const texts = 3 * (path.length + device.length) + hlc.length + (mtime?.length ?? 0);
    const bytes = Buffer.allocUnsafe(FILE_HEAD_BYTES + texts + spare);
    bytes[0] = LAYOUT;
    bytes[1] = (file.deleted ? DELETED : 0) | (mtime === null ? 0 : HAS_MTIME) | (file.executable ? EXECUTABLE : 0);
    bytes.writeDoubleLE(file.seq, 2);
    bytes.writeDoubleLE(file.size_bytes, 10);
    bytes.writeDoubleLE(file.stored_ms, 18);
    bytes.writeDoubleLE(file.line_bytes, 26);
    bytes.writeUInt32LE(file.versions, 34);
    bytes.write(file.sha256, 38, 32, 'hex');
    bytes.write(file.git_sha, 70, 20, 'hex');
    const pathBytes = bytes.write(path, FILE_HEAD_BYTES, 'utf8');
    const hlcBytes = bytes.write(hlc, FILE_HEAD_BYTES + pathBytes, 'latin1');
    const deviceBytes = bytes.write(device, FILE_HEAD_BYTES + pathBytes + hlcBytes, 'utf8');
    bytes.writeUInt16LE(pathBytes, 90);
    bytes[92] = hlcBytes;
    bytes.writeUInt16LE(deviceBytes, 93);
    const end = FILE_HEAD_BYTES + pathBytes + hlcBytes + deviceBytes;
    return bytes.subarray(0, (mtime === null ? end : end + bytes.write(mtime, end, 'latin1')) + spare);
  },
  decode(bytes) {
    const view = viewOf(bytes, FILE_HEAD_BYTES);
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const flags = view.getUint8(1);
    const hlcAt = FILE_HEAD_BYTES + view.getUint16(90, true);
    const deviceAt = hlcAt + view.getUint8(92);
    const mtimeAt = deviceAt + view.getUint16(93, true);
    return {
      path: text.toString('utf8', FILE_HEAD_BYTES, hlcAt),
      seq: view.getFloat64(2, true),
      deleted: (flags & DELETED) !== 0,
      sha256: text.toString('hex', 38, 70),
      git_sha: text.toString('hex', 70, 90),
      hlc: text.toString('latin1', hlcAt, deviceAt),
      size_bytes: view.getFloat64(10, true),
      stored_ms: view.getFloat64(18, true),
      device_id: text.toString('utf8', deviceAt, mtimeAt),
      mtime: (flags & HAS_MTIME) === 0 ? null : text.toString('latin1', mtimeAt),
      executable: (flags & EXECUTABLE) !== 0,
      line_bytes: view.getFloat64(26, true),
      versions: view.getUint32(34, true),
    };
  },
});

/** Throws on a layout unknown to this build, and on truncated bytes. */
function viewOf(bytes: Uint8Array, lengthMin: number): DataView {
  if (bytes.length < lengthMin || bytes[0] !== LAYOUT) {
    throw new Error(`a row has ${bytes.length} bytes in layout ${bytes[0]}, this build reads layout ${LAYOUT}`);
  }
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
