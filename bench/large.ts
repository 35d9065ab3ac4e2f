/**
 * How long do start, verify, backup, restore and compaction of a large hub take, with their memory, compared with
 * restic on the same bytes?
 * `node dist/bench/large.js FOLDER GIB FILES BYTES` has FILES files of BYTES each in a vault; the rest of the bytes are
 * blobs of the mirror. It needs about two and a half times the bytes below FOLDER, because each copy is removed before the
 * next one is made, and removes all of them at the end.
 */
import { spawn } from 'node:child_process';
import { createCipheriv, createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { callTool } from '../test/support/gateway.ts';
import { CAIRN, cleanEnvironment, type Hub, startHub } from '../test/support/hub.ts';
import { account, mirrorAccount, randomCommit, upload } from '../test/support/mirror.ts';
import { threadTime } from './costs/thread-time.ts';

const MIB = 1024 * 1024;
const BLOB_BYTES = 4 * MIB;
const FILES_PER_CALL = 500;
const CALL_BYTES_MAX = 7 * MIB;
const CALLS_AT_ONCE = 4;
const FILES_PER_FOLDER = 1000;
/** Before a call that the hub had no time for is made again. */
const PAUSE_MS = 500;
const CLOCK_START_MS = Date.UTC(2026, 0, 1);

/** How often the memory of a command is looked at. */
const LOOK_MS = 100;

const [folder = '', gib = '2', fileCount = '100000', bytesPerFile = '4096'] = process.argv.slice(2);
const files = Number(fileCount);
const fileBytes = Number(bytesPerFile);
const blobs = Math.ceil((Number(gib) * 1024 * MIB - files * fileBytes) / BLOB_BYTES);
const env = {
  CAIRN_DATA: join(folder, 'data'),
  CAIRN_SYNC_QUOTA_BYTES: String(2 ** 40),
  CAIRN_MIRROR_QUOTA_BYTES: String(2 ** 40),
};
const plain = join(folder, 'plain');
const restored = join(folder, 'restored');

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
try {
  await ofCairn();
  await ofRestic();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function ofCairn(): Promise<void> {
  await fill();
  say('start, until it listens', await start());
  const program = [process.execPath, CAIRN];
  const backup = join(folder, 'backup');
  say('verify', await timed([...program, 'verify']));
  say('backup', await timed([...program, 'backup', '--with-key', backup]));
  rmSync(env.CAIRN_DATA, { recursive: true });
  say('restore', await timed([...program, 'restore', backup], { CAIRN_DATA: restored }));
  rmSync(backup, { recursive: true });
  renameSync(restored, env.CAIRN_DATA);
  say('compact', await timed([...program, 'compact']));
  rmSync(env.CAIRN_DATA, { recursive: true });
}

async function ofRestic(): Promise<void> {
  writePlain();
  const repository = ['restic', '--quiet', '--no-cache', '--repo', join(folder, 'restic')];
  await timed([...repository, 'init']);
  say('restic backup', await timed([...repository, 'backup', plain]));
  rmSync(plain, { recursive: true });
  say('restic check --read-data', await timed([...repository, 'check', '--read-data']));
  say('restic restore', await timed([...repository, 'restore', 'latest', '--target', restored]));
}

interface Cost {
  readonly seconds: number;
  /** Time of all threads on a core, user and system. Unlike `seconds` it hardly changes on a busy machine. */
  readonly cpuSeconds: number;
  readonly peakMiB: number;
  /** The most of it that was the process's own (RssAnon): the system cannot take it back, as it can pages of a file. */
  readonly ownMiB: number;
}

function say(what: string, { seconds, cpuSeconds, peakMiB, ownMiB }: Cost): void {
  process.stdout.write(
    `| ${what} | ${seconds.toFixed(1)} s | ${cpuSeconds.toFixed(1)} s | ${peakMiB.toFixed(0)} MiB | ${ownMiB.toFixed(0)} MiB |\n`,
  );
}

/** Bytes that nothing can compress, and the same again for the same name and number. */
function bytesOf(name: string, number: number, length: number): Buffer {
  const key = createHash('sha256').update(`${name} ${number}`).digest();
  return createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(length));
}

function blobOf(number: number): Buffer {
  return bytesOf('blob', number, BLOB_BYTES);
}

/** Text: of four bits a byte. */
function contentOf(number: number): string {
  return bytesOf('file', number, Math.ceil(fileBytes / 2))
    .toString('hex')
    .slice(0, fileBytes);
}

function pathOf(number: number): string {
  return `${Math.floor(number / FILES_PER_FOLDER)}/${number}.md`;
}

/** Writes what the hub has as plain files. */
function writePlain(): void {
  for (let number = 0; number < files; number += 1) {
    const path = join(plain, pathOf(number));
    if (number % FILES_PER_FOLDER === 0) mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, contentOf(number));
  }
  for (let number = 0; number < blobs; number += 1) writeFileSync(join(plain, `blob-${number}`), blobOf(number));
}

/** Sends everything over HTTP. */
async function fill(): Promise<void> {
  const hub = await startHub({ dataFolder: env.CAIRN_DATA, env });
  const begun = Date.now();
  const { mcp_key: key } = await account(hub);
  const perCall = Math.max(1, Math.min(FILES_PER_CALL, Math.floor(CALL_BYTES_MAX / fileBytes)));
  let next = 0;
  const push = async () => {
    for (let at = next; at < files; at = next) {
      next += perCall;
      await pushSome(hub, key, at, Math.min(perCall, files - at));
    }
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, push));
  const owner = await mirrorAccount(hub);
  for (let number = 0; number < blobs; number += 1) {
    const { status } = await upload(hub, owner, randomCommit(), blobOf(number));
    if (status !== 200) throw new Error(`an upload was answered ${status}`);
  }
  await hub.stop();
  const { size } = statSync(join(env.CAIRN_DATA, 'cairn.mdb'));
  process.stdout.write(`${files} files of ${fileBytes} bytes and ${blobs} blobs of ${BLOB_BYTES} `);
  process.stdout.write(`in ${(Date.now() - begun) / 1000} s; the data file has ${(size / 2 ** 30).toFixed(2)} GiB\n`);
}

async function pushSome(hub: Hub, key: string, first: number, count: number): Promise<void> {
  const sent = Array.from({ length: count }, (_, index) => {
    const number = first + index;
    const content = contentOf(number);
    const sha256 = createHash('sha256').update(content).digest('hex');
    return { path: pathOf(number), content, sha256, hlc: `${CLOCK_START_MS + number}:0:bench`, base_sha: '' };
  });
  const result = await pushed(hub, key, sent);
  const { accepted } = (result?.['structuredContent'] ?? {}) as { readonly accepted?: number };
  if (accepted !== count)
    throw new Error(`${accepted} of ${count} files were taken: ${JSON.stringify(result).slice(0, 300)}`);
}

/** Calls the tool, and again while the hub says that it has too much to do. */
async function pushed(hub: Hub, key: string, sent: readonly object[]) {
  for (;;) {
    const { result, error } = await callTool(hub, 'sync_push_many', { files: sent }, key);
    if (result !== undefined) return result;
    process.stderr.write(`${JSON.stringify(error)}\n`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

async function start(): Promise<Cost> {
  const begun = Date.now();
  const hub = await startHub({ dataFolder: env.CAIRN_DATA, env });
  const seconds = (Date.now() - begun) / 1000;
  const { pid = 0 } = hub.process;
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const cpuSeconds = threadTime(pid).all / 1e6;
  await hub.stop();
  return { seconds, cpuSeconds, peakMiB: mebibytes('VmHWM', status), ownMiB: mebibytes('RssAnon', status) };
}

/** A line of a process's status in /proc. */
function mebibytes(name: string, status: string): number {
  return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024;
}

/** Runs a program under GNU time until it ends. */
async function timed(command: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<Cost> {
  const log = join(folder, 'time');
  const child = spawn('/usr/bin/time', ['-o', log, '-f', '%e %U %S %M', ...command], {
    env: cleanEnvironment({ ...env, RESTIC_PASSWORD: 'bench', ...more }),
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  let ownMiB = 0;
  const look = setInterval(() => {
    ownMiB = Math.max(ownMiB, ownMemoryOf(child.pid ?? 0));
  }, LOOK_MS);
  const [status] = (await once(child, 'exit')) as [number | null];
  clearInterval(look);
  if (status !== 0) throw new Error(`${command.join(' ')} ended with ${status}`);
  const [seconds = 0, user = 0, system = 0, kibibytes = 0] = readFileSync(log, 'utf8').split(' ').map(Number);
  return { seconds, cpuSeconds: user + system, peakMiB: kibibytes / 1024, ownMiB };
}

/** RssAnon of the program that GNU time runs. 0 when it has not begun or has ended. */
function ownMemoryOf(timePid: number): number {
  try {
    const pid = readFileSync(`/proc/${timePid}/task/${timePid}/children`, 'utf8').trim();
    return mebibytes('RssAnon', readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return 0;
  }
}
