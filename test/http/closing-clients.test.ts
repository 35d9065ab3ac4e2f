/**
 * Clients that announce `Connection: close` and send a long body read the refusal of it: the connection is not reset
 * while they still send. None of them is ours.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { beforeAll, expect, test } from 'vitest';
import { type Account, type Credential, mirrorAccount, randomCommit, uploadHeaders } from '../support/mirror.ts';
import { useHub } from '../support/use-hub.ts';

const hub = useHub();
/** More than the buffers of the system hold, so that no client is done before the hub has answered. */
const BODY = Buffer.alloc(32 * 1024 * 1024, 'a body ');
const TIMES = 3;

interface Call {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

let owner: Account & Credential;
beforeAll(async () => {
  owner = await mirrorAccount(hub);
});

async function byNode({ path, headers }: Call): Promise<Answer> {
  const sent = request(new URL(path, hub.url), {
    method: 'POST',
    agent: false,
    headers: { 'User-Agent': 'test', ...headers },
  });
  sent.end(BODY);
  const [answer] = await once(sent, 'response');
  return { status: answer.statusCode, body: await text(answer) };
}

/** Gives the body to a command, which prints lines. */
async function byCommand(command: string, args: readonly string[]): Promise<string[]> {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.on('error', () => undefined);
  child.stdin.end(BODY);
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  expect(errors, `${command} failed`).toBe('');
  const lines = out.split('\n').filter((line) => line !== '');
  return lines;
}

const repeated = async <Result>(send: () => Promise<Result>): Promise<Result[]> => {
  const results: Result[] = [];
  for (let round = 0; round < TIMES; round += 1) results.push(await send());
  return results;
};

const byCurl = async ({ path, headers }: Call) => {
  const sent = { ...headers, Connection: 'close', 'User-Agent': 'test', Expect: '' };
  const fields = Object.entries(sent).flatMap(([name, value]) => ['--header', `${name}: ${value}`]);
  const command = ['--silent', '--show-error', '--data-binary', '@-', '--write-out', '\n%{http_code}', ...fields];
  const answers = await repeated(() => byCommand('curl', [...command, `${hub.url}${path}`]));
  return answers.map(([body = '', status]) => ({ status: Number(status), body }));
};

/** Always asks to close the connection. */
const URLLIB = `
import json, sys, urllib.error, urllib.request
call = urllib.request.Request(sys.argv[1], sys.stdin.buffer.read(), json.loads(sys.argv[2]), method='POST')
for _ in range(int(sys.argv[3])):
    try:
        answer = urllib.request.urlopen(call)
    except urllib.error.HTTPError as refusal:
        answer = refusal
    print(answer.status, answer.read().decode())
`;

const byPython = async ({ path, headers }: Call) => {
  const fields = JSON.stringify({ 'User-Agent': 'test', ...headers });
  const lines = await byCommand('python3', ['-c', URLLIB, `${hub.url}${path}`, fields, String(TIMES)]);
  return lines.map((line) => ({ status: Number(line.slice(0, 3)), body: line.slice(4) }));
};

const isInstalled = (command: string) => spawnSync(command, ['--version']).status === 0;

const clients = [
  ['node', true, (call: Call) => repeated(() => byNode(call))],
  ['curl', isInstalled('curl'), byCurl],
  ['python', isInstalled('python3'), byPython],
] as const;

const refusals: readonly (readonly [name: string, status: number, call: () => Call])[] = [
  ['401', 401, () => ({ path: '/api/cert_mirror', headers: { 'Content-Type': 'application/octet-stream' } })],
  [
    '413',
    413,
    () => ({
      path: '/api/cert_mirror/credentials',
      headers: { Authorization: `McpKey ${owner.mcp_key}`, 'Content-Type': 'application/json' },
    }),
  ],
  [
    'a refusal by field',
    422,
    () => ({
      path: '/api/cert_mirror',
      headers: { ...uploadHeaders(owner, randomCommit(), BODY), 'X-Commit-Sha': 'not-a-commit' },
    }),
  ],
];

for (const [client, isHere, send] of clients) {
  for (const [name, status, call] of refusals) {
    test.skipIf(!isHere)(`NET-7: ${client} reads ${name} after a long body, though it asked to close`, async () => {
      const answers = await send(call());
      expect(answers.map((answer) => answer.status)).toEqual(Array(TIMES).fill(status));
      for (const { body } of answers) expect(JSON.parse(body).error).toMatch(/\w+ \w+/);
    });
  }
}

test('NET-7: a client that pauses in a refused body gets the answer, and nobody waits for the rest', async () => {
  const socket = connect(Number(new URL(hub.url).port), '127.0.0.1');
  const start = ['POST /api/cert_mirror HTTP/1.1', 'Host: localhost', 'User-Agent: test', 'Connection: close'];
  socket.write(`${start.join('\r\n')}\r\nContent-Length: ${BODY.length}\r\n\r\nonly this`);
  const answer = await text(socket);
  expect(answer).toContain('HTTP/1.1 401 ');
  expect(answer).toContain('"error"');
});
