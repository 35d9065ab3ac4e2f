/** What the last push of a repository uploaded, and the name of its backups, in its git folder. Without it an increment is larger, not wrong. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';

const pushSchema = z.object({
  /** The archive on the hub: its last part. */
  sha256: z.string(),
  state: z.string(),
  refs: z.array(z.tuple([z.string(), z.string(), z.string().nullable()])),
  /** Objects at the ends of its history. */
  tips: z.array(z.string()),
  shallow: z.array(z.string()),
  submodules: z.record(z.string(), z.array(z.string())),
});
/** The first-parent line that ends at a commit, and its root. */
const lineSchema = z.object({ commit: z.string().regex(/^[0-9a-f]{40}$/), roots: z.array(z.string()) });
const lastPushes = z.object({
  version: z.literal(1),
  line: lineSchema.optional(),
  /** Under which its backups are, whatever its folder is called. */
  name: z.string().optional(),
  servers: z.record(z.string(), pushSchema),
});

export type LastPush = z.infer<typeof pushSchema>;
export type KnownLine = z.infer<typeof lineSchema>;

/** The last push to a hub; undefined: none is known. */
export function readLastPush(gitFolder: string, server: string): LastPush | undefined {
  const { servers } = readAll(gitFolder);
  return Object.hasOwn(servers, server) ? servers[server] : undefined;
}

/** The line that HEAD had at the last push; undefined: none is known. */
export const readKnownLine = (gitFolder: string): KnownLine | undefined => readAll(gitFolder).line;

/** The name of its backups, of the last push or the restore; undefined: none is known. */
export const readKnownName = (gitFolder: string): string | undefined => readAll(gitFolder).name;

/** Remembers a push under a name. A git folder that cannot be written, as in some CI jobs, is no error. */
export function writeLastPush(
  gitFolder: string,
  server: string,
  push: LastPush,
  known: { readonly name: string; readonly line: KnownLine | undefined },
): void {
  const { servers } = readAll(gitFolder);
  writeAll(gitFolder, { version: 1, ...known, servers: { ...servers, [server]: push } });
}

/** Remembers the name of the backup that a repository was restored from. */
export function writeKnownName(gitFolder: string, name: string): void {
  writeAll(gitFolder, { ...readAll(gitFolder), name });
}

function writeAll(gitFolder: string, all: z.infer<typeof lastPushes>): void {
  const path = placeOf(gitFolder);
  const text = JSON.stringify(all);
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(`${path}.new`, `${text}\n`, { mode: 0o600 });
    renameSync(`${path}.new`, path);
  } catch {
    // The next push builds on the commits of the uploaded archives.
  }
}

function readAll(gitFolder: string): z.infer<typeof lastPushes> {
  try {
    return lastPushes.parse(JSON.parse(readFileSync(placeOf(gitFolder), 'utf8')));
  } catch {
    // Missing or of another version.
    return { version: 1, servers: {} };
  }
}

function placeOf(gitFolder: string): string {
  return join(gitFolder, 'cairn', 'backups.json');
}
