/**
 * `npm run build`: compiles everything into dist/, unless nothing has changed since the last build that succeeded. What
 * counts is the content of the sources, the compiler's settings, the lock file, the version of Node.js, and that every file
 * in dist/ is still there with the size it was built with.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { copyAssets } from './assets.mjs';
import { packCommand } from './pack-command.mjs';
import { writeSingleFile } from './single-file.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const SOURCES = ['src', 'workers', 'test', 'bench'];
const FILES = [
  'package-lock.json',
  'tsconfig.json',
  '.package/build.mjs',
  '.package/assets.mjs',
  '.package/pack-command.mjs',
  '.package/single-file.mjs',
];
const dist = join(root, 'dist');
const stampFile = join(dist, '.stamp');
const command = join(dist, 'src/cli/cairn.js');

/** Every file in the folders of sources below a folder, sorted: of this one, or what they became in dist/. */
function filesIn(base) {
  return SOURCES.map((folder) => join(base, folder))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
}

/** The hash of all inputs, by path. */
function hashOfInputs() {
  const found = filesIn(root).filter((file) => !file.endsWith('.md'));
  const hash = createHash('sha256').update(process.version);
  for (const file of [...FILES.map((name) => join(root, name)), ...found]) {
    hash.update(`\0${file}\0`).update(readFileSync(file));
  }
  return hash.digest('hex');
}

/** The hash of what was built: paths and sizes, which are read in milliseconds. */
function hashOfOutputs() {
  const hash = createHash('sha256');
  for (const file of filesIn(dist)) hash.update(`${file}\0${statSync(file).size}\0`);
  return hash.digest('hex');
}

/** The list of commands as text, so that `cairn --help` loads none of them. */
function writeOverview() {
  const file = join(dist, 'src/cli/overview.txt');
  const module = join(dist, 'src/cli/overview.js');
  rmSync(file, { force: true });
  if (!existsSync(module)) return;
  const { status, stdout } = spawnSync(process.execPath, [module], { cwd: root, encoding: 'utf8' });
  if (status !== 0) process.exit(status ?? 1);
  writeFileSync(file, stdout);
}

const inputs = hashOfInputs();
const isCurrent = existsSync(stampFile) && readFileSync(stampFile, 'utf8') === `${inputs} ${hashOfOutputs()}`;
/** The commit of this checkout, for `--version`: asked for each time, because a commit changes no source. */
function writeCommit() {
  const { status, stdout } = spawnSync('git', ['rev-parse', '--short=12', 'HEAD'], { cwd: root, encoding: 'utf8' });
  // A folder without git, or in a checkout of something else, is of no commit.
  const isOwn = status === 0 && existsSync(join(root, '.git'));
  if (existsSync(dist)) writeFileSync(join(dist, 'commit.txt'), isOwn ? stdout : '');
}

if (!isCurrent) {
  if (process.stderr.isTTY) process.stderr.write('Building Cairn. The next start takes seconds.\n');
  rmSync(stampFile, { force: true });
  const tsc = join(root, 'node_modules/.bin/tsc');
  const { status } = spawnSync(tsc, ['-p', root], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
  copyAssets(root);
  writeOverview();
  await writeSingleFile(root);
  await packCommand(root);
  chmodSync(command, 0o755);
  writeFileSync(stampFile, `${inputs} ${hashOfOutputs()}`);
}
writeCommit();
