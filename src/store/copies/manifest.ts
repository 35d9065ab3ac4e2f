/** Reads the manifest of a backup, which contains its version, number of rows and hash. */
import { createHash } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { StartError } from '../../common/start-error.ts';

export const COPY_MANIFEST_FILE = 'manifest.json';

const manifestSchema = z.strictObject({
  /** Increased when older versions could not restore the backup. */
  format: z.literal(1),
  cairn_version: z.string(),
  /** The schema of the data file; absent: 1, from before schemas had numbers. */
  schema: z.number().int().positive().optional(),
  made_at: z.string(),
  /** Null: the data is from a version without epochs. */
  epoch: z.string().nullable(),
  bytes: z.number().int().positive(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  master_key: z.enum(['included', 'not included']),
  /** Damage found when the backup was made, one sentence each; absent: none. The backup contains the data unchanged. */
  damaged: z.array(z.string()).optional(),
  /**
   * Broken pages whose rows are missing; they come first in `damaged`. 0: the data file is broken where no rows are. Absent: it
   * is not broken.
   */
  lost_pages: z.number().int().nonnegative().optional(),
  /** Of an incremental backup: the previous one, in the same parent, and its data file's SHA-256. Absent: full. */
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
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
    throw new StartError(`${folder} is not a backup that can be read: it has no ${COPY_MANIFEST_FILE}.`);
  }
  try {
    return manifestSchema.parse(JSON.parse(text));
  } catch {
    // The invalid field adds nothing useful: the file is damaged, or from a later version.
    throw new StartError(`${COPY_MANIFEST_FILE} of ${folder} is damaged, or of a later version of cairn.`);
  }
}

/** SHA-256 of a file as hex, read in pieces. */
export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1024 * 1024 }), hash);
  return hash.digest('hex');
}
