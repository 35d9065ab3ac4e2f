/**
 * The bytes of a record of the log:
 *
 *     "CAIRNLOG" · version (1 byte) · length of head (4) · head (JSON) · length of body (4) · body (rows, brotli) · SHA-256
 *
 * The SHA-256 is of all bytes before it. The head names the SHA-256 of the record before, so that the records form a chain.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { LoggedRow } from '../store/rows.ts';
import { decodeRows, encodeRows } from './row-bytes.ts';

const MAGIC = Buffer.from('CAIRNLOG');
const VERSION = 1;
const SHA_BYTES = 32;
const HEAD_AT = MAGIC.length + 1;
const RECORD_BYTES_MAX = 8 * 1024 * 1024;

/** What stands in place of the previous hash in the first record. */
export const NO_HASH = '0'.repeat(64);

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const count = z.int().nonnegative();
const head = z.object({
  cell: count,
  incarnation: z.string(),
  position: count,
  member: z.string(),
  timeMs: z.int(),
  /** Random: tells two records of one position apart. */
  id: z.string(),
  previousHash: hash,
  kind: z.enum(['write', 'beat', 'take-over', 'hand-over', 'upgrade']),
  /** Facts for the reader of this kind, such as the member that a hand-over names. */
  note: z.record(z.string(), z.string()).optional(),
});

export type RecordHead = z.infer<typeof head>;
export interface RecordToWrite extends RecordHead {
  readonly rows: readonly LoggedRow[];
}
export interface DecodedRecord extends RecordHead {
  readonly rows: readonly LoggedRow[];
  /** SHA-256 of the record in hex: the next one names it. */
  readonly hash: string;
}

/** A record with other bytes than were written, or of another form. */
export class DamagedRecord extends Error {
  override readonly name = 'DamagedRecord';

  constructor(what: string, options?: ErrorOptions) {
    super(`a record of the log ${what}`, options);
  }
}

/** The record is longer than one may be. Divide the rows, or put them into parts. */
export class RecordTooLarge extends Error {
  override readonly name = 'RecordTooLarge';

  constructor(bytes: number) {
    super(`a record of ${bytes} bytes is larger than ${RECORD_BYTES_MAX}`);
  }
}

/** Returns the bytes of a record, and their SHA-256 in hex. Throws RecordTooLarge. */
export async function encodeRecord({ rows, ...fields }: RecordToWrite): Promise<{ bytes: Buffer; hash: string }> {
  const headBytes = Buffer.from(JSON.stringify(fields));
  const body = await encodeRows(rows);
  const bodyAt = HEAD_AT + 4 + headBytes.length;
  const end = bodyAt + 4 + body.length;
  if (end + SHA_BYTES > RECORD_BYTES_MAX) throw new RecordTooLarge(end + SHA_BYTES);
  const bytes = Buffer.allocUnsafe(end + SHA_BYTES);
  bytes.set(MAGIC);
  bytes.writeUInt8(VERSION, MAGIC.length);
  bytes.writeUInt32LE(headBytes.length, HEAD_AT);
  bytes.set(headBytes, HEAD_AT + 4);
  bytes.writeUInt32LE(body.length, bodyAt);
  bytes.set(body, bodyAt + 4);
  const sum = sha256(bytes.subarray(0, end));
  bytes.set(sum, end);
  return { bytes, hash: sum.toString('hex') };
}

/** Reads a record without its rows. Throws DamagedRecord. */
export function decodeHead(record: Uint8Array): RecordHead & { readonly hash: string } {
  return readHead(Buffer.from(record.buffer, record.byteOffset, record.byteLength)).head;
}

/** Throws DamagedRecord. */
export async function decodeRecord(record: Uint8Array): Promise<DecodedRecord> {
  const bytes = Buffer.from(record.buffer, record.byteOffset, record.byteLength);
  const { head: fields, body } = readHead(bytes);
  try {
    return { ...fields, rows: await decodeRows(body) };
  } catch (cause) {
    throw new DamagedRecord('has rows that cannot be read', { cause });
  }
}

function readHead(bytes: Buffer): { head: RecordHead & { readonly hash: string }; body: Buffer } {
  const end = bytes.length - SHA_BYTES;
  if (end < HEAD_AT + 8 || !bytes.subarray(0, MAGIC.length).equals(MAGIC)) throw new DamagedRecord('is something else');
  const version = bytes.readUInt8(MAGIC.length);
  if (version !== VERSION) {
    throw new DamagedRecord(`has the form ${version}, and this version of Cairn reads ${VERSION}: upgrade this member`);
  }
  const sum = sha256(bytes.subarray(0, end));
  if (!sum.equals(bytes.subarray(end))) throw new DamagedRecord('has bytes that do not match its checksum');
  const bodyAt = HEAD_AT + 4 + bytes.readUInt32LE(HEAD_AT);
  if (bodyAt + 4 > end || bodyAt + 4 + bytes.readUInt32LE(bodyAt) !== end) throw new DamagedRecord('has other lengths');
  try {
    const fields = head.parse(JSON.parse(bytes.toString('utf8', HEAD_AT + 4, bodyAt)));
    return { head: { ...fields, hash: sum.toString('hex') }, body: bytes.subarray(bodyAt + 4, end) };
  } catch (cause) {
    throw new DamagedRecord('has a head that cannot be read', { cause });
  }
}

const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();
