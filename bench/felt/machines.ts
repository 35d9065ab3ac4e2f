/** Two machines with one folder, over Cairn, Syncthing or another: the first sync of a full folder, then saves in it. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SyncStatus } from '../../src/client/sync/status.ts';
import { AS_INSTALLED, syncthingNodes } from '../../test/client/sync/storm/syncthing.ts';
import { syncedFolder } from '../../test/support/synced-folder.ts';
import type { Cairn } from '../peers/cairn.ts';
import { type ByName, mapped, type Spent, spentBy, spentSince } from './spent.ts';

/** How exact an arrival is known. */
const LOOK_MS = 5;
/** The same while many files come: a look reads every folder, and takes at most one part in so many of a core. */
const LOOK_AT_ALL_MS = 100;
const LOOK_SHARE = 10;
const GIVE_UP_MS = 1_200_000;
/** Between saves, on average. A save does not wait for the one before. */
const PAUSE_MS = 700;
/** A program that has just begun, or has just taken many files, has more to do. */
const SETTLE_MS = 3000;

export interface Pair {
  /** The folder of the machine that has the files, and that of the other. */
  readonly folders: readonly [from: string, to: string];
  /** Starts the machine with the empty folder. Resolves when it waits for files. */
  startEmpty(): Promise<void>;
  /** Ends that machine, which can start again. */
  stopEmpty(): Promise<void>;
  /** Starts the machine with the files. Of a program that waits for no changes: resolves when it has synced them. */
  startFull(): Promise<void> | void;
  /** Makes the folders alike once, of a program that waits for no changes. */
  readonly pass?: () => Promise<void>;
  /** Ids of the processes that run, by name. */
  processes(): ByName<number>;
  /** What the processes used so far. */
  spent(): ByName<Spent>;
  stop(): Promise<void>;
}

export interface CairnPair extends Pair {
  /** How many conflicts the first machine lists, its own and those of the other one. */
  conflicts(): Promise<number>;
  /** Milliseconds of `cairn sync status` on the first machine: beside its watch, then without it. The watch is stopped. */
  statusMs(): Promise<ByName<number>>;
}

/** `cairn sync watch` on both, through a hub. */
export function cairnPair(hub: Cairn, key: string): CairnPair {
  const [full, empty] = [syncedFolder(hub, key, 'felt'), syncedFolder(hub, key, 'felt')];
  const watches: Record<string, ReturnType<typeof full.watch>> = {};
  const processes = () => ({ hub: hub.pid, ...mapped(watches, ({ pid = 0 }) => pid) });
  return {
    folders: [full.folder, empty.folder],
    async startEmpty() {
      const watch = empty.watch();
      watches['B'] = watch;
      await holds(() => watch.output().includes('watching'), watch.output);
    },
    async stopEmpty() {
      await watches['B']?.stop();
      delete watches['B'];
    },
    startFull() {
      watches['A'] = full.watch();
    },
    processes,
    spent: () => mapped(processes(), spentBy),
    async conflicts() {
      const { stdout } = await full.sync('status', '--compare', '--json');
      const { conflict, elsewhere } = JSON.parse(stdout) as Pick<SyncStatus, 'conflict' | 'elsewhere'>;
      return conflict.length + Object.keys(elsewhere).length;
    },
    async statusMs() {
      const status = async () => {
        const startMs = performance.now();
        const { code, stdout, stderr } = await full.sync('status');
        if (code !== 0) throw new Error(`status ended with ${code}: ${stdout}${stderr}`);
        return performance.now() - startMs;
      };
      const beside = await status();
      await watches['A']?.stop();
      delete watches['A'];
      return { 'beside a watch': beside, 'without one': await status() };
    },
    async stop() {
      for (const watch of Object.values(watches)) await watch.stop();
    },
  };
}

export interface SyncthingPair extends Pair {
  /** Sets for how many seconds both gather changes before they send them. */
  gather(seconds: number): Promise<void>;
}

/** Two instances, which speak to each other. */
export function syncthingPair(pace = AS_INSTALLED): SyncthingPair {
  const [full, empty] = syncthingNodes(2, pace);
  if (full === undefined || empty === undefined) throw new Error('two nodes were asked for');
  const pids: Record<string, number> = {};
  return {
    folders: [full.folder, empty.folder],
    async startEmpty() {
      pids['B'] = empty.start();
      await holds(
        () => empty.isUp(),
        () => 'Syncthing does not answer',
      );
    },
    async stopEmpty() {
      await empty.kill();
      delete pids['B'];
    },
    startFull() {
      pids['A'] = full.start();
    },
    processes: () => pids,
    spent: () => mapped(pids, spentBy),
    async gather(seconds) {
      for (const node of [full, empty]) await node.gather(seconds);
    },
    async stop() {
      for (const node of [full, empty]) await node.kill();
    },
  };
}

/** Contents by path. */
export type Files = ReadonlyMap<string, Buffer>;

/**
 * Fills one folder, starts the machine of the other and then its own. Resolves with the seconds from there until the other
 * folder has all files, and with what each process used in these seconds.
 */
export async function firstSync(
  pair: Pair,
  files: Files,
): Promise<{ readonly seconds: number; readonly spent: ByName<Spent> }> {
  const [from, to] = pair.folders;
  for (const [path, content] of files) {
    mkdirSync(dirname(join(from, path)), { recursive: true });
    writeFileSync(join(from, path), content);
  }
  await pair.startEmpty();
  await sleep(SETTLE_MS);
  const before = pair.spent();
  const startMs = performance.now();
  await pair.startFull();
  await holds(
    () => arrived(to, files) === files.size,
    () => `${arrived(to, files)} of ${files.size} files are there`,
    LOOK_AT_ALL_MS,
  );
  const seconds = (performance.now() - startMs) / 1000;
  const spent = spentSince(before, pair.spent());
  for (const [path, content] of files) {
    if (!isThere(join(to, path), content)) throw new Error(`${path} arrived with another content`);
  }
  await sleep(SETTLE_MS);
  return { seconds, spent };
}

/** A program writes a file under another name first, so that a name tells that all of it is there. */
const arrived = (folder: string, files: Files) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => files.has(path)).length;

/** A program may move a file away before it puts the next one in its place. */
function isThere(path: string, content: Buffer): boolean {
  try {
    return readFileSync(path).equals(content);
  } catch {
    return false;
  }
}

/**
 * Saves existing files one after another, after a first one that is no figure. A program that waits for no changes runs once for
 * each, and has no first one. Resolves with the
 * milliseconds until each is in the other folder, ascending.
 */
export async function saves({ folders: [from, to], pass }: Pair, files: Files, count: number): Promise<number[]> {
  const save = async (path: string, word: string) => {
    const content = Buffer.from(`${word} ${path}\n${files.get(path)?.toString() ?? ''}`);
    const startMs = performance.now();
    writeFileSync(join(from, path), content);
    await pass?.();
    await holds(
      () => isThere(join(to, path), content),
      () => `${path} did not arrive`,
    );
    return performance.now() - startMs;
  };
  const paths = [...files.keys()].slice(0, count);
  const word = `saved at ${Date.now()}`;
  // Whatever the settings of the last question left to do. Nothing runs between the passes of a program that ends.
  if (pass === undefined) await save(paths[0] ?? '', `first ${word}`);
  const times: Promise<number>[] = [];
  for (const path of paths) {
    await sleep(PAUSE_MS * (0.5 + Math.random()));
    const time = save(path, word);
    // Told of at the end, once all are under way.
    time.catch(() => undefined);
    times.push(time);
    if (pass !== undefined) await time;
  }
  return (await Promise.all(times)).toSorted((a, b) => a - b);
}

/**
 * Resolves once something holds, looking so often, or less often where a look takes long; rejects with what it was `instead`.
 */
export async function holds(
  check: () => boolean | Promise<boolean>,
  instead: () => string,
  lookMs: number = LOOK_MS,
): Promise<void> {
  const endMs = performance.now() + GIVE_UP_MS;
  for (;;) {
    const startMs = performance.now();
    if (await check()) return;
    const lookedMs = performance.now();
    if (lookedMs > endMs) throw new Error(`waited for ${GIVE_UP_MS / 1000} s: ${instead()}`);
    await sleep(Math.max(lookMs, (LOOK_SHARE - 1) * (lookedMs - startMs)));
  }
}
