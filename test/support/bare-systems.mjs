/** Bare systems in the user's cache, for tools that need root: each is a folder that debootstrap fills once. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export const DEBIAN = 'http://deb.debian.org/debian';

export const cacheFolder = (name) => join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), name);

/** Runs a command and passes its output on. Throws when it fails. */
export function mustRun(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit', ...options });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed${error ? `: ${error.message}` : ''}`);
}

/** Some downloads of many break off: tries again, three times in all, from an empty folder. */
function mustDownload(folder, command, args) {
  for (let tries = 1; ; tries += 1) {
    try {
      mustRun(command, args);
      return;
    } catch (error) {
      if (tries === 3) throw error;
      process.stderr.write(`${error.message}; trying again\n`);
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder, { recursive: true });
    }
  }
}

/** A folder of a cache, made again when what it was made from has changed. */
export function cachedFolder(cache, name, source, make) {
  const folder = join(cache, name);
  const marker = join(cache, `${name}.made-from`);
  if (existsSync(folder) && existsSync(marker) && readFileSync(marker, 'utf8') === source) return folder;
  const fresh = `${folder}.new`;
  for (const old of [folder, fresh, marker]) rmSync(old, { recursive: true, force: true });
  mkdirSync(fresh, { recursive: true });
  make(fresh);
  renameSync(fresh, folder);
  writeFileSync(marker, source);
  return folder;
}

/** Fills a folder with a bare system. `script`: of debootstrap, where the release has none of its own. */
export function bootstrap(folder, { suite, mirror, packages, options = [], script = [] }) {
  const all = ['--variant=minbase', `--include=${packages}`, ...options, suite, folder, mirror, ...script];
  mustDownload(folder, 'debootstrap', all);
}
