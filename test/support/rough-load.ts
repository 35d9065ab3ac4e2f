/** Kinds of load of clients that break off, dawdle or talk nonsense. Nothing that they send may be kept. */
import { randomBytes, randomInt } from 'node:crypto';
import { connect } from 'node:net';
import { rawExchange, statusesOf } from './http.ts';
import { type Desk, type Load, pick } from './load.ts';
import { randomCommit } from './mirror.ts';
import { WrongAnswer } from './person.ts';
import { head } from './raw.ts';
import { RawClient, uploadHead } from './raw-client.ts';

/** How long a reader dawdles before it gives up, and how much it takes at a time. */
const DAWDLE_MS_MAX = 3000;
const SIP_MS = 15;
const SILENCE_MS = 5000;

async function abortUpload(desk: Desk): Promise<void> {
  const bytes = randomBytes(Math.max(2, desk.size()));
  const client = await RawClient.open(desk.person.place.hub);
  await client.send(uploadHead(desk.person.mirror, randomCommit(), bytes));
  await client.send(bytes.subarray(0, randomInt(bytes.length - 1)));
  await pause(randomInt(100));
  client.destroy();
}

async function abortPush(desk: Desk): Promise<void> {
  const { person, device } = desk;
  const content = 'x'.repeat(randomInt(200_000));
  const args = { path: `${device}/never.md`, content, hlc: desk.clock(), device_id: device };
  const body = JSON.stringify(args);
  const lines = [
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    `Authorization: McpKey ${person.key}`,
  ];
  const client = await RawClient.open(person.place.hub);
  await client.send(head('POST /api/mcp/tools/sync_push HTTP/1.1', lines));
  await client.send(body.slice(0, randomInt(body.length - 1)));
  client.destroy();
}

/** Takes a piece now and then, and goes away before the end unless that comes first. */
async function dawdle({ person, commits }: Desk): Promise<void> {
  const commit = pick(commits);
  if (commit === undefined) return;
  const socket = connect(person.place.hub.port, '127.0.0.1');
  const ended = new Promise<void>((resolve, reject) => {
    socket.once('close', () => resolve());
    socket.once('error', reject);
  });
  const giveUp = setTimeout(() => socket.destroy(), randomInt(DAWDLE_MS_MAX));
  const lines = [`Authorization: McpKey ${person.mirror.token}`, 'Connection: close'];
  socket.write(head(`GET /api/cert_mirror/${commit}/download HTTP/1.1`, lines));
  socket.on('data', () => {
    socket.pause();
    setTimeout(() => socket.resume(), SIP_MS);
  });
  await ended.finally(() => clearTimeout(giveUp));
}

/** Asks and is gone before the answer. */
async function vanish({ person }: Desk): Promise<void> {
  const client = await RawClient.open(person.place.hub);
  const line = pick(['GET /api/cert_mirror HTTP/1.1', 'GET /api/account HTTP/1.1']) ?? '';
  await client.send(head(line, [`Authorization: McpKey ${person.key}`]));
  client.socket.resetAndDestroy();
}

const POST = 'POST /api/cert_mirror/credentials HTTP/1.1';

/** What is refused with 400, and the connection closed. */
const NONSENSE = [
  head('GET /ready HTTP/1.1', [], { host: false }),
  head('GET /ready HTTP/1.1', ['Host: other.test']),
  `${head(POST, ['Content-Length: 2', 'Content-Length: 60'])}{}`,
  `${head(POST, ['Content-Length: 2, 2'])}{}`,
  `${head(POST, ['Content-Length: -1'])}{}`,
  head(POST, ['Content-Length: 5', 'Transfer-Encoding: chunked']),
  head(POST, ['Transfer-Encoding: gzip, chunked']),
  `${head(POST, ['Transfer-Encoding: chunked'])}-1\r\n{}\r\n0\r\n\r\n`,
];

async function talkNonsense({ person }: Desk): Promise<void> {
  const bytes = pick(NONSENSE) ?? '';
  const { text, closed } = await rawExchange(person.place.hub.port, [bytes], { silenceMs: SILENCE_MS });
  const statuses = statusesOf(text);
  if (!closed || statuses.length !== 1 || statuses[0] !== 400) {
    throw new WrongAnswer(`bad framing was answered ${statuses.join(', ') || 'nothing'}, closed: ${closed}`);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

export const roughs: readonly Load[] = [abortUpload, abortUpload, abortPush, dawdle, vanish, talkNonsense];
