/**
 * `npm run build`: compiles everything into dist/, unless nothing has changed since the last build that succeeded. What
 * counts is the content of the sources, the compiler's settings, the lock file and the version of Node.js.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const SOURCES = ['src', 'workers', 'test', 'bench'];
const FILES = ['package-lock.json', 'tsconfig.json', '.package/build.mjs'];
const stampFile = join(root, 'dist/.stamp');
const command = join(root, 'dist/src/cli/cairn.js');

/** The hash of all inputs, by path. */
function stampOf() {
  const found = SOURCES.filter((folder) => existsSync(join(root, folder))).flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.endsWith('.md'))
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  const hash = createHash('sha256').update(process.version);
  for (const file of [...FILES.map((name) => join(root, name)), ...found.toSorted()]) {
    hash.update(`\0${file}\0`).update(readFileSync(file));
  }
  return hash.digest('hex');
}

const stamp = stampOf();
const isCurrent = existsSync(command) && existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp;
if (!isCurrent) {
  rmSync(stampFile, { force: true });
  const tsc = join(root, 'node_modules/.bin/tsc');
  const { status } = spawnSync(tsc, ['-p', root], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
  cpSync(join(root, 'src/web/assets'), join(root, 'dist/src/web/assets'), { recursive: true });
  chmodSync(command, 0o755);
  writeFileSync(stampFile, stamp);
}
