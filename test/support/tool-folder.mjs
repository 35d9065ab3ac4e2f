/** Tools that are installed for themselves, away from the packages of the project: pinned by the lock file of their folder. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** What keeps tools from speaking to their makers. */
const QUIET = {
  NO_COLOR: '1',
  NO_UPDATE_NOTIFIER: '1',
  DO_NOT_TRACK: '1',
  REDOCLY_TELEMETRY: 'off',
  REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
};

/**
 * Installs in `dist/<name>` what the lock file in `here` (a URL) pins, unless it is there, and copies `files` next to it.
 * Throws when npm fails.
 */
export function openToolFolder(here, name, files = []) {
  const from = fileURLToPath(here);
  const work = join(ROOT, 'dist', name);
  mkdirSync(work, { recursive: true });
  for (const file of ['package.json', 'package-lock.json', ...files]) copyFileSync(join(from, file), join(work, file));
  const run = (command, args) => {
    const made = spawnSync(command, args, { cwd: work, encoding: 'utf8', env: { ...process.env, ...QUIET } });
    return { code: made.status, text: `${made.stdout}${made.stderr}${made.error ?? ''}` };
  };
  const marker = join(work, 'node_modules', '.installed');
  const lock = readFileSync(join(from, 'package-lock.json'), 'utf8');
  if (!existsSync(marker) || readFileSync(marker, 'utf8') !== lock) {
    const { code, text } = run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund']);
    if (code !== 0) throw new Error(`npm ci failed in ${work}\n${text}`);
    writeFileSync(marker, lock);
  }
  return { work, run, modules: join(work, 'node_modules'), env: QUIET };
}

/** This Node.js if it has the major version, else the one of the folder (`node-<platform>-<arch>`). */
export function nodeOf(modules, majorMin) {
  if (Number(process.versions.node.split('.')[0]) >= majorMin) return process.execPath;
  return join(modules, `node-${process.platform}-${process.arch}`, 'bin', 'node');
}
