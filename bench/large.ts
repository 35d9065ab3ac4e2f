/**
 * How long do start, verify, backup, restore and compaction of a large hub take, with their memory, compared with
 * restic on the same bytes?
 * `node dist/bench/large.js FOLDER GIB FILES` needs about six times the bytes below FOLDER, and removes them at the
 * end.
 */
import { spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callTool } from '../test/support/gateway.ts';
import { CAIRN, cleanEnvironment, type Hub, startHub } from '../test/support/hub.ts';
import { account, mirrorAccount, randomCommit, upload } from '../test/support/mirror.ts';
import { threadTime } from './costs/thread-time.ts';

const MIB = 1024 * 1024;
const BLOB_BYTES = 4 * MIB;
const FILES_PER_CALL = 500;
const CALL_BYTES_MAX = 7 * MIB;
const CALLS_AT_ONCE = 4;
/** Before a call that the hub had no time for is made again. */
const PAUSE_MS = 500;
const CLOCK_START_MS = Date.UTC(2026, 0, 1);

const [folder = '', gib = '2', fileCount = '100000'] = process.argv.slice(2);
const bytesTotal = Number(gib) * 1024 * MIB;
const files = Number(fileCount);
/** Half of the bytes are files of a vault, half blobs of the mirror. */
const fileBytes = Math.floor(bytesTotal / 2 / files);
const env = { CAIRN_DATA: join(folder, 'data'), CAIRN_SYNC_QUOTA_BYTES: String(2 ** 40) };
const plain = join(folder, 'plain');

rmSync(folder, { recursive: true, force: true });
mkdirSync(plain, { recursive: true });
try {
  await fill();
  const started = await start();
  say('start, until it listens', started);
  const program = [process.execPath, CAIRN];
  const backup = join(folder, 'backup');
  say('verify', timed([...program, 'verify']));
  say('backup', timed([...program, 'backup', '--with-key', backup]));
  say('restore', timed([...program, 'restore', backup], { CAIRN_DATA: join(folder, 'restored') }));
  rmSync(join(folder, 'restored'), { recursive: true });
  rmSync(backup, { recursive: true });
  say('compact', timed([...program, 'compact']));
  const repository = ['restic', '--quiet', '--no-cache', '--repo', join(folder, 'restic')];
  timed([...repository, 'init']);
  say('restic backup', timed([...repository, 'backup', plain]));
  say('restic check --read-data', timed([...repository, 'check', '--read-data']));
  say('restic restore', timed([...repository, 'restore', 'latest', '--target', join(folder, 'restored')]));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

interface Cost {
  readonly seconds: number;
  /** Time of all threads on a core, user and system. Unlike `seconds` it hardly changes on a busy machine. */
  readonly cpuSeconds: number;
  readonly peakMiB: number;
}

function say(what: string, { seconds, cpuSeconds, peakMiB }: Cost): void {
  process.stdout.write(
    `| ${what} | ${seconds.toFixed(1)} s | ${cpuSeconds.toFixed(1)} s | ${peakMiB.toFixed(0)} MiB |\n`,
  );
}

/** Sends everything over HTTP, and writes the same bytes as plain files. */
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
  for (let sent = 0; sent < bytesTotal / 2; sent += BLOB_BYTES) {
    const bytes = randomBytes(BLOB_BYTES);
    writeFileSync(join(plain, `blob-${sent}`), bytes);
    const { status } = await upload(hub, owner, randomCommit(), bytes);
    if (status !== 200) throw new Error(`an upload was answered ${status}`);
  }
  await hub.stop();
  const { size } = statSync(join(env.CAIRN_DATA, 'cairn.mdb'));
  process.stdout.write(
    `${files} files of ${fileBytes} bytes and ${bytesTotal / 2 / BLOB_BYTES} blobs of ${BLOB_BYTES} `,
  );
  process.stdout.write(`in ${(Date.now() - begun) / 1000} s; the data file has ${(size / 2 ** 30).toFixed(2)} GiB\n`);
}

async function pushSome(hub: Hub, key: string, first: number, count: number): Promise<void> {
  const sent = Array.from({ length: count }, (_, index) => {
    const number = first + index;
    const content = randomBytes(Math.ceil(fileBytes / 2))
      .toString('hex')
      .slice(0, fileBytes);
    const path = `${Math.floor(number / 1000)}/${number}.md`;
    mkdirSync(join(plain, String(Math.floor(number / 1000))), { recursive: true });
    writeFileSync(join(plain, path), content);
    const sha256 = createHash('sha256').update(content).digest('hex');
    return { path, content, sha256, hlc: `${CLOCK_START_MS + number}:0:bench`, base_sha: '' };
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
  return { seconds, cpuSeconds, peakMiB: Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024 };
}

/** Runs a program under GNU time until it ends. */
function timed(command: readonly string[], more: Readonly<Record<string, string>> = {}): Cost {
  const log = join(folder, 'time');
  const done = spawnSync('/usr/bin/time', ['-o', log, '-f', '%e %U %S %M', ...command], {
    env: cleanEnvironment({ ...env, RESTIC_PASSWORD: 'bench', ...more }),
    encoding: 'utf8',
  });
  if (done.status !== 0) throw new Error(`${command.join(' ')} ended with ${done.status}: ${done.stderr}`);
  const [seconds = 0, user = 0, system = 0, kibibytes = 0] = readFileSync(log, 'utf8').split(' ').map(Number);
  return { seconds, cpuSeconds: user + system, peakMiB: kibibytes / 1024 };
}
