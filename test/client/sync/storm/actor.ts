/** One user in a storm: changes files of one folder at random, as people, editors and programs do. */
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Ledger } from './ledger.ts';

const NAMES = ['a', 'b', 'c', 'readme', 'Notiz', 'é', 'constructor', '__proto__', 'x y'];
const FOLDERS = ['', '', 'docs', 'docs/deep', 'src', 'Grüße', 'tmp'];
const MiB = 2 ** 20;

export interface ActorOptions {
  readonly folder: string;
  /** A folder that is not synced, for links to point at. */
  readonly outside: string;
  readonly random: () => number;
  readonly ledger: Ledger;
  /** Whether the watch of this folder runs and its hub is there. */
  readonly isServed: () => boolean;
}

/** What an action does; false: there was nothing to do it with. */
type Action = (actor: Actor) => boolean;

export class Actor {
  readonly #options: ActorOptions;
  #written = 0;

  constructor(options: ActorOptions) {
    this.#options = options;
  }

  /** Takes one action. What another program does to the same files at the same time may make it fail, as it may any. */
  act(): string {
    const [name, action] = this.pick(ACTIONS);
    try {
      return action(this) ? name : 'nothing';
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === undefined) throw error;
      return `failed ${code}`;
    }
  }

  chance(part: number): boolean {
    return this.#options.random() < part;
  }

  pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.#options.random() * items.length)] as T;
  }

  at(path: string): string {
    return join(this.#options.folder, path);
  }

  /** A name that may be free. */
  somePath(): string {
    const name = `${this.pick(NAMES)}${Math.floor(this.#options.random() * 6)}.${this.pick(['md', 'txt', 'bin'])}`;
    return join(this.pick(FOLDERS), name);
  }

  /** Files and folders that are there, as paths in the folder; never through a link. */
  #entries(kind: 'isFile' | 'isDirectory', below = ''): string[] {
    return readdirSync(join(this.#options.folder, below), { withFileTypes: true }).flatMap((entry) => {
      const path = join(below, entry.name);
      if (path === '.cairn' || path === '.cairnignore') return [];
      const inside = entry.isDirectory() ? this.#entries(kind, path) : [];
      return entry[kind]() ? [path, ...inside] : inside;
    });
  }

  /** A file that is there. */
  someFile(): string | undefined {
    return this.pick(this.#entries('isFile'));
  }

  someFolder(): string | undefined {
    return this.pick(this.#entries('isDirectory'));
  }

  /** Bytes that nothing else in the storm has: mostly a line or two, now and then very many, now and then binary. */
  bytes(): Buffer {
    this.#written += 1;
    const mark = `${this.#options.folder.slice(-6)} ${this.#written}\n`;
    if (this.chance(0.002)) return Buffer.alloc(9 * MiB, mark);
    if (this.chance(0.02)) return Buffer.alloc(200_000, mark);
    if (this.chance(0.1)) return Buffer.from([0, 255, 254, ...Buffer.from(mark), 0]);
    return Buffer.from(
      `first line\n${mark}${'more of the same\n'.repeat(Math.floor(this.#options.random() * 20))}last line\n`,
    );
  }

  /** Writes a file in place; `bytes` undefined: new ones. */
  write(path: string, bytes: Buffer = this.bytes()): boolean {
    this.leave(path);
    mkdirSync(dirname(this.at(path)), { recursive: true });
    writeFileSync(this.at(path), bytes);
    this.note(path, bytes);
    return true;
  }

  /** What stood at a path, or below it, is about to go by the hand of its user. */
  leave(path: string): void {
    const { ledger, folder, isServed } = this.#options;
    ledger.left(folder, path, isServed());
  }

  /** A file has these bytes now. */
  note(path: string, bytes: Buffer): void {
    const { ledger, folder } = this.#options;
    ledger.wrote(folder, path, bytes);
  }

  /** Moves what is at a path, files below it too. Its bytes stay with the user. */
  move(from: string, to: string): boolean {
    if (to === from || to.startsWith(`${from}/`) || existsSync(this.at(to))) return false;
    mkdirSync(dirname(this.at(to)), { recursive: true });
    renameSync(this.at(from), this.at(to));
    const { ledger, folder } = this.#options;
    ledger.moved(folder, from, to);
    return true;
  }

  remove(path: string): boolean {
    this.leave(path);
    rmSync(this.at(path), { recursive: true });
    return true;
  }

  link(path: string): boolean {
    if (existsSync(this.at(path))) return false;
    mkdirSync(dirname(this.at(path)), { recursive: true });
    symlinkSync(this.#options.outside, this.at(path));
    return true;
  }

  ignore(lines: string): boolean {
    writeFileSync(this.at('.cairnignore'), lines);
    return true;
  }
}

/** Changes something at the file that `with_` is given; false without one. */
const withFile =
  (change: (actor: Actor, path: string) => boolean): Action =>
  (actor) => {
    const path = actor.someFile();
    return path !== undefined && change(actor, path);
  };

const create: Action = (actor) => actor.write(actor.somePath());
const overwrite = withFile((actor, path) => actor.write(path));
const append = withFile((actor, path) => {
  const before = readFileSync(actor.at(path));
  const more = actor.bytes().subarray(0, 500);
  actor.leave(path);
  appendFileSync(actor.at(path), more);
  actor.note(path, Buffer.concat([before, more]));
  return true;
});

/** A line in the middle, as an editor changes it: the other side may merge. */
const edit = withFile((actor, path) => {
  const lines = readFileSync(actor.at(path), 'utf8').split('\n');
  if (lines.length < 3 || lines.some((line) => line.includes('\u{fffd}'))) return false;
  lines[1] = `changed ${actor.bytes().subarray(0, 40).toString('hex')}`;
  return actor.write(path, Buffer.from(lines.join('\n')));
});

const saveByRename = withFile((actor, path) => {
  const bytes = actor.bytes();
  const temporary = `${path}.tmp~`;
  writeFileSync(actor.at(temporary), bytes);
  actor.leave(path);
  renameSync(actor.at(temporary), actor.at(path));
  actor.note(path, bytes);
  return true;
});

const swap = withFile((actor, path) => {
  const other = actor.someFile();
  if (other === undefined || other === path) return false;
  return actor.move(path, `${path}.swap`) && actor.move(other, path) && actor.move(`${path}.swap`, other);
});

const recase = withFile((actor, path) => {
  const turned = path === path.toUpperCase() ? path.toLowerCase() : path.toUpperCase();
  return actor.move(path, join(dirname(path), turned.slice(turned.lastIndexOf('/') + 1)));
});

const reform = withFile((actor, path) => {
  const turned = path.normalize(path === path.normalize('NFC') ? 'NFD' : 'NFC');
  return actor.move(path, join(dirname(path), turned.slice(turned.lastIndexOf('/') + 1)));
});

const fileToFolder = withFile((actor, path) => actor.remove(path) && actor.write(join(path, 'inside.md')));

const folderToFile: Action = (actor) => {
  const path = actor.someFolder();
  return path !== undefined && actor.remove(path) && actor.write(path);
};

const renameFolder: Action = (actor) => {
  const path = actor.someFolder();
  return path !== undefined && actor.move(path, `${path.slice(0, 40)}-${actor.pick(NAMES)}`);
};

const protect = withFile((actor, path) => {
  chmodSync(actor.at(path), actor.pick([0o444, 0o644, 0o755]));
  return true;
});

/** By how often each is taken. */
const ACTIONS: readonly (readonly [string, Action])[] = [
  ...repeated(10, 'create', create),
  ...repeated(5, 'overwrite', overwrite),
  ...repeated(4, 'append', append),
  ...repeated(6, 'edit', edit),
  ...repeated(3, 'save by rename', saveByRename),
  ...repeated(
    3,
    'delete',
    withFile((actor, path) => actor.remove(path)),
  ),
  ...repeated(
    3,
    'rename',
    withFile((actor, path) => actor.move(path, actor.somePath())),
  ),
  ...repeated(1, 'rename folder', renameFolder),
  ...repeated(1, 'swap', swap),
  ...repeated(1, 'case', recase),
  ...repeated(1, 'Unicode form', reform),
  ...repeated(1, 'file to folder', fileToFolder),
  ...repeated(1, 'folder to file', folderToFile),
  ...repeated(1, 'mode', protect),
  ...repeated(1, 'empty', (actor) => actor.write(actor.somePath(), Buffer.alloc(0))),
  ...repeated(1, 'link', (actor) => actor.link(actor.somePath())),
  ...repeated(1, 'ignore', (actor) => actor.ignore(actor.pick(['', 'tmp/\n', '*.bin\n']))),
];

function repeated(times: number, name: string, action: Action): (readonly [string, Action])[] {
  return Array.from({ length: times }, () => [name, action] as const);
}
