/**
 * Reads information about a vault's files for display: the list, the versions of one file, a diff against a local copy.
 */
import { z } from 'zod';
import { ClientError } from '../client-error.ts';
import { pathWord } from '../next-command.ts';
import { shownTime } from '../shown.ts';
import type { VaultHub } from './hub.ts';
import { readAs, timeSchema } from './remote-record.ts';

const listSchema = z.object({
  files: z.array(
    z.object({
      seq: z.number(),
      path: z.string(),
      sha256: z.string(),
      size_bytes: z.number(),
      stored_at: z.string(),
      device_id: z.string(),
      deleted: z.boolean(),
      executable: z.boolean(),
      // Absent in answers of older hubs.
      versions: z.number().optional(),
    }),
  ),
  has_more: z.boolean(),
  cursor: z.string().nullable(),
});
const historySchema = z.object({
  path: z.string(),
  versions: z.array(
    z.object({
      seq: z.number(),
      path: z.string(),
      status: z.string(),
      deleted: z.boolean(),
      sha256: z.string(),
      size_bytes: z.number(),
      stored_at: timeSchema,
      device_id: z.string(),
      renamed_from: z.string().nullable(),
    }),
  ),
  // Absent in answers of older hubs.
  not_chosen: z
    .array(
      z.object({
        conflict_id: z.string(),
        size_bytes: z.number(),
        detected_at: z.string(),
        device_id: z.string(),
      }),
    )
    .default([]),
  has_more: z.boolean(),
});

export type VaultFile = z.infer<typeof listSchema>['files'][number];
export type FileVersion = z.infer<typeof historySchema>['versions'][number];
/** The side of a settled conflict that became no version. */
export type NotChosenSide = z.infer<typeof historySchema>['not_chosen'][number];

const PAGE_FILES = 10_000;
const PAGE_VERSIONS = 200;

/** The files of a vault, sorted by path; includes deleted ones on request. */
export async function listFiles(hub: VaultHub, args: Readonly<Record<string, unknown>>): Promise<VaultFile[]> {
  const found: VaultFile[] = [];
  for (let cursor: string | null = null; ; ) {
    const from = cursor === null ? {} : { cursor };
    const { structured } = await hub.call('sync_list', { limit: PAGE_FILES, ...args, ...from });
    const page: z.infer<typeof listSchema> = readAs(listSchema, structured);
    found.push(...page.files);
    if (!page.has_more) return found;
    ({ cursor } = page);
  }
}

/** The stored versions of a file, newest first, including those under earlier names. The caller may stop early. */
export async function* fileVersionsOf(hub: VaultHub, path: string): AsyncGenerator<FileVersion> {
  for (let before: number | undefined; ; ) {
    const from = before === undefined ? {} : { before };
    const { structured } = await hub.call('sync_history', { path, limit: PAGE_VERSIONS, ...from });
    const page: z.infer<typeof historySchema> = readAs(historySchema, structured);
    yield* page.versions;
    const oldest = page.versions.at(-1)?.seq;
    // A hub that says more of the same has no more.
    if (!page.has_more || oldest === undefined || oldest >= (before ?? Number.POSITIVE_INFINITY)) return;
    before = oldest;
  }
}

/** The sides of settled conflicts of a file that are in no version, newest first. */
export async function notChosenSidesOf(hub: VaultHub, path: string): Promise<NotChosenSide[]> {
  const { structured } = await hub.call('sync_history', { path, limit: PAGE_VERSIONS });
  return readAs(historySchema, structured).not_chosen;
}

/**
 * The version for a restore: the one current at a time, or the one before the current one. Throws ClientError when the
 * file did not exist then.
 */
export async function versionToRestore(hub: VaultHub, path: string, atMs: number | undefined): Promise<FileVersion> {
  let isNewest = true;
  for await (const version of fileVersionsOf(hub, path)) {
    const isWanted = atMs === undefined ? !isNewest && !version.deleted : Date.parse(version.stored_at) <= atMs;
    isNewest = false;
    if (!isWanted) continue;
    if (version.deleted) break;
    return version;
  }
  const when = atMs === undefined ? 'has no earlier version' : `did not exist on the hub at ${shownTime(atMs)}`;
  throw new ClientError(`${path} ${when}; \`cairn sync history ${pathWord(path)}\` lists its versions.`);
}
