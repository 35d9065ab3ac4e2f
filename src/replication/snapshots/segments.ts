/** Joins old records into one object: few objects to list, and few requests to catch up. */
import { createHash } from 'node:crypto';
import { DamagedRecord } from '../frame.ts';
import { type CommitLog, LogGap, type LogRecord } from '../log/log.ts';
import { positionText } from '../names.ts';

const SEGMENTS = 'segments/';
const MAGIC = Buffer.from('CAIRNSEG1');
const SHA_BYTES = 32;
const SEGMENT_BYTES_MAX = 32 * 1024 * 1024;
const SEGMENT_RECORDS_MAX = 10_000;

export interface LogSegment {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

/** The segments of a log, oldest first. */
export async function listSegments(log: CommitLog): Promise<LogSegment[]> {
  const names = await log.listParts(SEGMENTS);
  return names.map((name) => {
    const [from, to] = name.slice(SEGMENTS.length).split('-').map(Number);
    return { name, from: from ?? 0, to: to ?? 0 };
  });
}

/**
 * Writes one segment of the records from `from` to at most `to`. Returns the last record that it has, or undefined when
 * there is nothing to join.
 */
export async function makeSegment(log: CommitLog, from: number, to: number): Promise<number | undefined> {
  const pieces: Buffer[] = [MAGIC];
  let size = 0;
  let last: number | undefined;
  for await (const { position, bytes } of log.read(from)) {
    const isFull = size + bytes.length > SEGMENT_BYTES_MAX || position - from >= SEGMENT_RECORDS_MAX;
    if (position > to || (isFull && last !== undefined)) break;
    const length = Buffer.allocUnsafe(4);
    length.writeUInt32LE(bytes.length);
    pieces.push(length, Buffer.from(bytes));
    size += bytes.length;
    last = position;
  }
  if (last === undefined) return undefined;
  const digest = createHash('sha256');
  for (const piece of pieces) digest.update(piece);
  await log.putPart(
    `${SEGMENTS}${positionText(from)}-${positionText(last)}`,
    Buffer.concat([...pieces, digest.digest()]),
  );
  return last;
}

/** The records of a segment. Throws DamagedRecord. */
export async function readSegment(log: CommitLog, { name, from, to }: LogSegment): Promise<LogRecord[]> {
  const part = await log.getPart(name);
  const bytes = Buffer.from(part.buffer, part.byteOffset, part.byteLength);
  const end = bytes.length - SHA_BYTES;
  const isWhole =
    bytes.subarray(0, MAGIC.length).equals(MAGIC) &&
    createHash('sha256').update(bytes.subarray(0, end)).digest().equals(bytes.subarray(end));
  if (!isWhole) throw new DamagedRecord(`is in the segment ${name}, which has other bytes than were written`);
  const records: LogRecord[] = [];
  for (let at = MAGIC.length, position = from; at < end; position += 1) {
    const length = bytes.readUInt32LE(at);
    records.push({ position, bytes: bytes.subarray(at + 4, at + 4 + length) });
    at += 4 + length;
  }
  if (records.at(-1)?.position !== to) throw new DamagedRecord(`is missing in the segment ${name}`);
  return records;
}

/** All records from a position to the newest, those in segments included. Throws LogGap. */
export async function* readRecords(log: CommitLog, from: number): AsyncGenerator<LogRecord> {
  const ends = await log.ends();
  let next = from;
  if (ends !== undefined && next < ends.first) {
    for (const segment of await listSegments(log)) {
      if (segment.to < next) continue;
      if (segment.from > next) throw new LogGap(next, segment.from);
      for (const record of await readSegment(log, segment)) {
        if (record.position < next) continue;
        yield record;
        next = record.position + 1;
      }
    }
  }
  yield* log.read(next);
}
