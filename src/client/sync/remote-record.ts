/** Reads one change reported by the hub. */
import { z } from 'zod';
import { CHUNK_BOUNDS } from '../../limits/large-file.ts';
import { bytesOfChunks, type Chunk, parseChunkList } from '../../text/chunk-list.ts';
import { ClientError } from '../client-error.ts';
import { type BadPath, checkFolderPath, type FolderPath, isBad } from './folder/path.ts';

/** A time in the hub's format that can be converted to a number. */
export const timeSchema = z.string().refine((text) => !Number.isNaN(Date.parse(text)));

/** Checks the type of one field, which may be absent unless `undefined` is refused. */
type Check<T> = (value: unknown) => value is T;

const text: Check<string> = (value) => typeof value === 'string';
const textOrNot: Check<string | undefined> = (value) => value === undefined || text(value);
const textOrNull: Check<string | null | undefined> = (value) => value === null || textOrNot(value);
const numberOrNot = (value: unknown): value is number | undefined => value === undefined || Number.isFinite(value);
const bitOrNot: Check<boolean | undefined> = (value) => value === undefined || typeof value === 'boolean';
const type: Check<'file' | 'deleted'> = (value) => value === 'file' || value === 'deleted';
const encodingOrNot: Check<'utf-8' | 'base64' | 'chunks' | undefined> = (value) =>
  value === undefined || value === 'utf-8' || value === 'base64' || value === 'chunks';

/** The fields of a change. Checked by hand, because there may be hundreds of thousands: a schema takes longer than the rest of a line. */
const FIELDS = {
  type,
  path: text,
  sha256: textOrNot,
  content: textOrNot,
  encoding: encodingOrNot,
  stored_at: text,
  seq: numberOrNot,
  device_id: textOrNot,
  remote_mtime: textOrNull,
  executable: bitOrNot,
  size_bytes: numberOrNot,
  renamed_from: textOrNot,
};
const CHECKS = Object.entries(FIELDS);

type Fields = { readonly [K in keyof typeof FIELDS]: (typeof FIELDS)[K] extends Check<infer T> ? T : never };

const areFields = (given: Readonly<Record<string, unknown>>): given is Fields =>
  CHECKS.every(([name, holds]) => holds(given[name]));

interface RemoteSide {
  readonly sha256: string;
  /** Undefined when the content is long and was not requested, and for a large file. */
  readonly bytes: Buffer | undefined;
  /** Of a large file, when they were requested. */
  readonly chunks?: readonly Chunk[] | undefined;
  /** Absolute path of its downloaded bytes, which were checked. */
  readonly file?: string | undefined;
  readonly size: number;
  readonly executable: boolean | undefined;
  /** Time of the change according to the device that made it. */
  readonly modifiedMs: number | undefined;
}

/** One change as the hub reports it. */
export interface RemoteRecord {
  readonly path: FolderPath;
  /** Undefined: the path is deleted. */
  readonly side: RemoteSide | undefined;
  /** When the hub stored it, by the hub's clock (milliseconds since 1970). */
  readonly storedMs: number;
  /** The number of this change in the vault. */
  readonly seq?: number | undefined;
  /** The device that made this change; undefined when unknown. */
  readonly deviceId?: string | undefined;
  /** The earlier path, if this change renamed the file. */
  readonly from?: string | undefined;
}

/** Files left out of a pull because the hub's copy is damaged: their hashes, by path. */
export type LeftOut = ReadonlyMap<FolderPath, string>;

export const leftOutSchema = z
  .array(z.object({ path: z.string(), sha256: z.string() }))
  .default([])
  .transform((files): LeftOut => {
    const checked = files.map(({ path, sha256 }) => [checkFolderPath(path), sha256] as const);
    return new Map(checked.filter((pair): pair is readonly [FolderPath, string] => !isBad(pair[0])));
  });

/** Parses a part of an answer. Throws ClientError when it does not match the schema: the hub has another version. */
export function readAs<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw unreadAnswer();
}

function unreadAnswer(): ClientError {
  return new ClientError('the hub sent an answer that this version of cairn cannot read; update one of them.');
}

interface ReadRecord extends Omit<RemoteRecord, 'path'> {
  readonly path: FolderPath | BadPath;
}

/** Reads one record of a pull and checks its path. Throws ClientError when it is none. */
export function readRemoteRecord(given: Readonly<Record<string, unknown>>): ReadRecord {
  const storedMs = Date.parse(String(given['stored_at']));
  if (!areFields(given) || Number.isNaN(storedMs)) throw unreadAnswer();
  const { sha256, content, encoding, remote_mtime: mtime, device_id: deviceId, seq, renamed_from: from } = given;
  const path = checkFolderPath(given.path);
  if (given.type === 'deleted') return { path, side: undefined, storedMs, deviceId, seq };
  if (sha256 === undefined) throw new ClientError('the hub sent a file without its hash; update cairn or the hub.');
  const isList = encoding === 'chunks';
  const chunks = isList && content !== undefined ? chunksOf(content, given.size_bytes) : undefined;
  const bytes =
    content === undefined || isList ? undefined : Buffer.from(content, encoding === 'base64' ? 'base64' : 'utf8');
  const modifiedMs = mtime === null || mtime === undefined ? Number.NaN : Date.parse(mtime);
  return {
    path,
    storedMs,
    deviceId,
    seq,
    from,
    side: {
      sha256,
      bytes,
      chunks,
      size: bytes?.length ?? given.size_bytes ?? 0,
      executable: given.executable === true,
      modifiedMs: Number.isNaN(modifiedMs) ? undefined : modifiedMs,
    },
  };
}

function chunksOf(list: string, sizeBytes: number | undefined): readonly Chunk[] {
  const chunks = parseChunkList(list, CHUNK_BOUNDS);
  if (chunks !== undefined && bytesOfChunks(chunks) === sizeBytes) return chunks;
  throw new ClientError('the hub sent a list of chunks that is damaged; run `cairn verify` there.');
}
