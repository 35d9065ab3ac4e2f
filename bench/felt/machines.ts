/** Two machines with one folder, over Cairn or over Syncthing: the first sync of a full folder, then saves in it. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AS_INSTALLED, syncthingNodes } from '../../test/client/sync/storm/syncthing.ts';
import { syncedFolder } from '../../test/support/synced-folder.ts';
import { cpuSeconds } from '../cpu-seconds.ts';
import type { Cairn } from '../peers/cairn.ts';

/** How exact an arrival is known. */
const LOOK_MS = 5;
/** The same while many files come: a look reads every folder. */
const LOOK_AT_ALL_MS = 100;
const GIVE_UP_MS = 300_000;
/** Between saves, on average. A save does not wait for the one before. */
const PAUSE_MS = 700;
/** A program that has just begun, or has just taken many files, has more to do. */
const SETTLE_MS = 3000;

export interface Pair {
  /** The folder of the machine that has the files, and that of the other. */
  readonly folders: readonly [from: string, to: string];
  /** Starts the machine with the empty folder. Resolves when it waits for files. */
  startEmpty(): Promise<void>;
  startFull(): void;
  /** Processor time of all processes so far. */
  cpuSeconds(): number;
  stop(): Promise<void>;
}

/** `cairn sync watch` on both, through a hub. */
export function cairnPair(hub: Cairn, key: string): Pair {
  const places = [syncedFolder(hub, key, 'felt'), syncedFolder(hub, key, 'felt')] as const;
  const watches: ReturnType<(typeof places)[0]['watch']>[] = [];
  return {
    folders: [places[0].folder, places[1].folder],
    async startEmpty() {
      const watch = places[1].watch();
      watches.push(watch);
      await holds(() => watch.output().includes('watching'), watch.output);
    },
    startFull() {
      watches.push(places[0].watch());
    },
    cpuSeconds: () => cpuOf([hub.pid, ...watches.map(({ pid = 0 }) => pid)]),
    async stop() {
      for (const watch of watches) await watch.stop();
    },
  };
}

export interface SyncthingPair extends Pair {
  /** Sets for how many seconds both gather changes before they send them. */
  gather(seconds: number): Promise<void>;
}

/** Two instances, which speak to each other. */
export function syncthingPair(): SyncthingPair {
  const [full, empty] = syncthingNodes(2, AS_INSTALLED);
  if (full === undefined || empty === undefined) throw new Error('two nodes were asked for');
  const pids: number[] = [];
  return {
    folders: [full.folder, empty.folder],
    async startEmpty() {
      pids.push(empty.start());
      await holds(
        () => empty.isUp(),
        () => 'Syncthing does not answer',
      );
    },
    startFull() {
      pids.push(full.start());
    },
    cpuSeconds: () => cpuOf(pids),
    async gather(seconds) {
      for (const node of [full, empty]) await node.gather(seconds);
    },
    async stop() {
      for (const node of [full, empty]) await node.kill();
    },
  };
}

const cpuOf = (pids: readonly number[]) => pids.map(cpuSeconds).reduce((sum, one) => sum + one, 0);

/** Contents by path. */
export type Files = ReadonlyMap<string, Buffer>;

/**
 * Fills one folder, starts the machine of the other and then its own. Resolves with the seconds from there until the other
 * folder has all files, and with the processor time of all processes in these seconds.
 */
export async function firstSync(
  pair: Pair,
  files: Files,
): Promise<{ readonly seconds: number; readonly cpuSeconds: number }> {
  const [from, to] = pair.folders;
  for (const [path, content] of files) {
    mkdirSync(dirname(join(from, path)), { recursive: true });
    writeFileSync(join(from, path), content);
  }
  await pair.startEmpty();
  await sleep(SETTLE_MS);
  const before = pair.cpuSeconds();
  const startMs = performance.now();
  pair.startFull();
  await holds(
    () => arrived(to, files) === files.size,
    () => `${arrived(to, files)} of ${files.size} files are there`,
    LOOK_AT_ALL_MS,
  );
  const seconds = (performance.now() - startMs) / 1000;
  const spent = pair.cpuSeconds() - before;
  for (const [path, content] of files) {
    if (!isThere(join(to, path), content)) throw new Error(`${path} arrived with another content`);
  }
  await sleep(SETTLE_MS);
  return { seconds, cpuSeconds: spent };
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

/** Saves existing files one after another. Resolves with the milliseconds until each is in the other folder, ascending. */
export async function saves({ folders: [from, to] }: Pair, files: Files, count: number): Promise<number[]> {
  const save = async (path: string, word: string) => {
    const content = Buffer.from(`${word} ${path}\n${files.get(path)?.toString() ?? ''}`);
    const startMs = performance.now();
    writeFileSync(join(from, path), content);
    await holds(
      () => isThere(join(to, path), content),
      () => `${path} did not arrive`,
    );
    return performance.now() - startMs;
  };
  const paths = [...files.keys()].slice(0, count);
  const word = `saved at ${Date.now()}`;
  // Whatever the settings of the last question left to do.
  await save(paths[0] ?? '', `first ${word}`);
  const times: Promise<number>[] = [];
  for (const path of paths) {
    await sleep(PAUSE_MS * (0.5 + Math.random()));
    const time = save(path, word);
    // Told of at the end, once all are under way.
    time.catch(() => undefined);
    times.push(time);
  }
  return (await Promise.all(times)).toSorted((a, b) => a - b);
}

/** Resolves once something holds, looking so often; rejects with what it was `instead`. */
export async function holds(
  check: () => boolean | Promise<boolean>,
  instead: () => string,
  lookMs: number = LOOK_MS,
): Promise<void> {
  const endMs = performance.now() + GIVE_UP_MS;
  while (!(await check())) {
    if (performance.now() > endMs) throw new Error(`waited for ${GIVE_UP_MS / 1000} s: ${instead()}`);
    await sleep(lookMs);
  }
}
