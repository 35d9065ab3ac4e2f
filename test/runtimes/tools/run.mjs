/**
 * Runs suites on every supported Node.js, in a Debian 13 of their own and on this machine, and prints a table. The Debian is a
 * folder in the user's cache (debootstrap), entered with chroot in namespaces that take its mounts and processes with them.
 * Needs Linux on x64, and root for the Debian.
 *
 * usage: npm run test:runtimes -- [--on debian,machine] [--node 22,24,26] [--suite unit,smoke,service,long] [FILE…]
 *
 * Without options: unit and service on all of them. FILE: as for vitest, e.g. test/http.
 */
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bootstrap, cachedFolder, cacheFolder, DEBIAN, mustRun } from '../../support/bare-systems.mjs';
import { openToolFolder, ROOT } from '../../support/tool-folder.mjs';

/** What the tests call, and the library that Node.js 26 needs. */
const PACKAGES = 'ca-certificates,curl,git,libatomic1,openssl,procps,strace';
const SUITES = {
  unit: ['--project', 'unit'],
  service: ['--project', 'service'],
  long: ['--project', 'long'],
  /** What depends most on Node.js and the HTTP library: the front door, TLS, the store, streams, sync, signals. */
  smoke: [
    '--project',
    'service',
    'test/http',
    'test/store',
    'test/gateway',
    'test/mirror/download',
    'test/client/sync/sync',
  ],
};
const CACHE = cacheFolder('cairn-runtimes');
/** Mounts of the chroot: $1 the Debian, $2 the project, $3 its modules, $4 Node.js, $5 the folder for /tmp; then the command. */
const ENTER = `
  mount --bind "$2" "$1/cairn"
  mount --bind "$3" "$1/cairn/node_modules"
  mount --bind "$4" "$1/node"
  mount --bind "$5" "$1/tmp"
  mount -t proc proc "$1/proc"
  mount --rbind /sys "$1/sys"
  mount --rbind /dev "$1/dev"
  debian=$1
  shift 5
  exec chroot "$debian" /usr/bin/env -i HOME=/root LANG=C.UTF-8 \
    PATH=/node/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin sh -ec 'cd /cairn; exec "$@"' sh "$@"`;
/** Prints the binary of the HTTP library that is loaded. */
const WHICH = `await import('./dist/src/http/library/uws.js');
  process.stdout.write(process.report.getReport().sharedObjects.find((path) => /uws[^/]*\\.node$/.test(path)) ?? '');`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    on: { type: 'string', default: 'debian,machine' },
    node: { type: 'string', default: '20,22,24,26' },
    suite: { type: 'string', default: 'unit,service' },
  },
});
const suites = values.suite.split(',');
const unknown = suites.filter((suite) => !(suite in SUITES));
if (unknown.length > 0) throw new Error(`no suite ${unknown.join(', ')}: ${Object.keys(SUITES).join(', ')}`);

const { modules } = openToolFolder(new URL('.', import.meta.url), 'runtimes');
const nodeFolder = (major) => join(modules, `node-${major}`);

const debianFolder = () =>
  cachedFolder(CACHE, 'debian-13', `${DEBIAN} ${PACKAGES}`, (folder) => {
    bootstrap(folder, { suite: 'trixie', mirror: DEBIAN, packages: PACKAGES });
    writeFileSync(join(folder, 'etc/hosts'), '127.0.0.1 localhost\n::1 localhost\n');
    for (const mount of ['cairn', 'node']) mkdirSync(join(folder, mount));
  });

/** The modules of the project as npm installs them on a Node.js: each has its own build of the HTTP library. */
const modulesFolder = (major) =>
  cachedFolder(CACHE, `modules-${major}`, readFileSync(join(ROOT, 'package-lock.json'), 'utf8'), (folder) => {
    for (const name of ['package.json', 'package-lock.json', 'tsconfig.json', '.package']) {
      cpSync(join(ROOT, name), join(folder, name), { recursive: true });
    }
    const env = { ...process.env, PATH: `${join(nodeFolder(major), 'bin')}:${process.env.PATH}` };
    mustRun('npm', ['ci', '--no-audit', '--no-fund', '--silent'], { cwd: folder, env });
  });

/** What runs a command of a Node.js on a system: program, its first arguments, and the folder that is /tmp for it. */
function systemOf(on, major, scratch) {
  if (on === 'machine') {
    const isOwn = process.versions.node.startsWith(`${major}.`);
    const bin = isOwn ? join(process.execPath, '..') : join(nodeFolder(major), 'bin');
    return { start: ['env', `PATH=${bin}:${process.env.PATH}`], tmp: scratch };
  }
  const spaces = ['--mount', '--propagation', 'private', '--pid', '--fork', '--kill-child'];
  const mounts = [debianFolder(), ROOT, join(modulesFolder(major), 'node_modules'), nodeFolder(major), scratch];
  return { start: ['unshare', ...spaces, 'sh', '-ec', ENTER, 'sh', ...mounts], tmp: '/tmp' };
}

let running;
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    // With unshare end its processes, and with them their mounts.
    running?.kill('SIGKILL');
    process.exit(1);
  });
}

/** Runs a suite with its output passed on, and returns what its report counts. */
async function runSuite({ start: [program, ...args], tmp }, suite, scratch) {
  const vitest = ['node', 'node_modules/vitest/vitest.mjs', 'run', ...SUITES[suite], ...positionals];
  const reporters = [
    '--retry=1',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${join(tmp, 'report.json')}`,
  ];
  running = spawn(program, [...args, ...vitest, ...reporters], {
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const code = await new Promise((resolve) => {
    running.once('close', resolve);
  });
  try {
    const report = JSON.parse(readFileSync(join(scratch, 'report.json'), 'utf8'));
    const { numPassedTests: passed, numFailedTests: failed, numPendingTests: skipped } = report;
    return { passed, failed, skipped, isGreen: code === 0 && passed > 0 };
  } catch {
    return { passed: 0, failed: 0, skipped: 0, isGreen: false };
  }
}

const rows = [];

async function runOn(on, major) {
  // 20 is tested where it is what runs this.
  const isThere = existsSync(nodeFolder(major)) || (on === 'machine' && process.versions.node.startsWith(`${major}.`));
  if (!isThere) return;
  const scratch = mkdtempSync(join(tmpdir(), 'cairn-runtimes-'));
  try {
    const system = systemOf(on, major, scratch);
    const [program, ...args] = [...system.start, 'node', '--input-type=module', '--eval', WHICH];
    const { status, stdout, stderr } = spawnSync(program, args, { cwd: ROOT, encoding: 'utf8' });
    const library = /node_modules\/(.*)\.node$/.exec(stdout)?.[1];
    if (status !== 0 || library === undefined) {
      // Only in the Debian must every version load it.
      const isExpected = on === 'machine' && stderr.includes('the HTTP library has no binary that loads');
      rows.push({ on, major, library: 'does not load', suite: '-', isGreen: isExpected });
      if (!isExpected) process.stderr.write(`${stdout}${stderr}\n`);
      return;
    }
    for (const suite of suites) {
      process.stdout.write(`\n=== ${on}, Node.js ${major}, ${library}: ${suite}\n`);
      const startedMs = performance.now();
      const counts = await runSuite(system, suite, scratch);
      rows.push({ on, major, library, suite, ...counts, seconds: Math.round((performance.now() - startedMs) / 1000) });
      rmSync(join(scratch, 'report.json'), { force: true });
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

for (const on of values.on.split(',')) for (const major of values.node.split(',')) await runOn(on, major);

const COLUMNS = ['on', 'major', 'library', 'suite', 'passed', 'failed', 'skipped', 'seconds', 'isGreen'];
const HEADS = ['system', 'Node.js', 'HTTP library', 'suite', 'passed', 'failed', 'skipped', 'seconds', ''];
const cells = rows.map((row) =>
  COLUMNS.map((name) => (name === 'isGreen' ? (row[name] ? 'ok' : 'FAILED') : `${row[name] ?? '-'}`)),
);
const widths = HEADS.map((head, at) => Math.max(...[head, ...cells.map((row) => row[at])].map((text) => text.length)));
for (const row of [HEADS, ...cells]) {
  process.stdout.write(
    `${row
      .map((text, at) => text.padEnd(widths[at]))
      .join('  ')
      .trimEnd()}\n`,
  );
}
const sum = (name) => rows.reduce((total, row) => total + (row[name] ?? 0), 0);
process.stdout.write(`runtimes: ${sum('passed')} passed, ${sum('failed')} failed\n`);
process.exitCode = sum('passed') > 0 && rows.every(({ isGreen }) => isGreen) ? 0 : 1;
