/**
 * What does a watched folder cost? Processor time, bytes read, and bytes written to the disk for a save here, for one elsewhere, and at rest, in a
 * folder that a sync filled; memory and inotify watches. The yardstick reads and hashes every file once.
 *
 * usage: node dist/bench/sync-watch.js [--files N] [--rounds N] [--other BUILD/cairn.js]
 */
import { execFile, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { CAIRN, cleanEnvironment, startHub } from '../test/support/hub.ts';
import { account } from '../test/support/mirror.ts';
import { until } from '../test/support/synced-folder.ts';
import { temporaryFolder } from '../test/support/temporary-folder.ts';
import { cpuSeconds } from './cpu-seconds.ts';
import { ioOf } from './io-bytes.ts';
import { memoryOf } from './memory.ts';
import { MiB, note, type Row, shown, table } from './report.ts';

const { values } = parseArgs({
  options: {
    files: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '10' },
    other: { type: 'string' },
  },
});
const [files, rounds] = [Number(values.files), Number(values.rounds)];
const FILE_BYTES = 4096;
const FOLDERS = 100;
/** Longer than any work that a change causes. */
const SETTLED_MS = 2500;
const REST_SECONDS = 20;

const run = promisify(execFile);
const pathOf = (at: number) => `d${at % FOLDERS}/f${at}.txt`;

interface Cost {
  readonly cpuMs: number;
  readonly readBytes: number;
  readonly writtenBytes: number;
}

/** What a process has used so far. */
const spent = (pid: number): Cost => ({ cpuMs: 1000 * cpuSeconds(pid), ...ioOf(pid) });

async function costOf(pid: number, work: () => Promise<unknown>): Promise<Cost> {
  const before = spent(pid);
  await work();
  const after = spent(pid);
  return {
    cpuMs: after.cpuMs - before.cpuMs,
    readBytes: after.readBytes - before.readBytes,
    writtenBytes: after.writtenBytes - before.writtenBytes,
  };
}

const inotifyWatches = (pid: number) =>
  readdirSync(`/proc/${pid}/fdinfo`)
    .map((name) => readFileSync(`/proc/${pid}/fdinfo/${name}`, 'utf8').match(/^inotify wd/gm)?.length ?? 0)
    .reduce((sum, one) => sum + one, 0);

const hub = await startHub({ env: { CAIRN_RATE_LIMIT: '0' } });
const { mcp_key: key } = await account(hub);
const environment = () =>
  cleanEnvironment({ CAIRN_SERVER: hub.url, CAIRN_KEY: key, XDG_CONFIG_HOME: temporaryFolder() });

function put(folder: string, at: number): void {
  mkdirSync(dirname(join(folder, pathOf(at))), { recursive: true });
  writeFileSync(join(folder, pathOf(at)), randomBytes(FILE_BYTES));
}

async function measure(cairn: string, vault: string): Promise<Row[]> {
  const [folder, peer] = [temporaryFolder(), temporaryFolder()];
  const sync = (at: string, by: string) =>
    run(process.execPath, [by, 'sync', '--folder', at, '--vault', vault], { env: environment() });
  for (let at = 0; at < files; at += 1) put(peer, at);
  await sync(peer, CAIRN);
  await sync(folder, cairn);
  await sleep(SETTLED_MS);
  const watch = spawn(process.execPath, [cairn, 'sync', 'watch', '--folder', folder], { env: environment() });
  let output = '';
  watch.stdout.on('data', (part: Buffer) => {
    output += part.toString();
  });
  const pid = watch.pid as number;
  await until(() => output.includes('watching'));
  await sleep(2 * SETTLED_MS);
  const here: Cost[] = [];
  const elsewhere: Cost[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const save = async () => {
      put(folder, round);
      await until(() => output.includes(pathOf(round)));
      await sleep(SETTLED_MS);
    };
    here.push(await costOf(pid, save));
    const at = rounds + round;
    const arrive = async () => {
      put(peer, at);
      await sync(peer, CAIRN);
      await until(() => readFileSync(join(folder, pathOf(at))).equals(readFileSync(join(peer, pathOf(at)))));
      await sleep(SETTLED_MS);
    };
    elsewhere.push(await costOf(pid, arrive));
  }
  const rest = await costOf(pid, () => sleep(REST_SECONDS * 1000));
  const [watches, memory] = [inotifyWatches(pid), memoryOf(pid).RssAnon / MiB];
  watch.kill('SIGTERM');
  const hashed = hashAll(folder);
  for (const one of [folder, peer]) rmSync(one, { recursive: true });
  const name = cairn === CAIRN ? 'this build' : 'the other build';
  const row = (question: string, figure: string, yardstick = ''): Row => {
    return { question: `${name}: ${question}`, cairn: figure, yardstick, ratio: '', target: '', reached: undefined };
  };
  const costRow = (question: string, costs: readonly Cost[]) => {
    const cpu = costs.map(({ cpuMs }) => cpuMs);
    const read = costs.map(({ readBytes }) => readBytes / MiB);
    const written = costs.map(({ writtenBytes }) => writtenBytes / 1024);
    const all = `every file once: ${hashed.cpuMs.toFixed(0)} ms, ${(hashed.readBytes / MiB).toFixed(0)} MiB`;
    return row(question, `${shown(cpu, 'ms')}, ${shown(read, 'MiB', 1)}, ${shown(written, 'KiB')} written`, all);
  };
  return [
    costRow('a save here', here),
    costRow('a save elsewhere', elsewhere),
    row(`${REST_SECONDS} s at rest`, `${rest.cpuMs} ms`),
    row('inotify watches, RssAnon', `${watches}, ${memory.toFixed(0)} MiB`),
  ];
}

function hashAll(folder: string): Omit<Cost, 'writtenBytes'> {
  const before = process.cpuUsage();
  let readBytes = 0;
  for (let at = 0; at < files; at += 1) {
    const bytes = readFileSync(join(folder, pathOf(at)));
    createHash('sha256').update(bytes).digest();
    readBytes += bytes.length;
  }
  const { user, system } = process.cpuUsage(before);
  return { cpuMs: (user + system) / 1000, readBytes };
}

const rows: Row[] = [];
for (const cairn of [CAIRN, ...(values.other === undefined ? [] : [values.other])]) {
  note(`— ${cairn === CAIRN ? 'this build' : 'the other build'}`);
  const found = await measure(cairn, `vault ${randomBytes(4).toString('hex')}`);
  for (const { question, cairn: figure } of found) note(`${question}: ${figure}`);
  rows.push(...found);
}
await hub.stop();
process.stdout.write(table(rows));
