/** Owns one change as the hub reports it: how its line is read, and what it says of a path. */
import { z } from 'zod';
import { ClientError } from '../client-error.ts';
import { type BadPath, checkPath, type FolderPath, isBad } from './folder/path.ts';

/** A time as hubs write it, that can be kept as a number. */
export const timeSchema = z.string().refine((text) => !Number.isNaN(Date.parse(text)));

const recordSchema = z.object({
  type: z.enum(['file', 'deleted']),
  path: z.string(),
  sha256: z.string().optional(),
  content: z.string().optional(),
  encoding: z.enum(['utf-8', 'base64']).optional(),
  stored_at: timeSchema,
  device_id: z.string().optional(),
  remote_mtime: z.string().nullish(),
  executable: z.boolean().optional(),
  size_bytes: z.number().optional(),
});

/** The hub's side of a path. */
export interface RemoteSide {
  readonly sha256: string;
  /** Undefined: it is long, and was not asked for. */
  readonly bytes: Buffer | undefined;
  readonly size: number;
  readonly executable: boolean | undefined;
  /** When its device says that it was changed. */
  readonly modifiedMs: number | undefined;
}

/** One change as the hub reports it. */
export interface RemoteRecord {
  readonly path: FolderPath;
  /** Undefined: it is deleted. */
  readonly side: RemoteSide | undefined;
  /** When the hub stored it, by its own clock (milliseconds since 1970). */
  readonly storedMs: number;
  /** The device that made this change; undefined: not known. */
  readonly deviceId?: string | undefined;
}

/** Files that a pull leaves out because the hub's copy is damaged: their hashes, by path. */
export type LeftOut = ReadonlyMap<FolderPath, string>;

export const leftOutSchema = z
  .array(z.object({ path: z.string(), sha256: z.string() }))
  .default([])
  .transform((files): LeftOut => {
    const checked = files.map(({ path, sha256 }) => [checkPath(path), sha256] as const);
    return new Map(checked.filter((pair): pair is readonly [FolderPath, string] => !isBad(pair[0])));
  });

/** Reads a part of an answer. Throws ClientError when it is not what a hub of this version sends. */
export function readAs<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new ClientError('The hub sent an answer that this version of cairn cannot read; update one of them.');
}

interface ReadRecord extends Omit<RemoteRecord, 'path'> {
  readonly path: FolderPath | BadPath;
}

/** Reads one record of a pull, its path checked. Throws ClientError when it is not what a hub of this version sends. */
export function readRecord(given: Readonly<Record<string, unknown>>): ReadRecord {
  const record = readAs(recordSchema, given);
  const { type, sha256, content, encoding, remote_mtime: mtime, device_id: deviceId } = record;
  const storedMs = Date.parse(record.stored_at);
  const path = checkPath(record.path);
  if (type === 'deleted') return { path, side: undefined, storedMs, deviceId };
  if (sha256 === undefined) throw new ClientError('The hub sent a file without its hash; update cairn or the hub.');
  const bytes = content === undefined ? undefined : Buffer.from(content, encoding === 'base64' ? 'base64' : 'utf8');
  const modifiedMs = mtime === null || mtime === undefined ? Number.NaN : Date.parse(mtime);
  return {
    path,
    storedMs,
    deviceId,
    side: {
      sha256,
      bytes,
      size: bytes?.length ?? record.size_bytes ?? 0,
      executable: record.executable === true,
      modifiedMs: Number.isNaN(modifiedMs) ? undefined : modifiedMs,
    },
  };
}
