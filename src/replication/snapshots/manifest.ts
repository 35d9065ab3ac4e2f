/** What describes a snapshot, and where in the log's store it lies. */
import type { Hash } from 'node:crypto';
import { z } from 'zod';
import type { RawRow } from '../../store/copies/raw-file.ts';
import type { CommitLog } from '../log/log.ts';

export const SNAPSHOTS = 'snapshots/';
const MANIFEST = '/manifest';

const count = z.int().nonnegative();
const hash = z.string().regex(/^[0-9a-f]{64}$/);
const snapshotManifest = z.object({
  form: z.literal(1),
  cell: count,
  incarnation: z.string(),
  /** The newest record whose rows it has, and the hash of that record. */
  position: count,
  hash,
  /** When that record was written, in milliseconds since 1970. */
  timeMs: z.int(),
  cairn: z.string(),
  /** SHA-256 over all rows of a table, in order. */
  tables: z.record(z.string(), z.object({ rows: count, sha256: hash })),
  parts: z.array(z.object({ name: z.string(), sha256: hash, bytes: count, rows: count })),
});

export type SnapshotManifest = z.infer<typeof snapshotManifest>;

export const encodeManifest = (manifest: SnapshotManifest): Buffer => Buffer.from(JSON.stringify(manifest));

export const manifestName = (folder: string): string => `${SNAPSHOTS}${folder}${MANIFEST}`;

/** The folders of complete snapshots, newest position first. */
async function snapshotFolders(log: CommitLog): Promise<string[]> {
  const names = await log.listParts(SNAPSHOTS);
  const complete = names.filter((name) => name.endsWith(MANIFEST));
  return complete.map((name) => name.slice(SNAPSHOTS.length, -MANIFEST.length)).toReversed();
}

/** The newest snapshot of a moment at or before `atMs`; undefined: there is none. */
export async function findSnapshot(
  log: CommitLog,
  atMs = Number.POSITIVE_INFINITY,
): Promise<{ readonly folder: string; readonly manifest: SnapshotManifest } | undefined> {
  for (const folder of await snapshotFolders(log)) {
    const manifest = snapshotManifest.parse(
      JSON.parse(Buffer.from(await log.getPart(manifestName(folder))).toString()),
    );
    if (manifest.timeMs <= atMs) return { folder, manifest };
  }
  return undefined;
}

/** Adds a row to the digest of its table. */
export function addRow(digest: Hash, { key, value }: Pick<RawRow, 'key' | 'value'>): void {
  const lengths = Buffer.allocUnsafe(6);
  lengths.writeUInt16LE(key.length);
  lengths.writeUInt32LE(value.length, 2);
  digest.update(lengths).update(key).update(value);
}
