/**
 * `npm run dev`: builds and starts the hub, and does both again when a file of `src/` or `workers/` is saved. A failed
 * build leaves the running hub and its files alone. Ctrl-C stops the hub gracefully and ends.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { watch } from 'chokidar';
import { copyAssets } from '../.package/assets.mjs';

/** An editor that saves several files at once causes one build. */
const QUIET_MS = 100;

const root = fileURLToPath(new URL('..', import.meta.url));
const tell = (text) => process.stdout.write(`dev: ${text}\n`);
let hub;
let build;
let isChanged = true;
let isWorking = false;
let isEnding = false;
let timer;

// An earlier branch may have left other output, so the first build is a full one.
rmSync(join(root, 'dist/dev.tsbuildinfo'), { force: true });
// What it writes is not the output of npm run build.
rmSync(join(root, 'dist/.stamp'), { force: true });
const watcher = watch([join(root, 'src'), join(root, 'workers')], { ignoreInitial: true }).on('all', () => {
  isChanged = true;
  clearTimeout(timer);
  timer = setTimeout(work, QUIET_MS);
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, end);
watcher.once('ready', work);

/** Builds until no file has changed since the build began, then restarts the hub. */
async function work() {
  if (isWorking) return;
  isWorking = true;
  while (isChanged && !isEnding) {
    isChanged = false;
    const isBuilt = await buildAll();
    if (isChanged || isEnding) continue;
    if (isBuilt) await restart();
    else
      tell(`the build failed; ${hub === undefined ? 'no hub is running' : 'the hub of the last build keeps running'}`);
  }
  isWorking = false;
}

async function buildAll() {
  build = spawn(join(root, 'node_modules/.bin/tsc'), ['-p', join(root, '.dev')], { cwd: root, stdio: 'inherit' });
  const [code] = await once(build, 'exit');
  build = undefined;
  if (code === 0) copyAssets(root);
  return code === 0;
}

async function restart() {
  if (hub !== undefined) tell('restarting the hub');
  await stop();
  if (isEnding) return;
  const started = spawn(process.execPath, ['dist/src/cli/cairn.js', 'serve'], { cwd: root, stdio: 'inherit' });
  hub = started;
  started.once('exit', (code, signal) => {
    if (hub !== started) return;
    hub = undefined;
    if (!isEnding) tell(`the hub ended with ${code ?? signal}; save a file to start it again`);
  });
}

/** Ends the hub as an operator does: it finishes what it is doing first. */
async function stop() {
  const stopped = hub;
  if (stopped === undefined) return;
  hub = undefined;
  const ended = once(stopped, 'exit');
  stopped.kill('SIGTERM');
  await ended;
}

async function end() {
  if (isEnding) return;
  isEnding = true;
  build?.kill();
  await stop();
  await watcher.close();
  process.exit(0);
}
