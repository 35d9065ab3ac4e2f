/** cairn sync: syncs a folder with a vault. Nothing is overwritten silently on either side. */

import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { ClientError } from '../../client/client-error.ts';
import { nextCommand } from '../../client/next-command.ts';
import { readClientSettings } from '../../client/settings.ts';
import { jsonLine } from '../../client/shown.ts';
import { conflictsOf, type HeldChange, heldFromHub } from '../../client/sync/base/state.ts';
import { type Direction, lockFolder, syncOnce } from '../../client/sync/cycle.ts';
import { syncedAround } from '../../client/sync/folder/around.ts';
import { SyncedFolder } from '../../client/sync/folder/folder.ts';
import { conflictSidesOf } from '../../client/sync/plan/conflict-sides.ts';
import type { Replica } from '../../client/sync/replica.ts';
import { CONFLICT_CHOICES, type ConflictChoice, resolveConflict } from '../../client/sync/resolve.ts';
import { newRound, type Round } from '../../client/sync/round.ts';
import { type Command, needs, type Options, repeats, takes } from '../command.ts';
import { print, printError, printResult } from '../output.ts';
import { toldToEnd } from '../process.ts';
import { UsageError } from '../usage-error.ts';
import { watchAll } from './folders/watch-all.ts';
import { askBeforeFirstPush } from './sync-first.ts';
import { type FolderChoice, openReplica } from './sync-open.ts';
import { choiceLines, reportOf } from './sync-report.ts';
import { watchOne } from './sync-watch.ts';
import { folderOf, pathsOf } from './vault/place.ts';

const COMMON = [takes('folder', 'DIR'), takes('vault', 'NAME'), takes('server', 'URL')];
const PACES = [takes('limit-upload', 'RATE'), takes('limit-download', 'RATE')];
const CHOICE = [...COMMON, repeats('only', 'PATTERN'), ...PACES];
const ALLOWS = ['allow-deletes', 'allow-rewrites', 'create'];
const DECISIONS = [...ALLOWS, 'restore-missing', 'restore-rewritten', 'send-back'];

const INSTEAD = {
  'dry-run': '`cairn sync status` lists what a sync would do',
  force: '`cairn sync resolve` settles a conflict; --allow-deletes deletes most of a folder',
  dir: 'name the folder with --folder',
  path: 'name the folder with --folder',
};

const EXPLAINS = {
  folder: 'folder to sync; default: the synced folder around the current one, else the current one',
  vault:
    'vault to sync it with, created if there is none (asks first if another has a similar name); default: the one it belongs to, else the primary vault',
  server: 'address of the hub; default: the one it belongs to, else CAIRN_SERVER, else the last sign-in',
  only: "sync only what matches on this device, e.g. notes/ or '*.md'; kept for later syncs; '*' syncs everything again",
  create: 'create the vault without asking, even if its name is close to that of another one',
  'limit-upload': 'upload at most this many bytes per second, such as 500K or 2M',
  'limit-download': 'download at most this many bytes per second, such as 500K or 2M',
  all: 'watch every folder that `cairn sync add` listed in ~/.config/cairn/sync.json, in one process',
  'allow-deletes': 'delete files on the hub that are missing here, even if it is most of the folder',
  'allow-rewrites': 'send and take rewritten files, even if they are most of the folder',
  'restore-rewritten':
    'restore the hub’s versions of files rewritten here and not sent; those here go to .cairn/replaced',
  'send-back': 'where deletes and rewrites from the hub are held back, send these files to it again',
  'restore-missing': 'restore files that are missing here, instead of deleting them on the hub',
};

export const syncCommands: readonly Command[] = [
  {
    name: 'sync',
    summary: 'sync a folder and its vault in both directions',
    options: CHOICE,
    completes: { vault: 'vault' },
    instead: INSTEAD,
    flags: DECISIONS,
    explains: EXPLAINS,
    examples: ['cairn sync', 'cairn sync --folder ~/notes --vault notes', "cairn sync --only notes/ --only '*.md'"],
    run: (options) => syncCommand(options, 'both'),
  },
  {
    name: 'sync pull',
    summary: 'only pull changes from the hub; send nothing',
    options: CHOICE,
    completes: { vault: 'vault' },
    instead: INSTEAD,
    explains: EXPLAINS,
    examples: ['cairn sync pull --folder ~/notes --vault notes'],
    run: (options) => syncCommand(options, 'pull'),
  },
  {
    name: 'sync push',
    summary: 'do the same as sync: a push always pulls first',
    options: CHOICE,
    completes: { vault: 'vault' },
    instead: INSTEAD,
    flags: DECISIONS,
    explains: EXPLAINS,
    examples: ['cairn sync push --folder ~/notes'],
    run: (options) => syncCommand(options, 'both'),
  },
  {
    name: 'sync watch',
    summary: 'sync whenever a file changes here or on the hub, until stopped',
    options: CHOICE,
    completes: { vault: 'vault' },
    instead: INSTEAD,
    flags: [...ALLOWS, 'all'],
    explains: EXPLAINS,
    examples: ['cairn sync watch --folder ~/notes', 'cairn sync watch --all'],
    run: watch,
  },
  {
    name: 'sync pause',
    summary: 'stop syncing a folder until cairn sync resume, also for a running watch',
    options: [takes('folder', 'DIR')],
    explains: EXPLAINS,
    examples: ['cairn sync pause --folder ~/notes'],
    run: (options) => pause(options, true),
  },
  {
    name: 'sync resume',
    summary: 'sync a paused folder again',
    options: [takes('folder', 'DIR')],
    explains: EXPLAINS,
    examples: ['cairn sync resume --folder ~/notes'],
    run: (options) => pause(options, false),
  },
  {
    name: 'sync resolve',
    summary: 'settle a conflict: keep my version, the hub’s (theirs), both as two files, or merge both into the file',
    operands: ['[PATH]'],
    completes: { keep: CONFLICT_CHOICES, PATH: 'file' },
    options: [needs('keep', CONFLICT_CHOICES.join('|')), ...COMMON],
    flags: ['all'],
    explains: {
      ...EXPLAINS,
      all: 'settle every conflict of the folder the same way, instead of one PATH',
      keep: 'mine: push the file here; theirs: replace it; both: rename it to a conflict copy, and take the hub’s; merge: write both sides into it, with markers',
    },
    examples: ['cairn sync resolve notes.md --keep mine', 'cairn sync resolve --all --keep theirs'],
    run: settle,
  },
];

function choiceOf(options: Options, makes: FolderChoice['makes']): FolderChoice {
  const only = options.many('only');
  if (only.some((pattern) => pattern.trim() === '')) {
    throw new UsageError("--only is empty; name a pattern, or '*' for everything");
  }
  return {
    makes,
    folder: options.optional('folder'),
    vault: options.optional('vault'),
    server: options.optional('server'),
    create: options.flag('create'),
    only,
    limitUpload: options.optional('limit-upload'),
    limitDownload: options.optional('limit-download'),
  };
}

async function syncCommand(options: Options, direction: Direction): Promise<number> {
  const { replica, takeEvents, line } = await openReplica(choiceOf(options, direction === 'pull' ? 'pull' : 'sync'));
  const isFirst = replica.state.cursor === null;
  if (existsSync(replica.folder.own('paused'))) {
    const { path } = replica.folder.root;
    throw new ClientError(`${path} is paused; run \`${nextCommand(path, 'sync resume')}\` first.`);
  }
  let round: Round = newRound();
  const keep = (next: Round) => {
    round = next;
  };
  try {
    const how = {
      direction,
      allowDeletes: options.flag('allow-deletes'),
      allowRewrites: options.flag('allow-rewrites'),
      restoreMissing: options.flag('restore-missing'),
      restoreRewritten: options.flag('restore-rewritten'),
      sendBack: options.flag('send-back'),
      retryRefused: true,
      leavesLarge: false,
      beforeFirstPush: askBeforeFirstPush,
    };
    await syncOnce(replica, round, how, keep);
  } catch (error) {
    // The changes made before the error are reported as well.
    line.close();
    const events = takeEvents();
    const { message } = error as Error;
    if (options.json) print(jsonLine({ ...documentOf(replica, round, events), error: message }));
    else for (const text of reportOf(replica, round, events, isFirst).done) print(text);
    throw error;
  }
  line.close();
  const events = takeEvents();
  const { done, open, exitCode } = reportOf(replica, round, events, isFirst);
  if (options.json) print(jsonLine(documentOf(replica, round, events)));
  else {
    const notes = [...open, ...choiceLines(replica, round.scan)];
    printReport(done, notes, direction === 'both' ? 'up to date' : 'up to date with the hub');
  }
  return exitCode;
}

/** Prints what was done and, on standard error, what is left to do; `otherwise` when there is nothing of both. */
function printReport(done: readonly string[], notes: readonly string[], otherwise: string): void {
  for (const text of done) print(text);
  for (const text of notes) printError(`cairn: ${text}`);
  if (done.length + notes.length === 0) print(otherwise);
}

function documentOf({ state }: Replica, { troubles, held }: Round, events: readonly unknown[]) {
  const sides = conflictSidesOf(state);
  const conflicts = [...state.waits].filter(([, { kind }]) => kind === 'conflict');
  return {
    events,
    conflicts: Object.fromEntries(
      conflicts.map(([path, { reason, conflictId }]) => [path, { reason, conflict_id: conflictId, ...sides[path] }]),
    ),
    problems: Object.fromEntries(troubles),
    held_deletes: heldAs(held, 'deleted'),
    held_rewrites: heldAs(held, 'rewritten'),
    held_from_hub: Object.fromEntries(heldFromHub(state)),
  };
}

const heldAs = (held: ReadonlyMap<string, HeldChange>, kind: HeldChange) =>
  [...held].filter(([, what]) => what === kind).map(([path]) => path);

async function settle(options: Options): Promise<number> {
  const keep = options.required('keep');
  if (!isConflictChoice(keep)) throw new UsageError('--keep must be mine, theirs, both or merge');
  const [one, isAll] = [options.operand(), options.flag('all')];
  if ((one === undefined) !== isAll) throw new UsageError('name one PATH, or settle every conflict with --all');
  const folder = folderOf(options, one);
  const { replica, takeEvents, line } = await openReplica({ ...choiceOf(options, 'read'), folder });
  let round: Round = newRound();
  await lockFolder(replica, async () => {
    const paths = one === undefined ? conflictsOf(replica.state) : [waitingPath(replica, one)];
    for (const path of paths) round = await resolveConflict(replica, path, keep);
  });
  line.close();
  const events = takeEvents();
  const { done, open, exitCode } = reportOf(replica, round, events, false);
  if (options.json) print(jsonLine(documentOf(replica, round, events)));
  else printReport(done, open, 'no conflicts');
  return exitCode;
}

const isConflictChoice = (text: string): text is ConflictChoice => CONFLICT_CHOICES.some((choice) => choice === text);

/** Resolves a name to a waiting path: relative to the current directory, or to the folder as commands print it. */
function waitingPath({ folder, state }: Replica, given: string): string {
  const waiting = new Set<string>(state.waits.keys());
  return pathsOf(folder.root.path, given).find((path) => waiting.has(path)) ?? given;
}

async function watch(options: Options): Promise<number> {
  const signal = toldToEnd(['SIGINT', 'SIGTERM']);
  const { json } = options;
  const [allowDeletes, allowRewrites] = [options.flag('allow-deletes'), options.flag('allow-rewrites')];
  const how = { json, allowDeletes, allowRewrites, create: options.flag('create'), signal };
  if (!options.flag('all')) return await watchOne(choiceOf(options, 'sync'), { ...how, prefix: '' });
  if (['folder', 'vault', 'server'].some((name) => options.optional(name) !== undefined)) {
    throw new UsageError('--all uses the folders, vaults and servers of sync.json; leave out the other options');
  }
  return await watchAll(readClientSettings().syncFile, how);
}

async function pause(options: Options, isPausing: boolean): Promise<number> {
  const named = resolve(options.optional('folder') ?? '.');
  const folder = syncedAround(named);
  if (folder === undefined) throw new ClientError(`${named} is not a synced folder; check --folder.`);
  const opened = new SyncedFolder(folder);
  if (isPausing) writeFileSync(opened.own('paused'), '', { mode: 0o600 });
  else rmSync(opened.own('paused'), { force: true });
  return printResult(options, { folder, paused: isPausing }, () => (isPausing ? 'paused' : 'resumed'));
}
