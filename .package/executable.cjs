/**
 * The beginning of the single executable: unpacks the program that it carries into the user's cache, once for each build, and
 * runs it from there. Native libraries, threads, pages and the manual are files, so they cannot be run from inside of it.
 */
'use strict';
const { execFileSync } = require('node:child_process');
const { existsSync, mkdirSync, realpathSync, renameSync, rmSync, writeFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { homedir } = require('node:os');
const { dirname, join } = require('node:path');
const { getAsset, getRawAsset } = require('node:sea');
const { brotliDecompressSync } = require('node:zlib');

const { CACHE_DIRECTORY, XDG_CACHE_HOME } = process.env;
/** systemd names the first for a service. */
const cache = CACHE_DIRECTORY || join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'cairn');

/** Writes the files beside their place, and gives the whole folder its name when all of them are on the disk. */
function unpack(folder) {
  const fresh = `${folder}.${process.pid}`;
  const bytes = brotliDecompressSync(Buffer.from(getRawAsset('files')));
  let at = 0;
  try {
    for (const [path, size] of JSON.parse(getAsset('index', 'utf8'))) {
      const file = join(fresh, path);
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      writeFileSync(file, bytes.subarray(at, at + size));
      at += size;
    }
    execFileSync('sync', ['--file-system', fresh], { stdio: 'ignore' });
    renameSync(fresh, folder);
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true });
    // Another process may have been first.
    if (!existsSync(folder)) throw error;
  }
}

function start() {
  const folder = join(cache, `program-${getAsset('id', 'utf8')}`);
  if (!existsSync(folder)) unpack(folder);
  const entry = join(realpathSync(folder), 'dist/src/cli/cairn.js');
  // The program starts itself again with its own path.
  process.argv = [process.execPath, entry, ...process.argv.slice(process.argv[2] === entry ? 3 : 2)];
  const begin = join(folder, 'begin.cjs');
  createRequire(begin)(begin);
}

try {
  start();
} catch (error) {
  process.stderr.write(
    `cairn: the program cannot be unpacked into ${cache} (${error.message}); set XDG_CACHE_HOME to a folder of yours from which programs may run\n`,
  );
  process.exitCode = 1;
}
