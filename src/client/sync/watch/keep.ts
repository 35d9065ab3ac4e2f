/** Keeps saves beside a watch: with its own watch of the folder and its own rules, so that it goes on while the loop of the watch is busy. */
import { type Dirent, readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { limits } from '../../../limits/service.ts';
import { isReserved, OWN_FOLDER } from '../folder/path.ts';
import { Root } from '../folder/root.ts';
import { GIT_RULES, RULES_FILE, type Rules, readRules, stampOfRules } from '../scan/choice.ts';
import { DiskWatch } from './disk.ts';
import { type System, THIS_SYSTEM } from './folder-watches.ts';
import type { FromKeeper, KeepData, KnownSave, ToKeeper } from './keeper-messages.ts';
import { StillFiles } from './still-files.ts';
import { WrittenFiles } from './written.ts';

/** Milliseconds of walking before reports get a turn. */
const TURN_MS = 20;
/** A sync tells which file it wrote right after the system did. */
const GATHER_MS = 50;
/** A rule file that cannot be read excludes nothing here: the sync drops what it need not send. */
const ALL = { has: () => true };

/** Begins to keep saves. `tell` receives what the loop should know; what the loop tells goes to `hear`. Throws when the folder is gone. */
export function keepSaves(
  { root: path, only, written }: KeepData,
  tell: (message: FromKeeper) => void,
  system: System = THIS_SYSTEM,
) {
  const root = Root.at(path);
  const choice = new Choice(root.path, only);
  const waiting = new Map<number, (known: KnownSave) => void>();
  let asked = 0;
  const ask = (file: string) =>
    new Promise<KnownSave | undefined>((resolve) => {
      asked += 1;
      const id = asked;
      const ended = (known?: KnownSave) => {
        clearTimeout(timer);
        waiting.delete(id);
        resolve(known);
      };
      const timer = setTimeout(ended, limits.clientBusyMs);
      waiting.set(id, ended);
      tell({ type: 'asked', id, path: file });
    });
  const own = new WrittenFiles(written);
  const files = new StillFiles(root, own, {
    excludes: (file) => choice.now().excludes(file),
    ask,
    onKept: (name) => tell({ type: 'kept', name }),
    onBehind: () => tell({ type: 'behind' }),
    onLost: (paths) => tell({ type: 'lost', paths: [...paths] }),
  });
  const disk: DiskWatch = new DiskWatch(
    root.path,
    {
      // The loop finds what is to be synced by a watch of its own. It may be busy when rules let folders in again.
      changes: { ring: () => mayLetIn(disk.takeNoticed()) && walks.ask() },
      keeper: { changed: (absolute) => files.changed(relative(root.path, absolute).split(sep).join('/')) },
      excludes: (file) => choice.last.excludes(file),
      seenOf: () => undefined,
      isOwn: (stats) => own.has(stats),
      gather: { ms: GATHER_MS, isThere: () => root.isThere },
      knowsFolder: () => false,
      onBlind: (blind) => tell({ type: 'blind', blind }),
    },
    system,
  );
  const walks = new Walks(async () => {
    await watchFolders(root, disk, choice.now());
    tell({ type: 'ready' });
  });
  walks.ask();
  return {
    hear(message: ToKeeper): void {
      if (message.type === 'changed') files[message.isLate === true ? 'changedBefore' : 'changed'](message.path);
      else if (message.type === 'known') waiting.get(message.id)?.(message.known);
      else if (message.type === 'scanned') {
        choice.only = message.only;
        walks.ask();
      } else {
        walks.close();
        files.close();
        disk.close();
      }
    },
  };
}

/** True when folders may take part that did not. */
function mayLetIn(noticed: ReadonlySet<string> | 'all'): boolean {
  return noticed === 'all' || noticed.has(RULES_FILE) || noticed.has(GIT_RULES);
}

/** Walks one after another. A walk that has not begun serves all who asked for one: reports come by the thousand. */
class Walks {
  readonly #walk: () => Promise<void>;
  #last: Promise<void> = Promise.resolve();
  #isAsked = false;
  #isClosed = false;
  #again: NodeJS.Timeout | undefined;

  constructor(walk: () => Promise<void>) {
    this.#walk = walk;
  }

  ask(): void {
    if (this.#isAsked || this.#isClosed) return;
    this.#isAsked = true;
    this.#last = this.#last.then(() => this.#begin());
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#again);
  }

  async #begin(): Promise<void> {
    this.#isAsked = false;
    if (this.#isClosed) return;
    try {
      await this.#walk();
    } catch {
      if (this.#isClosed) return;
      // The folder was away meanwhile.
      clearTimeout(this.#again);
      this.#again = setTimeout(() => this.ask(), limits.clientRetryMs);
    }
  }
}

/** The rules of the folder, read again once they changed. */
class Choice {
  only: readonly string[];
  readonly #folder: Parameters<typeof readRules>[0];
  #last: Rules;

  constructor(root: string, only: readonly string[]) {
    this.only = only;
    this.#folder = { at: (path) => join(root, path), own: (name) => join(root, OWN_FOLDER, name) };
    this.#last = readRules(this.#folder, only, ALL);
  }

  get last(): Rules {
    return this.#last;
  }

  now(): Rules {
    const { stamp } = this.#last;
    if (stamp === undefined || stamp !== stampOfRules(this.#folder, this.only))
      this.#last = readRules(this.#folder, this.only, ALL);
    return this.#last;
  }
}

/** Watches every folder that takes part. Throws RootGone. */
async function watchFolders(root: Root, disk: DiskWatch, rules: Rules): Promise<void> {
  const folders = [''];
  let turnEndMs = performance.now() + TURN_MS;
  for (let below = folders.pop(); below !== undefined; below = folders.pop()) {
    disk.visit(below);
    for (const entry of foldersIn(join(root.path, below))) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      if (!isReserved(entry.name) && !rules.excludes(`${path}/`)) folders.push(path);
    }
    if (performance.now() < turnEndMs) continue;
    await setImmediate();
    turnEndMs = performance.now() + TURN_MS;
  }
  // Where it is away, none of its folders was found.
  root.check();
  disk.endScan();
}

function foldersIn(absolute: string): Dirent[] {
  try {
    return readdirSync(absolute, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  } catch {
    // Gone or unreadable: the sync reports the second.
    return [];
  }
}
