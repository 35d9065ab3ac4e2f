/** Owns what stands beside the data file in a backup: what it is, how many rows it holds, and what it hashes to. */
import { createHash } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { StartError } from '../../common/start-error.ts';

export const COPY_MANIFEST_FILE = 'manifest.json';

const manifestSchema = z.strictObject({
  /** Rises when a restore of before could not read it. */
  format: z.literal(1),
  cairn_version: z.string(),
  /** The schema of the data file; absent: 1, which knew of none. */
  schema: z.number().int().positive().optional(),
  made_at: z.string(),
  /** Null: the data is of a version that had none. */
  epoch: z.string().nullable(),
  bytes: z.number().int().positive(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  master_key: z.enum(['included', 'not included']),
  /** What did not verify when the backup was made, one sentence each; absent: nothing. It is in the backup as it was. */
  damaged: z.array(z.string()).optional(),
  /** The backup beside this one that it holds the changes since, by the SHA-256 of its data file; absent: it is whole. */
  since: z.strictObject({ folder: z.string(), sha256: z.string() }).optional(),
  /** Rows by table. */
  tables: z.record(z.string(), z.number().int().nonnegative()),
});

export type CopyManifest = z.infer<typeof manifestSchema>;

/** The manifest of a backup. Throws StartError when there is none that this version can read. */
export function readCopyManifest(folder: string): CopyManifest {
  let text: string;
  try {
    text = readFileSync(join(folder, COPY_MANIFEST_FILE), 'utf8');
  } catch {
    // Missing or not ours to read: the sentence says both.
    throw new StartError(`${folder} is not a backup that can be read: it has no ${COPY_MANIFEST_FILE}.`);
  }
  try {
    return manifestSchema.parse(JSON.parse(text));
  } catch {
    // Which field is wrong helps nobody: the file is not what a backup wrote, or a later version wrote it.
    throw new StartError(`${COPY_MANIFEST_FILE} of ${folder} is damaged, or of a later version of cairn.`);
  }
}

/** SHA-256 of a file as hex, read in pieces. */
export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1024 * 1024 }), hash);
  return hash.digest('hex');
}
