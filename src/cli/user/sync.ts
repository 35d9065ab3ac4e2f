/** cairn sync: keeps a folder in step with a vault. Nothing is overwritten silently, on neither side. */
import { resolve } from 'node:path';
import { ClientError } from '../../client/client-error.ts';
import { openProgress } from '../../client/progress.ts';
import { type Keep, resolveConflict } from '../../client/sync/conflicts.ts';
import { type Direction, lockFolder, syncOnce } from '../../client/sync/cycle.ts';
import { findVault, VaultHub } from '../../client/sync/hub.ts';
import type { SyncEvent, SyncSession } from '../../client/sync/session.ts';
import { newState, readState } from '../../client/sync/state.ts';
import { statusOf } from '../../client/sync/status.ts';
import { watchFolder } from '../../client/sync/watch.ts';
import { type Command, needs, type Options, takes } from '../command.ts';
import { print, printError, table } from '../output.ts';
import { UsageError } from '../usage-error.ts';
import { openTools } from './tool-access.ts';

const COMMON = [takes('folder', 'DIR'), takes('vault', 'NAME'), takes('server', 'URL')];
const DELETES = ['allow-deletes'];
/** Conflicts wait for the user. */
const EXIT_CONFLICT = 3;

export const syncCommands: readonly Command[] = [
  {
    name: 'sync',
    summary: 'bring a folder and its vault in step: pull, then push',
    options: COMMON,
    flags: DELETES,
    examples: ['cairn sync', 'cairn sync --folder ~/notes --vault notes'],
    run: (options) => syncCommand(options, 'both'),
  },
  {
    name: 'sync pull',
    summary: 'only bring what is new on the hub into the folder',
    options: COMMON,
    examples: ['cairn sync pull --folder ~/notes --vault notes'],
    run: (options) => syncCommand(options, 'pull'),
  },
  {
    name: 'sync push',
    summary: 'the same as sync: a push begins with a pull, so that it builds on what is there',
    options: COMMON,
    flags: DELETES,
    examples: ['cairn sync push --folder ~/notes'],
    run: (options) => syncCommand(options, 'both'),
  },
  {
    name: 'sync status',
    summary: 'say what a sync would do; exit code 3 when conflicts wait',
    options: COMMON,
    examples: ['cairn sync status --json'],
    run: status,
  },
  {
    name: 'sync watch',
    summary: 'sync whenever a file changes here or on the hub, until it is stopped',
    options: COMMON,
    flags: DELETES,
    examples: ['cairn sync watch --folder ~/notes'],
    run: watch,
  },
  {
    name: 'sync resolve',
    summary: 'settle a file that changed on both sides: keep mine, theirs, or merge both into the file',
    operands: ['PATH'],
    options: [needs('keep', 'mine|theirs|merge'), ...COMMON],
    examples: ['cairn sync resolve notes.md --keep mine'],
    run: settle,
  },
];

async function syncCommand(options: Options, direction: Direction): Promise<number> {
  const { session, events, close } = await openSession(options);
  try {
    await syncOnce(session, direction, { allowDeletes: options.flag('allow-deletes') });
  } finally {
    close();
  }
  return report(options, session, events);
}

async function status(options: Options): Promise<number> {
  const { session, close } = await openSession(options);
  try {
    const found = await statusOf(session);
    if (options.json) print(JSON.stringify(found));
    else {
      const { skipped, ...lists } = found;
      const lines = Object.entries(lists).flatMap(([what, paths]) =>
        paths.map((path): [string, string] => [what, path]),
      );
      const notes = Object.entries(skipped).map(([path, note]): [string, string] => ['skipped', `${path} ${note}`]);
      print(lines.length + notes.length === 0 ? 'in step' : table([...lines, ...notes]));
    }
    return found.conflict.length > 0 ? EXIT_CONFLICT : 0;
  } finally {
    close();
  }
}

async function settle(options: Options): Promise<number> {
  const keep = options.required('keep');
  if (keep !== 'mine' && keep !== 'theirs' && keep !== 'merge')
    throw new UsageError('--keep takes mine, theirs or merge');
  const { session, events, close } = await openSession(options);
  try {
    await lockFolder(session.folder, () => resolveConflict(session, options.operand() ?? '', keep satisfies Keep));
  } finally {
    close();
  }
  return report(options, session, events);
}

async function watch(options: Options): Promise<number> {
  const { session, events, close } = await openSession(options);
  const ended = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ended.abort());
  if (!options.json) print(`watching ${session.folder}; Ctrl-C ends it`);
  await watchFolder(session, {
    signal: ended.signal,
    warn: (error) => printError(`cairn: ${error.message}`),
    async syncNow() {
      await syncOnce(session, 'both', { allowDeletes: options.flag('allow-deletes') });
      for (const event of events.splice(0)) print(options.json ? JSON.stringify(event) : line(event));
    },
  });
  close();
  return Object.keys(session.state.conflicts).length > 0 ? EXIT_CONFLICT : 0;
}

/** What was done, and whether something waits. */
function report(options: Options, { state }: SyncSession, events: readonly SyncEvent[]): number {
  const conflicts = Object.keys(state.conflicts);
  if (options.json) print(JSON.stringify({ events, conflicts: state.conflicts }));
  else {
    for (const event of events) print(line(event));
    for (const path of conflicts) {
      printError(`cairn: ${path} waits for you: cairn sync resolve '${path}' --keep mine|theirs|merge`);
    }
    if (events.length === 0 && conflicts.length === 0) print('in step');
  }
  if (conflicts.length > 0) return EXIT_CONFLICT;
  return events.some(({ verb }) => verb === 'problem') ? 1 : 0;
}

function line({ verb, path, note }: SyncEvent): string {
  return `${verb.padEnd(8)}  ${path}${note === undefined ? '' : `  (${note})`}`;
}

/** Opens the folder that the options name, for the vault that it belongs to or that they name. */
async function openSession(options: Options) {
  const folder = resolve(options.optional('folder') ?? '.');
  const kept = readState(folder);
  const { server, tools } = openTools(options.optional('server') ?? kept?.server);
  const vault = options.optional('vault');
  const vaultId = kept === undefined || vault !== undefined ? await findVault(tools, vault) : kept.vault_id;
  if (kept !== undefined && (kept.vault_id !== vaultId || kept.server !== server)) {
    throw new ClientError(
      `${folder} belongs to another vault (${kept.vault_id} of ${kept.server}); sync another folder.`,
    );
  }
  const events: SyncEvent[] = [];
  const bar = openProgress('syncing');
  const session: SyncSession = {
    folder,
    hub: new VaultHub(tools, vaultId),
    state: kept ?? newState(server, vaultId),
    tell: (event) => void events.push(event),
    progress: (done, total) => bar.update(done, total),
  };
  return { session, events, close: () => bar.close() };
}
