/** cairn sync restore: restores an earlier version of a file or folder on the hub, so that every device receives it. */
import { z } from 'zod';
import { ClientError } from '../../../client/client-error.ts';
import { nextCommand, pathWord } from '../../../client/next-command.ts';
import { countWithNoun, jsonLine, shownLine } from '../../../client/shown.ts';
import { readAs } from '../../../client/sync/remote-record.ts';
import { shownTime, versionToRestore } from '../../../client/sync/vault-files.ts';
import { ToolRefused } from '../../../client/tool-refused.ts';
import type { ToolAnswer } from '../../../client/tools.ts';
import { type Command, type Options, takes } from '../../command.ts';
import { readTime, TIME_FORMS } from '../../dates/when.ts';
import { print, printError, printResult } from '../../output.ts';
import { UsageError } from '../../usage-error.ts';
import { onFile, openPlace, PLACE_EXPLAINS, PLACE_OPTIONS, type VaultPlace } from './place.ts';

const restoredSchema = z.object({ path: z.string(), status: z.string(), stored_at: z.string() });
const sizeSchema = z.object({ total_count: z.number() });
const folderSchema = z.object({
  restored: z.array(z.string()),
  deleted: z.array(z.string()),
  skipped: z.array(z.object({ path: z.string(), reason: z.string() })),
  has_more: z.boolean(),
  cursor: z.string().nullable(),
});

/** JSON-RPC code: an invalid argument, such as a version that is not kept. */
const INVALID = -32602;

/** Above this number, paths are no longer listed individually. */
const TOLD_PATHS_MAX = 20;

export const syncRestoreCommand: Command = {
  name: 'sync restore',
  summary: 'restore the previous version, or the version at a time; without FILE, the whole folder as of --at',
  operands: ['[FILE]'],
  options: [...PLACE_OPTIONS, takes('at', 'TIME'), takes('seq', 'N')],
  flags: ['dry-run', 'allow-deletes'],
  explains: {
    ...PLACE_EXPLAINS,
    at: `time to go back to: ${TIME_FORMS}`,
    seq: 'version to restore, a number from `cairn sync history`',
    'dry-run': 'only show what would change',
    'allow-deletes': 'delete the files that did not exist at that time, even if it is most of the folder',
  },
  examples: [
    'cairn sync restore notes/today.md',
    "cairn sync restore notes/today.md --at '2026-11-20 18:00'",
    'cairn sync restore --folder ~/notes --at 2h --dry-run',
  ],
  run: restore,
};

async function restore(options: Options): Promise<number> {
  const at = options.optional('at');
  const atMs = at === undefined ? undefined : readTime(at, Date.now());
  const file = options.operand();
  if (file === undefined) {
    if (atMs === undefined) throw new UsageError('name a file, or a time with --at to restore the whole folder');
    return await restoreFolder(options, await openPlace(options), atMs);
  }
  const place = await openPlace(options, file);
  return await onFile(place, file, (path) => restoreFile(options, place, path, atMs));
}

async function restoreFile(options: Options, place: VaultPlace, path: string, atMs: number | undefined) {
  // As the history shows it: #12.
  const given = options.optional('seq')?.replace(/^#/, '');
  if (given !== undefined && (atMs !== undefined || !/^[1-9]\d{0,14}$/.test(given))) {
    throw new UsageError(atMs === undefined ? '--seq must be the number of a version' : 'use --seq or --at, not both');
  }
  const seq = given === undefined ? (await versionToRestore(place.hub, path, atMs)).seq : Number(given);
  if (options.flag('dry-run')) {
    const sentence = `would restore ${shownLine(path)} to version #${seq}`;
    return printResult(options, { path, seq, dry_run: true }, () => sentence);
  }
  const { structured } = await restoreVersion(place, path, seq);
  const { status } = readAs(restoredSchema, structured);
  if (options.json) print(jsonLine(structured));
  else if (status === 'unchanged') print(`${shownLine(path)} already has the content of version #${seq}`);
  else {
    print(`restored ${shownLine(path)} to version #${seq}`);
    tellNext(place);
  }
  return 0;
}

async function restoreVersion({ hub }: VaultPlace, path: string, seq: number): Promise<ToolAnswer> {
  try {
    return await hub.call('sync_restore', { path, seq });
  } catch (error) {
    const isUnknown = error instanceof ToolRefused && error.code === INVALID && error.data['field'] === 'seq';
    if (!isUnknown) throw error;
    const history = `cairn sync history ${pathWord(path)}`;
    throw new ClientError(`${shownLine(path)} has no version #${seq}; \`${history}\` lists its versions.`);
  }
}

interface Restored {
  readonly restored: string[];
  readonly deleted: string[];
  readonly skipped: { readonly path: string; readonly reason: string }[];
}

/** Restores the folder as of a time; with `isDry`, only lists what that would change. */
async function restoreAsOf(place: VaultPlace, atMs: number, isDry: boolean): Promise<Restored> {
  const folder = place.below === '' ? {} : { folder: place.below };
  const found: Restored = { restored: [], deleted: [], skipped: [] };
  for (let cursor: string | null = null; ; ) {
    const args = {
      at: new Date(atMs).toISOString(),
      ...folder,
      dry_run: isDry,
      ...(cursor === null ? {} : { cursor }),
    };
    const { structured } = await place.hub.call('sync_restore_folder', args);
    const page: z.infer<typeof folderSchema> = readAs(folderSchema, structured);
    found.restored.push(...page.restored);
    found.deleted.push(...page.deleted);
    found.skipped.push(...page.skipped);
    if (!page.has_more) return found;
    ({ cursor } = page);
  }
}

/** A time before most files existed is probably a mistake: deleting more than half of them needs a confirmation. */
async function checkDeletes(place: VaultPlace, atMs: number): Promise<void> {
  const { deleted } = await restoreAsOf(place, atMs, true);
  if (deleted.length === 0) return;
  const prefix = place.below === '' ? {} : { prefix: `${place.below}/` };
  const { structured } = await place.hub.call('sync_list', { limit: 1, ...prefix });
  const { total_count: total } = readAs(sizeSchema, structured);
  if (deleted.length * 2 <= total) return;
  const what = `${deleted.length} of ${countWithNoun(total, 'file')} did not exist at ${shownTime(atMs)} and would be deleted`;
  throw new ClientError(`${what}. To see them, add --dry-run. To delete them, add --allow-deletes.`);
}

async function restoreFolder(options: Options, place: VaultPlace, atMs: number): Promise<number> {
  const isDry = options.flag('dry-run');
  if (!isDry && !options.flag('allow-deletes')) await checkDeletes(place, atMs);
  const { restored, deleted, skipped } = await restoreAsOf(place, atMs, isDry);
  if (options.json) print(jsonLine({ restored, deleted, skipped }));
  else {
    tellPaths(isDry ? 'would restore' : 'restored', restored);
    tellPaths(isDry ? 'would delete' : 'deleted', deleted);
    for (const { path, reason } of skipped) printError(`cairn: ${path} was left as it is: ${reason}`);
    const sum = `${countWithNoun(restored.length, 'file')} restored, ${countWithNoun(deleted.length, 'file')} deleted`;
    if (restored.length + deleted.length === 0) print(`nothing differs from ${shownTime(atMs)}`);
    else if (!isDry) {
      print(`${sum}, as of ${shownTime(atMs)}`);
      tellNext(place);
    }
  }
  return skipped.length > 0 ? 1 : 0;
}

function tellPaths(verb: string, paths: readonly string[]): void {
  for (const path of paths.slice(0, TOLD_PATHS_MAX)) print(`${verb} ${shownLine(path)}`);
  const rest = paths.length - TOLD_PATHS_MAX;
  if (rest > 0) print(`${verb} ${countWithNoun(rest, 'more file')}`);
}

function tellNext({ root }: VaultPlace): void {
  if (root === undefined) return;
  print(`run \`${nextCommand(root, 'sync')}\` to bring the change into the folder, unless a watch is running`);
}
