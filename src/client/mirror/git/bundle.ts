/** Refs, bundles and checks of a git repository. */
import { closeSync, existsSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { ClientError } from '../../client-error.ts';
import { flushPath } from '../../private-file.ts';
import { backupExit } from '../exit-codes.ts';
import { type Ref, refsChange } from '../manifest.ts';
import { git, gitText, type ProgramOptions } from './run-git.ts';

const { damaged } = backupExit;
/** Objects are streamed above this size, so that git needs little memory for large files. No program of the user runs. */
export const CAREFUL = ['-c', 'core.bigFileThreshold=16m', '-c', 'core.hooksPath=/dev/null', '-c', 'gc.auto=0'];

/** The refs of a repository that match the patterns, symbolic ones with their target. */
export async function readRefs(folder: string, patterns: readonly string[]): Promise<readonly Ref[]> {
  const format = '--format=%(objectname) %(refname) %(symref)';
  const text = await gitText(folder, ['for-each-ref', format, ...patterns], {
    refusal: `git for-each-ref failed in ${folder}.`,
  });
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line): Ref => {
      const [object = '', name = '', target = ''] = line.split(' ');
      return [name, object, target === '' ? null : target];
    });
}

/** Writes a bundle of the refs without what the tips reach. False when nothing is new. */
export async function createBundle(
  folder: string,
  file: string,
  refs: readonly string[],
  tips: readonly string[],
): Promise<boolean> {
  const input = [...refs, ...tips.map((tip) => `^${tip}`), ''].join('\n');
  const refusal = `git bundle failed in ${folder}; run \`git fsck\` there to see why.`;
  const made = await git(folder, ['bundle', 'create', '--quiet', file, '--stdin'], { input, refusal, accepts: [128] });
  if (made.code === 0) return true;
  if (made.stderr.includes('empty bundle')) return false;
  await git(folder, ['bundle', 'create', '--quiet', file, '--stdin'], { input, refusal });
  return true;
}

/**
 * Adds the objects of a bundle; git verifies each of them. `git bundle unbundle` would also walk the whole history and wait
 * for the disk for each increment of a chain. Both are done once, at the end (checkObjects).
 */
export async function addBundle(gitFolder: string, file: string): Promise<void> {
  const refusal = 'a bundle of this backup is damaged, or its base is missing.';
  const pack = openSync(file, 'r');
  try {
    if (!skipBundleHeader(pack)) throw new ClientError(refusal, damaged);
    const args = [...CAREFUL, '-c', 'core.fsync=none', 'index-pack', '--stdin', '--fix-thin'];
    await git(gitFolder, args, { inputFile: pack, refusal, exitCode: damaged });
  } finally {
    closeSync(pack);
  }
}

const HEADER_PIECE_BYTES = 64 * 1024;

/** Moves the position of an open bundle to its pack, which follows the first empty line (gitformat-bundle). False without one. */
function skipBundleHeader(descriptor: number): boolean {
  const piece = Buffer.alloc(HEADER_PIECE_BYTES);
  for (let at = 0, last = ''; ; ) {
    const size = readSync(descriptor, piece, 0, piece.length, at);
    if (size === 0) return false;
    const text = last + piece.toString('latin1', 0, size);
    const end = text.indexOf('\n\n');
    if (end >= 0) {
      let left = at - last.length + end + 2;
      while (left > 0) left -= readSync(descriptor, piece, 0, Math.min(left, piece.length), null);
      return true;
    }
    at += size;
    last = text.slice(-1);
  }
}

/** Turns the refs of a repository from `before` into `after`. */
export async function writeRefs(gitFolder: string, before: readonly Ref[], after: readonly Ref[]): Promise<void> {
  const { set, removed } = refsChange(before, after);
  const options: ProgramOptions = { refusal: 'git cannot write the refs of this backup.', exitCode: damaged };
  // Removed first: a name may be the folder of a new one.
  const removals = removed.map((name) => `option no-deref\0delete ${name}\0\0`).join('');
  if (removals !== '') await git(gitFolder, ['update-ref', '-z', '--stdin'], { ...options, input: removals });
  const updates = set
    .filter(([, , target]) => target === null)
    .map(([name, object]) => `update ${name}\0${object}\0\0`);
  if (updates.length > 0)
    await git(gitFolder, ['update-ref', '-z', '--stdin'], { ...options, input: updates.join('') });
  for (const [name, , target] of set)
    if (target !== null) await git(gitFolder, ['symbolic-ref', name, target], options);
}

/** Bit of the exit code of `git fsck` that stands for errors in objects (git: builtin/fsck.c, ERROR_OBJECT). */
const FSCK_OBJECT_ERRORS = 1;

/** Waits until the packs of a git folder are on the disk. */
function syncPacks(gitFolder: string): void {
  const packs = join(gitFolder, 'objects', 'pack');
  if (!existsSync(packs)) return;
  for (const place of [...readdirSync(packs).map((name) => join(packs, name)), packs]) flushPath(place);
}

/**
 * Waits until the packs are on the disk, and runs `git fsck --strict`. Returns the number of format errors that are part of the history itself, as old programs
 * wrote them. Throws ClientError for anything missing or damaged.
 */
export async function checkObjects(folder: string, gitFolder: string = folder): Promise<number> {
  syncPacks(gitFolder);
  const args = [...CAREFUL, 'fsck', '--strict', '--full', '--no-dangling', '--no-progress'];
  const found = await git(folder, args, { refusal: 'git fsck failed.', accepts: [...Array(64).keys()] });
  const lines = found.stderr.split('\n').filter((line) => /^(error|fatal)/.test(line));
  const flaws = lines.filter((line) => /^error in (commit|tree|tag|blob) [0-9a-f]{40}: /.test(line));
  const isSound = found.code === 0 || (found.code === FSCK_OBJECT_ERRORS && flaws.length === lines.length);
  if (isSound) return flaws.length;
  const told = lines.find((line) => !flaws.includes(line)) ?? found.stdout.toString('utf8').split('\n')[0] ?? '';
  throw new ClientError(`git fsck finds the restored repository damaged: ${told.slice(0, 300)}`, damaged);
}
