/**
 * What does one account, or a stranger, cost the others? The 99th percentile of a probe, a small write and another
 * account's download, before and during each attack, in one run. The attacker is a separate process on the same cores
 * as the hub.
 */

import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { App, localPortOf } from '../src/http/library/uws.ts';
import { limits } from '../src/limits/service.ts';
import { PASSWORD, post, structured, toolRequest, withKey } from '../test/support/gateway.ts';
import { call } from '../test/support/http.ts';
import { type Hub, startHub } from '../test/support/hub.ts';
import { mirrorAccount, randomCommit, upload, uploadHeaders } from '../test/support/mirror.ts';
import { type PageClient, signedUp } from '../test/support/page-client.ts';
import { head } from '../test/support/raw.ts';
import { clockAt, sha256Of } from '../test/support/sync.ts';
import { type Delays, delayProbe, takeDelays } from './delays.ts';
import { type Bench, MiB, note, type Row, runWhenStarted } from './report.ts';
import { percentile } from './steady.ts';

type Target = Pick<Hub, 'port' | 'url'>;
type Person = Awaited<ReturnType<typeof mirrorAccount>>;
/** Runs until the signal is aborted. */
type Attack = (hub: Target, attackers: readonly Person[], signal: AbortSignal) => Promise<void>;

const KiB = 1024;
const SLOW_BYTES = 3200;
const FACTOR_MAX = 3;
const LEAST_PRIORITY = 19;
const SIGNING_IN = 'signing-in@example.org';
const LARGE_BODIES = 'large bodies';

/** Opens sockets that send a head and then drip bytes, and replaces each closed one. */
async function drip(hub: Target, heads: readonly string[], signal: AbortSignal): Promise<void> {
  const sockets = new Map<number, Socket>();
  while (!signal.aborted) {
    for (const [at, first] of heads.entries()) {
      const known = sockets.get(at);
      if (known !== undefined && !known.destroyed) known.write(Buffer.alloc(SLOW_BYTES, 1));
      else {
        const socket = connect(hub.port, '127.0.0.1');
        socket.on('error', () => undefined).on('end', () => socket.destroy());
        socket.resume();
        socket.write(first);
        sockets.set(at, socket);
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  for (const socket of sockets.values()) socket.destroy();
}

function repeat(count: number, signal: AbortSignal, once: (at: number) => Promise<unknown>): Promise<void> {
  const run = async (at: number) => {
    while (!signal.aborted) await once(at).catch(() => undefined);
  };
  return Promise.all(Array.from({ length: count }, (_, at) => run(at))).then(() => undefined);
}

const json = 'Content-Type: application/json';
const slowBodies: Attack = (hub, [one], signal) => {
  const anonymous = head('POST /api/mcp HTTP/1.1', [json, `Content-Length: ${16 * MiB}`]);
  const small = head('POST /api/mcp HTTP/1.1', [json, `Content-Length: ${limits.strangerBodyBytesMax}`]);
  const body = Buffer.alloc(50 * MiB, 1);
  const fields = { ...uploadHeaders(one as Person, randomCommit(), body), 'Content-Length': String(body.length) };
  const uploads = head(
    'POST /api/cert_mirror HTTP/1.1',
    Object.entries(fields).map(([name, value]) => `${name}: ${value}`),
  );
  return drip(hub, [...Array(17).fill(anonymous), ...Array(17).fill(small), ...Array(6).fill(uploads)], signal);
};

const streams: Attack = async (hub, attackers, signal) => {
  const heads: string[] = [];
  for (const person of attackers) {
    const commit = randomCommit();
    await upload(hub, person, commit, randomBytes(8 * MiB));
    const line = `GET /api/cert_mirror/${commit}/download HTTP/1.1`;
    heads.push(...Array(220).fill(head(line, [`Authorization: McpKey ${person.token}`])));
  }
  const sockets = heads.map((first) => {
    const socket = connect(hub.port, '127.0.0.1');
    socket.on('error', () => undefined).pause();
    socket.write(first);
    return socket;
  });
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
  for (const socket of sockets) socket.destroy();
};

const walks: Attack = (hub, [one], signal) => {
  const own = withKey(one?.mcp_key);
  const glob = `**/${'*a'.repeat(90)}b`;
  const listings = Array.from({ length: 60 }, (_, id) => toolRequest(id, 'sync_list', { glob }));
  const searches = Array.from({ length: 10 }, (_, id) => toolRequest(id, 'list_tasks', { search: `nowhere ${id}` }));
  return repeat(2, signal, (at) => post(hub, at === 0 ? listings : searches, own));
};

const largeBodies: Attack = (hub, [one], signal) => {
  const text = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', note: 'x'.repeat(15 * MiB) });
  return repeat(10, signal, () => post(hub, text, withKey(one?.mcp_key)));
};

const signUps: Attack = (hub, _, signal) =>
  repeat(10, signal, () => {
    const login = { email: `${randomBytes(8).toString('hex')}@example.org`, password: PASSWORD };
    return post(hub, toolRequest(1, 'signup_and_get_key', login));
  });

const floods: Attack = async (...given) => {
  await Promise.all([largeBodies(...given), signUps(...given)]);
};

/** Half of them for the email of the person who signs in meanwhile. */
const wrongPasswords: Attack = (hub, _, signal) =>
  repeat(10, signal, (at) => {
    const email = at % 2 === 0 ? SIGNING_IN : `${randomBytes(8).toString('hex')}@example.org`;
    return post(hub, toolRequest(1, 'login_and_get_key', { email, password: `wrong ${PASSWORD}` }));
  });

const ATTACKS: Readonly<Record<string, Attack>> = {
  'slow bodies': slowBodies,
  streams,
  walks,
  floods,
  'sign-ups': signUps,
  'wrong passwords': wrongPasswords,
  [LARGE_BODIES]: largeBodies,
};
/** Under these a person signs in again and again, in a browser that has signed in before. */
const SIGN_IN_UNDER = new Set(['sign-ups', 'wrong passwords']);
const ATTACK = '--attack';
/** In a process of its own: a server of the library alone. It reads bodies and drops them. */
const BARE = '--bare';
/** `--only=walks`: runs only that attack. */
const ONLY = '--only=';

type Asks = Readonly<Record<string, () => Promise<number>>>;

/** The requests of others. */
function asksOf(hub: Hub, { name, victim: person, commit, browser }: Measured): Asks {
  const asks: Asks = {
    '/health': async () => (await call(hub, '/health')).status,
    create_task: async () =>
      (await post(hub, toolRequest(1, 'create_task', { content: 'x' }), withKey(person.mcp_key))).status,
    'download of 64 KiB': async () => {
      const headers = { Authorization: `McpKey ${person.token}` };
      return (await call(hub, `/api/cert_mirror/${commit}/download`, { headers })).status;
    },
  };
  return SIGN_IN_UNDER.has(name) ? { ...asks, 'sign-in': () => signIn(browser) } : asks;
}

/** Signs a browser in. Its other cookie tells that it has signed in before. */
async function signIn(browser: PageClient): Promise<number> {
  const session = [...browser.cookies.keys()].find((name) => name.includes('session')) ?? '';
  browser.cookies.delete(session);
  await browser.open('/signin');
  return (await browser.submit('/signin', { email: SIGNING_IN, password: PASSWORD })).status;
}

/** Returns the response times of each request, in milliseconds. */
async function probe(asks: Asks, seconds: number): Promise<Record<string, number[]>> {
  const times: Record<string, number[]> = Object.fromEntries(Object.keys(asks).map((name) => [name, []]));
  const endMs = performance.now() + seconds * 1000;
  while (performance.now() < endMs) {
    for (const [name, ask] of Object.entries(asks)) {
      const startedMs = performance.now();
      const status = await ask();
      if (status !== 200) throw new Error(`${name} of somebody else was answered with ${status}`);
      times[name]?.push(performance.now() - startedMs);
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return times;
}

export const attacks: Bench = async ({ quick }) => {
  const probed = delayProbe();
  const hub = await startHub({ env: { CAIRN_RATE_LIMIT: '0', CAIRN_SIGNIN_LIMIT: '0', ...probed.env } });
  try {
    const victim = await mirrorAccount(hub);
    const commit = randomCommit();
    await upload(hub, victim, commit, randomBytes(64 * KiB));
    const attackers = await Promise.all(Array.from({ length: 5 }, () => mirrorAccount(hub)));
    await fill(hub, attackers[0] as Person);
    const browser = await signedUp(hub, SIGNING_IN, PASSWORD);
    const rows: Row[] = [];
    const only = process.argv.find((word) => word.startsWith(ONLY))?.slice(ONLY.length);
    for (const name of Object.keys(ATTACKS).filter((one) => only === undefined || only === one)) {
      rows.push(
        ...(await measure(hub, {
          name,
          victim,
          commit,
          browser,
          attackers,
          file: probed.file,
          seconds: quick ? 4 : 15,
        })),
      );
      if (name === LARGE_BODIES) rows.push(await measureBare(attackers, quick ? 4 : 15));
    }
    return rows;
  } finally {
    await hub.stop();
  }
};

interface Measured {
  readonly name: string;
  readonly victim: Person;
  readonly commit: string;
  readonly browser: PageClient;
  readonly attackers: readonly Person[];
  /** Written by the probe of the event loop. */
  readonly file: string;
  readonly seconds: number;
}

/** Starts the attack; resolves after three seconds with a function that ends it. */
async function attack({ port, url }: Target, name: string, attackers: readonly Person[]): Promise<() => Promise<void>> {
  const attacker = fork(fileURLToPath(import.meta.url), [ATTACK, JSON.stringify({ name, port, url, attackers })]);
  const gone = new Promise<void>((resolve) => attacker.once('exit', () => resolve()));
  // An attacker has a machine of its own.
  setPriority(attacker.pid ?? 0, LEAST_PRIORITY);
  await new Promise((resolve) => setTimeout(resolve, 3000));
  return async () => {
    attacker.kill('SIGKILL');
    await gone;
  };
}

/** The yardstick: what the same attack costs others at the library alone, on the same cores. */
async function measureBare(attackers: readonly Person[], seconds: number): Promise<Row> {
  const server = fork(fileURLToPath(import.meta.url), [BARE]);
  const port = await new Promise<number>((resolve) => server.once('message', (message) => resolve(Number(message))));
  const bare = { port, url: `http://127.0.0.1:${port}` };
  const asks = { '/health': async () => (await call(bare, '/health')).status };
  await probe(asks, 1);
  const before = await probe(asks, seconds);
  const end = await attack(bare, LARGE_BODIES, attackers);
  const during = await probe(asks, seconds);
  await end();
  server.kill('SIGKILL');
  const [calm, attacked] = [p99(before['/health']), p99(during['/health'])];
  return {
    question: `p99 of the library alone under: ${LARGE_BODIES}`,
    cairn: '',
    yardstick: `${attacked.toFixed(1)} ms, before ${calm.toFixed(1)} ms`,
    ratio: (attacked / calm).toFixed(2),
    target: '',
    reached: undefined,
  };
}

function serveBare(): void {
  const app = App().any('/*', (res) => {
    res.onAborted(() => undefined);
    res.onData((_, isLast) => {
      if (isLast) res.end('{}');
    });
  });
  app.listen('127.0.0.1', 0, (socket) => {
    process.send?.(socket === false ? 0 : localPortOf(socket));
  });
}

const p99 = (times: readonly number[] = []) =>
  percentile(
    times.toSorted((a, b) => a - b),
    0.99,
  );

async function measure(hub: Hub, measured: Measured): Promise<Row[]> {
  const { name, attackers, file, seconds } = measured;
  const asks = asksOf(hub, measured);
  await probe(asks, 1);
  await takeDelays(hub, file);
  const before = await probe(asks, seconds);
  const idle = await takeDelays(hub, file);
  const end = await attack(hub, name, attackers);
  await takeDelays(hub, file);
  const during = await probe(asks, seconds);
  const delays = await takeDelays(hub, file);
  await end();
  note(`${name}, event loop: ${told(idle)} before, ${told(delays)} during`);
  const rows = Object.keys(before).map((what) => {
    const [calm, attacked] = [p99(before[what]), p99(during[what])];
    note(`${name}, ${what}: ${calm.toFixed(1)} ms before, ${attacked.toFixed(1)} ms during`);
    return {
      question: `p99 of ${what} under: ${name}`,
      cairn: `${attacked.toFixed(1)} ms`,
      yardstick: `before ${calm.toFixed(1)} ms`,
      ratio: (attacked / calm).toFixed(2),
      target: `≤ ${FACTOR_MAX}`,
      reached: attacked <= FACTOR_MAX * calm,
    };
  });
  const loop: Row = {
    question: `event-loop delay p99 and longest under: ${name}`,
    cairn: told(delays),
    yardstick: `before ${told(idle)}`,
    ratio: (delays.p99 / idle.p99).toFixed(2),
    target: '',
    reached: undefined,
  };
  return [...rows, loop];
}

function told({ p99, max }: Delays): string {
  return `${p99.toFixed(1)} and ${max.toFixed(1)} ms`;
}

/** Creates the input of the walk attacks: long paths, protected globs and tasks. */
async function fill(hub: Hub, { mcp_key: key }: Person): Promise<void> {
  const globs = Array.from({ length: 100 }, (_, at) => `**/${'*a'.repeat(60 + (at % 30))}${at}`);
  for (let first = 0; first < 2000; first += 500) {
    const files = Array.from({ length: 500 }, (_, at) => ({
      path: `${'a'.repeat(250)}/${'a'.repeat(250)}/${'a'.repeat(250)}/${first + at}`,
      content: 'x',
      sha256: sha256Of('x'),
      hlc: clockAt(Date.now()),
    }));
    await structured(hub, 'sync_push_many', { files }, key);
  }
  await structured(hub, 'vault_create', { name: 'primary', protected_paths: globs }, key).catch(() => undefined);
  for (let first = 0; first < 10_000; first += 100) {
    const items = Array.from({ length: 100 }, (_, at) =>
      toolRequest(at, 'create_task', { content: `${'zebra '.repeat(40)}${first + at}` }),
    );
    await post(hub, items, withKey(key));
  }
}

/** In the attacker's process: attacks until killed. */
async function attackOn(): Promise<void> {
  const { name, attackers, ...hub } = JSON.parse(process.argv[3] ?? '') as Target & {
    readonly name: string;
    readonly attackers: readonly Person[];
  };
  await ATTACKS[name]?.(hub, attackers, new AbortController().signal);
}

if (process.argv[2] === ATTACK) await attackOn();
else if (process.argv[2] === BARE) serveBare();
else await runWhenStarted(import.meta.url, attacks);
