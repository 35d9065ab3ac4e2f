/**
 * Reads and writes the index of a pack: the versions of its range of sequence numbers, in columns. With it, a pull
 * chooses lines without reading them. Pure.
 *
 * Little endian: u8 layout, 3 bytes 0, u32 lines, f64 each: last sequence number of the range, pack id (0: no bytes),
 * content bytes of the files, bytes of the long lines; u32 each: bytes in the pack, deleted lines, long lines, bytes of
 * the device names. Then columns with one entry per line: u32 sequence number minus the first of the range, u32 line
 * bytes, u32 content bytes, u16 device, u8 flags. The device names follow as JSON.
 */

const LAYOUT = 1;
const HEAD_BYTES = 56;
const LINE_BYTES = 15;
const DELETED = 1;
const LONG = 2;

/** The header of an index: totals over the lines of the pack. */
export interface PackSummary {
  /** First of the covered range of sequence numbers. Versions not current when the pack was written are left out. */
  readonly first: number;
  readonly last: number;
  /** Key of its bytes in the store; 0 when it has none. */
  readonly packId: number;
  readonly lines: number;
  readonly tombstones: number;
  /** Lines not stored in the pack's bytes, such as those with content in pieces. */
  readonly longLines: number;
  /** Bytes of all lines stored in the pack. */
  readonly packBytes: number;
  readonly longBytes: number;
  /** Content bytes of the files. */
  readonly sizeBytes: number;
}

export interface PackLine {
  readonly seq: number;
  readonly lineBytes: number;
  readonly sizeBytes: number;
  readonly deleted: boolean;
  readonly long: boolean;
  readonly device: string;
}

/** The columns of a pack, indexed by line number. */
export interface PackColumns {
  readonly seqOffsets: Uint32Array;
  readonly lineBytes: Uint32Array;
  readonly sizeBytes: Uint32Array;
  readonly devices: Uint16Array;
  readonly flags: Uint8Array;
  readonly deviceNames: readonly string[];
}

export function readPackSummary(first: number, bytes: Uint8Array): PackSummary {
  const view = new DataView(bytes.buffer, bytes.byteOffset, HEAD_BYTES);
  if (view.getUint8(0) !== LAYOUT) throw new Error(`a pack has layout ${view.getUint8(0)}, this build reads ${LAYOUT}`);
  return {
    first,
    lines: view.getUint32(4, true),
    last: view.getFloat64(8, true),
    packId: view.getFloat64(16, true),
    sizeBytes: view.getFloat64(24, true),
    longBytes: view.getFloat64(32, true),
    packBytes: view.getUint32(40, true),
    tombstones: view.getUint32(44, true),
    longLines: view.getUint32(48, true),
  };
}

/** Returns the names of the devices that sent the lines of a pack. */
export function readPackDevices(bytes: Uint8Array): readonly string[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, HEAD_BYTES);
  const names = view.getUint32(52, true);
  const at = HEAD_BYTES + LINE_BYTES * view.getUint32(4, true);
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset + at, names).toString('utf8')) as string[];
}

/** Returns the columns as views of the same memory, which the caller must own. */
export function readPackColumns(bytes: Uint8Array): PackColumns {
  // Typed arrays need an aligned offset, so unaligned bytes are copied first.
  const { buffer } = bytes.byteOffset % 8 === 0 ? bytes : Uint8Array.from(bytes);
  const base = bytes.byteOffset % 8 === 0 ? bytes.byteOffset : 0;
  const view = new DataView(buffer, base, HEAD_BYTES);
  const lines = view.getUint32(4, true);
  const at = (column: number) => base + HEAD_BYTES + column * lines;
  return {
    seqOffsets: new Uint32Array(buffer, at(0), lines),
    lineBytes: new Uint32Array(buffer, at(4), lines),
    sizeBytes: new Uint32Array(buffer, at(8), lines),
    devices: new Uint16Array(buffer, at(12), lines),
    flags: new Uint8Array(buffer, at(14), lines),
    deviceNames: readPackDevices(bytes),
  };
}

/** Returns the line number of a version, or -1 when the pack does not contain it. Binary search. */
export function findLine(columns: PackColumns, first: number, seq: number): number {
  const wanted = seq - first;
  let low = 0;
  let high = columns.seqOffsets.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = columns.seqOffsets[middle] as number;
    if (found === wanted) return middle;
    if (found < wanted) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}

/** Returns the line with this number, as it was packed. */
export function lineAt(columns: PackColumns, first: number, line: number): PackLine {
  const flags = columns.flags[line] ?? 0;
  return {
    seq: first + (columns.seqOffsets[line] ?? 0),
    lineBytes: columns.lineBytes[line] ?? 0,
    sizeBytes: columns.sizeBytes[line] ?? 0,
    deleted: (flags & DELETED) !== 0,
    long: (flags & LONG) !== 0,
    device: columns.deviceNames[columns.devices[line] ?? 0] ?? '',
  };
}

/** Encodes the index of a pack. `lines` must be ordered by sequence number. */
export function encodePackIndex(
  range: Pick<PackSummary, 'first' | 'last' | 'packId'>,
  lines: readonly PackLine[],
): Buffer {
  const names = new Map<string, number>();
  for (const { device } of lines) if (!names.has(device)) names.set(device, names.size);
  const table = Buffer.from(JSON.stringify([...names.keys()]));
  const columnBytes = LINE_BYTES * lines.length;
  const bytes = Buffer.from(new ArrayBuffer(HEAD_BYTES + columnBytes + table.length));
  const sum = (of: (line: PackLine) => number) => lines.reduce((total, line) => total + of(line), 0);
  bytes[0] = LAYOUT;
  bytes.writeUInt32LE(lines.length, 4);
  bytes.writeDoubleLE(range.last, 8);
  bytes.writeDoubleLE(range.packId, 16);
  bytes.writeDoubleLE(
    sum((line) => (line.deleted ? 0 : line.sizeBytes)),
    24,
  );
  bytes.writeDoubleLE(
    sum((line) => (line.long ? line.lineBytes : 0)),
    32,
  );
  bytes.writeUInt32LE(
    sum((line) => (line.long ? 0 : line.lineBytes)),
    40,
  );
  bytes.writeUInt32LE(
    sum((line) => Number(line.deleted)),
    44,
  );
  bytes.writeUInt32LE(
    sum((line) => Number(line.long)),
    48,
  );
  bytes.writeUInt32LE(table.length, 52);
  bytes.set(table, HEAD_BYTES + columnBytes);
  const columns = readPackColumns(bytes);
  for (const [index, line] of lines.entries()) {
    columns.seqOffsets[index] = line.seq - range.first;
    columns.lineBytes[index] = line.lineBytes;
    columns.sizeBytes[index] = line.sizeBytes;
    columns.devices[index] = names.get(line.device) ?? 0;
    columns.flags[index] = (line.deleted ? DELETED : 0) | (line.long ? LONG : 0);
  }
  return bytes;
}
