/** Reads one change reported by the hub. */
import { z } from 'zod';
import { CHUNK_BOUNDS } from '../../limits/large-file.ts';
import { bytesOfChunks, type Chunk, parseChunkList } from '../../text/chunk-list.ts';
import { ClientError } from '../client-error.ts';
import { type BadPath, checkFolderPath, type FolderPath, isBad } from './folder/path.ts';

/** A time in the hub's format that can be converted to a number. */
export const timeSchema = z.string().refine((text) => !Number.isNaN(Date.parse(text)));

const recordSchema = z.object({
  type: z.enum(['file', 'deleted']),
  path: z.string(),
  sha256: z.string().optional(),
  content: z.string().optional(),
  encoding: z.enum(['utf-8', 'base64', 'chunks']).optional(),
  stored_at: timeSchema,
  seq: z.number().optional(),
  device_id: z.string().optional(),
  remote_mtime: z.string().nullish(),
  executable: z.boolean().optional(),
  size_bytes: z.number().optional(),
  renamed_from: z.string().optional(),
});

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
  throw new ClientError('the hub sent an answer that this version of cairn cannot read; update one of them.');
}

interface ReadRecord extends Omit<RemoteRecord, 'path'> {
  readonly path: FolderPath | BadPath;
}

/** Parses one record of a pull and checks its path. Throws ClientError when it does not match the schema. */
export function readRemoteRecord(given: Readonly<Record<string, unknown>>): ReadRecord {
  const record = readAs(recordSchema, given);
  const { type, sha256, content, encoding, remote_mtime: mtime, device_id: deviceId, seq, renamed_from: from } = record;
  const storedMs = Date.parse(record.stored_at);
  const path = checkFolderPath(record.path);
  if (type === 'deleted') return { path, side: undefined, storedMs, deviceId, seq };
  if (sha256 === undefined) throw new ClientError('the hub sent a file without its hash; update cairn or the hub.');
  const isList = encoding === 'chunks';
  const chunks = isList && content !== undefined ? chunksOf(content, record.size_bytes) : undefined;
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
      size: bytes?.length ?? record.size_bytes ?? 0,
      executable: record.executable === true,
      modifiedMs: Number.isNaN(modifiedMs) ? undefined : modifiedMs,
    },
  };
}

function chunksOf(list: string, sizeBytes: number | undefined): readonly Chunk[] {
  const chunks = parseChunkList(list, CHUNK_BOUNDS);
  if (chunks !== undefined && bytesOfChunks(chunks) === sizeBytes) return chunks;
  throw new ClientError('the hub sent a list of chunks that is damaged; run `cairn verify` there.');
}
