/** cairn sync restore: restores an earlier version of a file or folder on the hub, so that every device receives it. */
import { z } from 'zod';
import { ClientError } from '../../../client/client-error.ts';
import { nextCommand, pathWord } from '../../../client/next-command.ts';
import { jsonLine, shownLine, shownTime } from '../../../client/shown.ts';
import { isFarUndo, largestBurst } from '../../../client/sync/plan/burst.ts';
import { readAs } from '../../../client/sync/remote-record.ts';
import { listFiles, versionToRestore } from '../../../client/sync/vault-files.ts';
import { ToolRefused } from '../../../client/tool-refused.ts';
import type { ToolAnswer } from '../../../client/tools.ts';
import { countWithNoun } from '../../../text/count.ts';
import { type Command, needs, type Options, takes } from '../../command.ts';
import { readTime, TIME_FORMS } from '../../dates/when.ts';
import { print, printError, printResult } from '../../output.ts';
import { askPerson } from '../../secret-input.ts';
import { UsageError } from '../../usage-error.ts';
import { onFile, openPlace, PLACE_COMPLETES, PLACE_EXPLAINS, PLACE_OPTIONS, type VaultPlace } from './place.ts';

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

export const syncUndoCommand: Command = {
  name: 'sync undo',
  summary: 'go back to the moment before a burst of changes, such as a mass delete; shows it first, --yes does it',
  options: [...PLACE_OPTIONS, needs('last', 'TIME'), takes('confirm', 'N')],
  flags: ['yes'],
  explains: {
    ...PLACE_EXPLAINS,
    last: 'how far back to look for the burst, such as 15m or 2h',
    yes: 'do it; without this option, nothing changes',
    confirm: 'the number of files that it changes, where that is more than half of the folder',
  },
  examples: ['cairn sync undo --last 15m', 'cairn sync undo --last 15m --yes --confirm 80'],
  run: undo,
};

export const syncRestoreCommand: Command = {
  name: 'sync restore',
  summary: 'restore the previous version, or the version at a time; without FILE, the whole folder as of --at',
  operands: ['[FILE]'],
  options: [...PLACE_OPTIONS, takes('at', 'TIME'), takes('seq', 'VERSION')],
  completes: { ...PLACE_COMPLETES, FILE: 'kept file' },
  flags: ['dry-run', 'allow-deletes'],
  explains: {
    ...PLACE_EXPLAINS,
    at: `time to go back to: ${TIME_FORMS}`,
    seq: 'version to restore: what `cairn sync history` shows for it, a number or c-…',
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
  if (given !== undefined && (atMs !== undefined || !/^(?:[1-9]\d{0,14}|c-[\w-]{1,100})$/.test(given))) {
    throw new UsageError(
      atMs === undefined
        ? '--seq must be a version as `cairn sync history` shows it: a number or c-…'
        : 'use --seq or --at, not both',
    );
  }
  const seq = given === undefined ? (await versionToRestore(place.hub, path, atMs)).seq : readSeq(given);
  const shown = shownSeq(seq);
  if (options.flag('dry-run')) {
    const sentence = `would restore ${shownLine(path)} to ${shown}`;
    return printResult(options, { path, seq, dry_run: true }, () => sentence);
  }
  const { structured } = await restoreVersion(place, path, seq);
  const { status } = readAs(restoredSchema, structured);
  if (options.json) print(jsonLine(structured));
  else if (status === 'unchanged') print(`${shownLine(path)} already has the content of ${shown}`);
  else {
    print(`restored ${shownLine(path)} to ${shown}`);
    tellNext(place, path);
  }
  return 0;
}

/** A version by its number, or the side of a settled conflict as `c-` and the id of the conflict. */
type Wanted = number | string;

const readSeq = (given: string): Wanted => (given.startsWith('c-') ? given : Number(given));

const shownSeq = (seq: Wanted): string =>
  typeof seq === 'number' ? `version #${seq}` : `the side ${seq}, which was not chosen`;

async function restoreVersion({ hub }: VaultPlace, path: string, seq: Wanted): Promise<ToolAnswer> {
  const which = typeof seq === 'number' ? { seq } : { conflict_id: seq.slice('c-'.length) };
  try {
    return await hub.call('sync_restore', { path, ...which });
  } catch (error) {
    const isOfVersion = error instanceof ToolRefused && error.code === INVALID;
    const isUnknown = isOfVersion && ['seq', 'conflict_id'].includes(String(error.data['field']));
    if (!isUnknown) throw error;
    const history = `cairn sync history ${pathWord(path)}`;
    throw new ClientError(
      `${shownLine(path)} has no ${typeof seq === 'number' ? `version #${seq}` : `settled side ${seq}`}; \`${history}\` lists its versions.`,
    );
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

async function undo(options: Options): Promise<number> {
  const last = options.required('last');
  const place = await openPlace(options);
  const prefix = place.below === '' ? {} : { prefix: `${place.below}/` };
  const files = await listFiles(place.hub, { ...prefix, include_deleted: true });
  const changes = files.map(({ stored_at: at, deleted, versions }) => ({
    atMs: Date.parse(at),
    isNew: !deleted && versions === 1,
  }));
  const burst = largestBurst(changes, readTime(last, Date.now()));
  if (burst === undefined) return printResult(options, { burst: null }, () => `nothing changed in the last ${last}`);
  const isDone = options.flag('yes');
  const live = files.filter(({ deleted }) => !deleted).length;
  const planned = await restoreAsOf(place, burst.firstMs - 1, true);
  if (isDone) await confirmFar(options, planned, live);
  const { restored, deleted, skipped } = isDone ? await restoreAsOf(place, burst.firstMs - 1, false) : planned;
  const before = shownTime(burst.firstMs);
  if (options.json) print(jsonLine({ before: burst.firstMs, changes: burst.changes, restored, deleted, skipped }));
  else {
    print(`${countWithNoun(burst.changes, 'file')} changed from ${before} to ${shownTime(burst.lastMs)}`);
    tellPaths(isDone ? 'restored' : 'would restore', restored);
    tellPaths(isDone ? 'deleted' : 'would delete', deleted);
    for (const { path, reason } of skipped) printError(`cairn: ${path} was left as it is: ${reason}`);
    const confirm = isFarUndo(changedBy(planned), live) ? ` --confirm ${changedBy(planned)}` : '';
    if (isDone) tellNext(place);
    else print(`nothing is changed yet; to go back to the moment before, run it again with --yes${confirm}`);
  }
  return skipped.length > 0 ? 1 : 0;
}

const changedBy = ({ restored, deleted }: Restored): number => restored.length + deleted.length;

/** An undo of most of a folder asks a second time: whoever saw what it would do knows the number. */
async function confirmFar(options: Options, planned: Restored, live: number): Promise<void> {
  const count = changedBy(planned);
  if (!isFarUndo(count, live)) return;
  const { restored, deleted } = planned;
  const what = `It would restore ${countWithNoun(restored.length, 'file')} and delete ${deleted.length}, which is more than half of the folder.`;
  const given = options.optional('confirm') ?? (await askPerson(`${what}\nType ${count} to confirm: `));
  if (given?.trim() !== String(count))
    throw new ClientError(`Nothing was undone. ${what} To do it, add --confirm ${count}.`);
}

function tellPaths(verb: string, paths: readonly string[]): void {
  for (const path of paths.slice(0, TOLD_PATHS_MAX)) print(`${verb} ${shownLine(path)}`);
  const rest = paths.length - TOLD_PATHS_MAX;
  if (rest > 0) print(`${verb} ${countWithNoun(rest, 'more file')}`);
}

/** `path`: the only file that was restored. */
function tellNext({ root, leavesOut }: VaultPlace, path?: string): void {
  if (root === undefined) return;
  if (path !== undefined && leavesOut(path)) {
    const look = nextCommand(root, `sync cat ${pathWord(path)}`);
    print(`an ignore file or --only leaves it out here, so no sync brings it into the folder; \`${look}\` prints it`);
    return;
  }
  print(`run \`${nextCommand(root, 'sync')}\` to bring the change into the folder, unless a watch is running`);
}
