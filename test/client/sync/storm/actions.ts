/** What users of a storm do, and how often each. */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Actor } from './actor.ts';

/** Changes something; returns what, in words, or undefined where there was nothing to do it with. */
type Action = (actor: Actor) => string | undefined;

/** Takes one action. What another program does to the same files at the same time may make it fail, as it may any. */
export function act(actor: Actor): { readonly name: string; readonly detail: string | undefined } {
  const [name, action] = actor.pick(ACTIONS);
  try {
    const detail = action(actor);
    return detail === undefined ? { name: 'nothing', detail } : { name, detail };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return { name: `failed ${code}`, detail: `${name}: ${message}` };
  }
}

/** Changes something at a file that is there. */
const withFile =
  (change: (actor: Actor, path: string) => boolean | string): Action =>
  (actor) => {
    const path = actor.someFile();
    return path === undefined ? undefined : told(change(actor, path), path);
  };

const withFolder =
  (change: (actor: Actor, path: string) => boolean | string): Action =>
  (actor) => {
    const path = actor.someFolder();
    return path === undefined ? undefined : told(change(actor, path), path);
  };

const somewhere =
  (change: (actor: Actor, path: string) => boolean): Action =>
  (actor) => {
    const path = actor.somePath();
    return told(change(actor, path), path);
  };

function told(done: boolean | string, path: string): string | undefined {
  if (done === false) return undefined;
  return done === true ? path : `${path} -> ${done}`;
}

const moveTo = (actor: Actor, from: string, to: string): string | boolean => actor.move(from, to) && to;

const append = withFile((actor, path) => actor.append(path, actor.bytes().subarray(0, 500)));

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

/** As vim does: the old file aside, the new one in its place, the old one removed. */
const saveByBackup = withFile((actor, path) => {
  if (!actor.move(path, `${path}~`) || !actor.write(path)) return false;
  actor.leave(`${path}~`);
  rmSync(actor.at(`${path}~`), { force: true });
  return true;
});

const swap = withFile((actor, path) => {
  const other = actor.someFile();
  if (other === undefined || other === path) return false;
  return actor.move(path, `${path}.swap`) && actor.move(other, path) && moveTo(actor, `${path}.swap`, other);
});

const recase = withFile((actor, path) => {
  const turned = path === path.toUpperCase() ? path.toLowerCase() : path.toUpperCase();
  return moveTo(actor, path, join(dirname(path), turned.slice(turned.lastIndexOf('/') + 1)));
});

const reform = withFile((actor, path) => {
  const turned = path.normalize(path === path.normalize('NFC') ? 'NFD' : 'NFC');
  return moveTo(actor, path, join(dirname(path), turned.slice(turned.lastIndexOf('/') + 1)));
});

const renameFolder = withFolder((actor, path) => moveTo(actor, path, `${path.slice(0, 40)}-${actor.pick(['a', 'é'])}`));

/** By how often each is taken. */
const ACTIONS: readonly (readonly [string, Action])[] = [
  ...repeated(
    10,
    'create',
    somewhere((actor, path) => actor.write(path)),
  ),
  ...repeated(
    5,
    'overwrite',
    withFile((actor, path) => actor.write(path)),
  ),
  ...repeated(4, 'append', append),
  ...repeated(6, 'edit', edit),
  ...repeated(2, 'save by rename', saveByRename),
  ...repeated(1, 'save by backup', saveByBackup),
  ...repeated(
    3,
    'delete',
    withFile((actor, path) => actor.remove(path)),
  ),
  ...repeated(
    3,
    'rename',
    withFile((actor, path) => moveTo(actor, path, actor.somePath())),
  ),
  ...repeated(1, 'rename folder', renameFolder),
  ...repeated(1, 'swap', swap),
  ...repeated(1, 'case', recase),
  ...repeated(1, 'Unicode form', reform),
  ...repeated(
    1,
    'file to folder',
    withFile((actor, path) => actor.remove(path) && actor.write(join(path, 'inside.md'))),
  ),
  ...repeated(
    1,
    'folder to file',
    withFolder((actor, path) => actor.remove(path) && actor.write(path)),
  ),
  ...repeated(
    1,
    'mode',
    withFile((actor, path) => actor.permit(path, actor.pick([0o444, 0o644, 0o755, 0o600, 0]))),
  ),
  ...repeated(
    1,
    'folder mode',
    withFolder((actor, path) => actor.permit(path, actor.pick([0o555, 0o755, 0o755]))),
  ),
  ...repeated(
    1,
    'empty',
    somewhere((actor, path) => actor.write(path, Buffer.alloc(0))),
  ),
  ...repeated(
    1,
    'link',
    somewhere((actor, path) => actor.link(path)),
  ),
  ...repeated(
    1,
    'file to link',
    withFile((actor, path) => actor.remove(path) && actor.link(path)),
  ),
  ...repeated(
    2,
    'late write',
    withFile((actor, path) => actor.hold(path)),
  ),
  ...repeated(1, 'ignore', (actor) => told(actor.ignore(actor.pick(['', 'tmp/\n', '*.bin\n'])), '.cairnignore')),
];

function repeated(times: number, name: string, action: Action): (readonly [string, Action])[] {
  return Array.from({ length: times }, () => [name, action] as const);
}
