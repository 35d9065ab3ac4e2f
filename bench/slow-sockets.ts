/** How fast does the hub respond while 1,000 sockets send or read slowly, and how soon does it close them? */
import { readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { call } from '../test/support/http.ts';
import { randomCommit, uploadHeaders } from '../test/support/mirror.ts';
import { head } from '../test/support/raw.ts';
import { type Cairn, startCairn } from './peers/cairn.ts';
import { requireTool, startProgram, stopProgram } from './peers/child.ts';
import { type Nginx, startNginx } from './peers/nginx.ts';
import { type Bench, note, type Row, runWhenStarted } from './report.ts';

const SOCKETS = 1000;
const P99_MS_MAX = 50;
/** Interval between two requests of the probe. */
const ASK_MS = 15;
const IDLE_SECONDS = 5;
const LARGE_BYTES = 8 * 1024 * 1024;

/** One of the two servers, and the targets of the attacks. */
interface Side {
  readonly name: string;
  readonly port: number;
  readonly url: string;
  /** Process ids of the server, whose sockets are counted. */
  readonly pids: () => number[];
  /** Method and path of a request whose body is read slowly. */
  readonly form: readonly [string, string];
  /** Path of a public document of some 200 KB. */
  readonly document: string;
  /** Head of a request for a response of 8 MiB. */
  readonly large: string;
}

/** Starts an attack and returns the function that ends it. */
type Start = (side: Side, seconds: number) => () => Promise<unknown>;

const attacks: Readonly<Record<string, Start>> = {
  'slow headers': slowTest(
    () => ['-H', '-i', '3'],
    () => '/health',
  ),
  'slow bodies': slowTest(
    ({ form: [verb] }) => ['-B', '-i', '4', '-s', '8192', '-x', '10', '-t', verb],
    ({ form }) => form[1],
  ),
  'slow readers of 194 KiB': slowTest(
    () => ['-X', '-n', '5', '-z', '32', '-w', '512', '-y', '1024'],
    ({ document }) => document,
  ),
  'stalled readers of 8 MiB': stalledReaders,
};

interface Figure {
  readonly p99Ms: number;
  /** Response time before the attack. */
  readonly idleMs: number;
  /** Time from the start until all sockets were closed; undefined: some were still open at the end. */
  readonly goneSeconds: number | undefined;
}

export const slowSockets: Bench = async ({ quick }) => {
  requireTool('slowhttptest', 'slowhttptest');
  const seconds = quick ? 45 : 75;
  const cairn = await startCairn();
  const nginx = await startNginx(2);
  const rows: Row[] = [];
  try {
    const sides = await openSides(cairn, nginx);
    for (const [name, start] of Object.entries(attacks)) {
      const figures: Figure[] = [];
      for (const side of sides) {
        figures.push(await measure(side, start, seconds));
        note(`${name}, ${side.name}: ${told(figures.at(-1), seconds)}`);
      }
      rows.push(row(name, figures, seconds));
    }
  } finally {
    await nginx.stop();
    await cairn.stop();
  }
  return rows;
};

function row(name: string, [cairn, nginx]: readonly Figure[], seconds: number): Row {
  return {
    question: `\`/health\` p99 beside 1,000 ${name}; until the sockets are gone`,
    cairn: told(cairn, seconds),
    yardstick: `nginx ${told(nginx, seconds)}`,
    ratio: ((cairn?.p99Ms ?? Number.NaN) / (nginx?.p99Ms ?? Number.NaN)).toFixed(2),
    target: `< ${P99_MS_MAX} ms`,
    reached: cairn !== undefined && cairn.p99Ms < P99_MS_MAX && cairn.goneSeconds !== undefined,
  };
}

function told(figure: Figure | undefined, seconds: number): string {
  if (figure === undefined) return '';
  const gone = figure.goneSeconds === undefined ? `> ${seconds}` : figure.goneSeconds.toFixed(0);
  return `${figure.p99Ms.toFixed(1)} ms (idle ${figure.idleMs.toFixed(1)}); ${gone} s`;
}

/** The hub with its defaults but no rate limits, as if each socket had another address; nginx with the same bytes. */
async function openSides(cairn: Cairn, nginx: Nginx): Promise<Side[]> {
  const credential = await cairn.account();
  const [commit, bytes] = [randomCommit(), Buffer.alloc(LARGE_BYTES, 'x')];
  const headers = uploadHeaders(credential, commit, bytes);
  const stored = await call(cairn, '/api/cert_mirror', { method: 'POST', headers, body: bytes });
  if (stored.status !== 200) throw new Error(`the upload was answered ${stored.status}`);
  const document = '/api/mcp/openapi.json';
  writeFileSync(join(nginx.root, 'health'), (await call(cairn, '/health')).bytes);
  writeFileSync(join(nginx.root, 'document'), (await call(cairn, document)).bytes);
  writeFileSync(join(nginx.root, 'large'), bytes);
  const own = [`Authorization: McpKey ${credential.token}`];
  const download = head(`GET /api/cert_mirror/${commit}/download HTTP/1.1`, own);
  return [
    { ...cairn, name: 'Cairn', pids: () => [cairn.pid], form: ['POST', '/oauth/token'], document, large: download },
    { ...nginx, name: 'nginx', form: ['PUT', '/form'], document: '/document', large: head('GET /large HTTP/1.1') },
  ];
}

/** Runs Debian's slowhttptest with these options; opens 500 sockets a second up to the full number. */
function slowTest(options: (side: Side) => readonly string[], path: (side: Side) => string): Start {
  return (side, seconds) => {
    const all = ['-c', String(SOCKETS), '-r', '500', '-l', String(seconds), '-u', `${side.url}${path(side)}`];
    const child = startProgram('slowhttptest', [...options(side), ...all, '-v', '1'], { stdio: 'ignore' });
    return () => stopProgram(child, 'SIGKILL');
  };
}

/** Opens sockets that request more than the system buffers, and read nothing of it. */
function stalledReaders(side: Side): () => Promise<unknown> {
  const sockets = Array.from({ length: SOCKETS }, () => {
    const socket = connect(side.port, '127.0.0.1', () => socket.write(side.large));
    socket.pause();
    // The server is expected to reset the connection.
    socket.on('error', () => undefined);
    return socket;
  });
  return async () => {
    for (const socket of sockets) socket.destroy();
  };
}

async function measure(side: Side, start: Start, seconds: number): Promise<Figure> {
  const idleMs = percentile99(await ask(side, () => false, IDLE_SECONDS));
  const before = socketsOf(side);
  const startedMs = performance.now();
  const end = start(side, seconds);
  let heldMax = 0;
  let goneSeconds: number | undefined;
  let looked = 0;
  const isOver = () => {
    looked += 1;
    if (looked % 10 > 0) return false;
    const held = socketsOf(side) - before;
    heldMax = Math.max(heldMax, held);
    // One percent tolerance covers the probe's sockets.
    if (heldMax < SOCKETS / 2 || held > SOCKETS / 100) return false;
    goneSeconds = (performance.now() - startedMs) / 1000;
    return true;
  };
  const times = await ask(side, isOver, seconds);
  await end();
  // Remaining sockets must not count in the next attack.
  for (let tries = 0; tries < 600 && socketsOf(side) - before > SOCKETS / 100; tries += 1) await sleep(100);
  if (heldMax < SOCKETS * 0.9) throw new Error(`${side.name} held only ${heldMax} sockets`);
  return { p99Ms: percentile99(times), idleMs, goneSeconds };
}

/** Requests /health over new connections repeatedly; resolves with the duration of each. */
async function ask(side: Side, isOver: () => boolean, seconds: number): Promise<number[]> {
  const times: number[] = [];
  const endMs = performance.now() + seconds * 1000;
  while (performance.now() < endMs && !isOver()) {
    const startedMs = performance.now();
    const { status } = await call(side, '/health');
    times.push(performance.now() - startedMs);
    if (status !== 200) throw new Error(`${side.name} answered ${status}`);
    await sleep(ASK_MS);
  }
  return times;
}

function percentile99(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * 0.99) - 1] ?? Number.NaN;
}

function socketsOf({ pids }: Side): number {
  return pids().reduce((sum, pid) => sum + openSockets(pid), 0);
}

/** Counts the open sockets of a process. */
function openSockets(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).filter((name) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${name}`).startsWith('socket:');
    } catch {
      // Closed in the meantime.
      return false;
    }
  }).length;
}

await runWhenStarted(import.meta.url, slowSockets);
