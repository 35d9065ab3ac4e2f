/** A machine with one synced folder: writes files, runs `cairn sync` over them, and shows what is there. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { CAIRN, cleanEnvironment, type Hub, runCairn } from './hub.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** On a busy machine a watch starts in many seconds. */
const UNTIL_MS_MAX = 60_000;

export type SyncedFolder = ReturnType<typeof syncedFolder>;

interface WatchHow {
  readonly wrapper?: readonly string[];
  /** More options of the watch. */
  readonly options?: readonly string[];
  readonly heard?: (text: string) => void;
}

/**
 * Two machines with one new vault: the first has these files and has pushed them, the second has pulled them unless
 * `isShared` is false. `through`: where the second finds the hub.
 */
export async function syncedPair(
  hub: Pick<Hub, 'url'>,
  key: string,
  files: Readonly<Record<string, string | Buffer>>,
  { isShared = true, through = hub }: { readonly isShared?: boolean; readonly through?: Pick<Hub, 'url'> } = {},
): Promise<[SyncedFolder, SyncedFolder]> {
  const vault = `vault ${randomBytes(4).toString('hex')}`;
  const [a, b] = [syncedFolder(hub, key, vault), syncedFolder(through, key, vault)];
  for (const [path, content] of Object.entries(files)) a.write(path, content);
  expect(await a.sync()).toMatchObject({ code: 0 });
  if (isShared) expect(await b.sync()).toMatchObject({ code: 0 });
  return [a, b];
}

export function syncedFolder({ url }: Pick<Hub, 'url'>, key: string, vault: string, folder = temporaryFolder()) {
  const env = { CAIRN_SERVER: url, CAIRN_KEY: key, XDG_CONFIG_HOME: temporaryFolder() };
  const at = (path: string) => join(folder, path);
  return {
    folder,
    at,
    sync: (...args: string[]) =>
      runCairn(['sync', ...args, '--folder', folder, ...(isOffline(args) ? [] : ['--vault', vault])], env),
    /** The same under another command, such as one that changes the user. */
    syncUnder: (wrapper: readonly string[], ...args: string[]) =>
      runCairn(['sync', ...args, '--folder', folder, '--vault', vault], env, '', wrapper),
    /** Calls a tool as this machine's user. */
    call: (tool: string, ...args: string[]) => runCairn(['call', tool, ...args], env),
    write(path: string, content: string | Buffer) {
      mkdirSync(dirname(at(path)), { recursive: true });
      writeFileSync(at(path), content);
    },
    read: (path: string) => readFileSync(at(path), 'utf8'),
    has: (path: string) => existsSync(at(path)),
    remove: (path: string) => rmSync(at(path)),
    rename(from: string, to: string) {
      mkdirSync(dirname(at(to)), { recursive: true });
      renameSync(at(from), at(to));
    },
    /** Starts a watch, with more in its environment, under another command; `heard` is told what it says. */
    watch(more: Record<string, string> = {}, { wrapper = [], options = [], heard }: WatchHow = {}) {
      const watching = [CAIRN, 'sync', 'watch', '--folder', folder, '--vault', vault, ...options];
      const [command = process.execPath, ...args] = [...wrapper, process.execPath, ...watching];
      const own = cleanEnvironment({ ...env, ...more });
      const child = spawn(command, args, { env: own, stdio: ['ignore', 'pipe', 'pipe'] });
      let output = '';
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (text: string) => {
          output += text;
          heard?.(text);
        });
      }
      const ended = new Promise<number | null>((resolve) => {
        child.once('exit', (code) => resolve(code));
      });
      const end = (signal: 'SIGTERM' | 'SIGKILL') => {
        child.kill(signal);
        return ended;
      };
      const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
      const { pid } = child;
      return { pid, hasEnded, stop: () => end('SIGTERM'), kill: () => end('SIGKILL'), ended, output: () => output };
    },
  };
}

/** Every file of a folder that is synced, by path; base64. */
export function contentsOf(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((path) => !path.startsWith('.cairn/'));
  return Object.fromEntries(files.sort().map((path) => [path, readFileSync(join(folder, path)).toString('base64')]));
}

/** The same as text. */
export function textsOf({ folder }: Pick<SyncedFolder, 'folder'>): Record<string, string> {
  const all = Object.entries(contentsOf(folder));
  return Object.fromEntries(all.map(([path, content]) => [path, Buffer.from(content, 'base64').toString()]));
}

/** Resolves once something holds; rejects with what it was instead. */
export async function until(holds: () => boolean | Promise<boolean>, what: () => string = () => ''): Promise<void> {
  const giveUpMs = Date.now() + UNTIL_MS_MAX;
  while (!(await holds())) {
    if (Date.now() > giveUpMs) throw new Error(`it never came to hold: ${holds.toString()} ${what()}`);
    await sleep(50);
  }
}

/** Commands that name no vault. */
const isOffline = ([command]: readonly string[]) => command === 'pause' || command === 'resume';
