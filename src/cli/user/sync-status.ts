/**
 * cairn sync status: how a folder stands. A running watch knows, so it is asked, and neither the hub nor a file is. Without one,
 * every file is compared with the hub, in the module that is loaded only then.
 */
import { resolve } from 'node:path';
import { formatBytes } from '../../client/progress.ts';
import { readClientSettings } from '../../client/settings.ts';
import { jsonLine, shownLine, shownTime } from '../../client/shown.ts';
import { syncedAround } from '../../client/sync/folder/around.ts';
import { askWatch } from '../../client/sync/watch/ask-watch.ts';
import { exitCodeOfStanding, type FolderStanding, type OnTheWay, stateOf } from '../../client/sync/watch/standing.ts';
import { countWithNoun } from '../../text/count.ts';
import { type Command, type Options, takes } from '../command.ts';
import { print, printError, table } from '../output.ts';
import { UsageError } from '../usage-error.ts';
import { conflictNote } from './conflict-lines.ts';
import { heldLines, pausedNote } from './held-lines.ts';

type Row = readonly [string, string];

export const syncStatusCommand: Command = {
  name: 'sync status',
  summary: 'tell how a folder stands; exit code 3 for conflicts, 1 for what is not synced',
  options: [takes('folder', 'DIR'), takes('vault', 'NAME'), takes('server', 'URL')],
  flags: ['all', 'compare'],
  explains: {
    folder: 'synced folder; default: the one around the current folder, else the current one',
    vault: 'the vault of the folder, to be sure',
    server: 'address of the hub; default: the one that the folder belongs to',
    all: 'every folder listed in ~/.config/cairn/sync.json',
    compare: 'compare every file with the hub, also while a watch runs, which knows how the folder stands',
  },
  examples: ['cairn sync status', 'cairn sync status --all', 'cairn sync status --json'],
  run: status,
};

async function status(options: Options): Promise<number> {
  if (options.flag('all')) return await statusOfAll(options);
  const root = syncedAround(resolve(options.optional('folder') ?? '.'));
  const standing = root === undefined || options.flag('compare') ? undefined : await askWatch(root);
  const vault = options.optional('vault');
  if (standing === undefined || (vault !== undefined && vault !== standing.vault)) {
    const { compareStatus } = await import('./sync-compare.ts');
    return await compareStatus(options);
  }
  if (options.json) print(jsonLine({ state: stateOf(standing), ...standing }));
  else show(standing);
  return exitCodeOfStanding(standing);
}

/** Every folder of the list, in short. Resolves with the worst exit code; a folder without a watch counts as not synced. */
async function statusOfAll(options: Options): Promise<number> {
  if (['folder', 'vault', 'server'].some((name) => options.optional(name) !== undefined)) {
    throw new UsageError('--all shows the folders of sync.json; leave out the other options');
  }
  const { readFolderList } = await import('../../client/sync/watch/folder-list.ts');
  const folders = readFolderList(readClientSettings().syncFile).map(({ folder }) => folder);
  const standings = await Promise.all(folders.map(async (folder) => ({ folder, found: await askWatch(folder) })));
  if (options.json) {
    for (const { folder, found } of standings)
      print(jsonLine(found === undefined ? { folder, state: 'no watch' } : { state: stateOf(found), ...found }));
  } else {
    print(table(standings.map(({ folder, found }): Row => [shownLine(folder), found ? short(found) : 'no watch'])));
  }
  const codes = standings.map(({ found }) => (found === undefined ? 1 : exitCodeOfStanding(found)));
  return codes.includes(1) ? 1 : Math.max(0, ...codes);
}

function short(standing: FolderStanding): string {
  const { conflicts, held, held_from_hub, problems, last_sync } = standing;
  const counts = [
    [conflicts.length, 'conflict'],
    [Object.keys({ ...held, ...held_from_hub }).length, 'held change'],
    [Object.keys(problems).length, 'problem'],
  ] as const;
  const found = counts.filter(([count]) => count > 0).map(([count, what]) => countWithNoun(count, what));
  return [stateOf(standing), ...found, last_sync === null ? 'never synced' : `synced ${ago(last_sync)}`].join(', ');
}

/** One screen. What waits for the user is on standard error, as a sync writes it. */
function show(standing: FolderStanding): void {
  const { folder, vault, hub, device, pid, watch_since, last_sync } = standing;
  const { conflicts, conflict_sides, problems, held, held_from_hub } = standing;
  const why = standing.hub_away ?? standing.trouble;
  const rows: Row[] = [
    ['folder', shownLine(folder)],
    ['vault', `${shownLine(vault)} on ${hub}`],
    ['device', shownLine(device)],
    ['watch', `since ${shownTime(watch_since)}, process ${pid}`],
    ['last sync', last_sync === null ? 'not yet' : `${ago(last_sync)}, ${shownTime(last_sync)}`],
    ['state', why === null ? stateOf(standing) : `${stateOf(standing)}. ${shownLine(why)}`],
    ['up', onTheWay(standing.up)],
    ['down', onTheWay(standing.down)],
    ...conflicts.map((path): Row => {
      const note = conflictNote(folder, path, conflict_sides[path]);
      return ['conflict', `${shownLine(path)}  (${shownLine(note)})`];
    }),
    ...Object.entries(problems).map(([path, reason]): Row => ['problem', `${shownLine(path)}  (${shownLine(reason)})`]),
    ...Object.keys({ ...held, ...held_from_hub }).map((path): Row => ['held', shownLine(path)]),
  ];
  const notes = [
    ...(standing.is_paused ? [pausedNote(folder)] : []),
    ...heldLines(new Map(Object.entries(held)), new Map(Object.entries(held_from_hub)), folder),
  ];
  for (const text of notes) printError(`cairn: ${text}`);
  print(table(rows));
}

function onTheWay({ files, bytes }: OnTheWay): string {
  return files === 0 ? 'nothing' : `${countWithNoun(files, 'file')}${bytes > 0 ? `, ${formatBytes(bytes)}` : ''}`;
}

function ago(iso: string): string {
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(iso)) / 1000));
  if (seconds < 60) return `${countWithNoun(seconds, 'second')} ago`;
  if (seconds < 3600) return `${countWithNoun(Math.floor(seconds / 60), 'minute')} ago`;
  return seconds < 172_800
    ? `${countWithNoun(Math.floor(seconds / 3600), 'hour')} ago`
    : `${countWithNoun(Math.floor(seconds / 86_400), 'day')} ago`;
}
