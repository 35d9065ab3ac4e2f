/** The order of checks: a request with two faults is answered for the one that comes first. */
import { beforeAll, expect, test } from 'vitest';
import { limits } from '../../src/limits/service.ts';
import { type Account, type Credential, mirrorAccount, randomCommit, uploadHeaders } from '../support/mirror.ts';
import { head, type RawAnswer, rawClient } from '../support/raw.ts';
import { useHub } from '../support/use-hub.ts';

const hub = useHub();
let owner: Account & Credential;

beforeAll(async () => {
  owner = await mirrorAccount(hub);
});

const BODY = Buffer.from('a tarball, encrypted elsewhere');

/** A request as it goes over the wire; a fault spoils a part of it. */
interface Draft {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly extraLines: readonly string[];
  readonly body: string;
}

type Fault = readonly [name: string, status: number, spoil: (draft: Draft) => Draft];

const withHeader =
  (name: string, value: string) =>
  (draft: Draft): Draft => ({ ...draft, headers: { ...draft.headers, [name]: value } });

const framing: Fault = ['framing', 400, (draft) => ({ ...draft, extraLines: ['Host: other.test'] })];
const agent: Fault = ['agent', 403, withHeader('User-Agent', 'curl/8.5.0')];
const route: Fault = ['route', 404, (draft) => ({ ...draft, path: '/api/nowhere' })];
const method: Fault = ['method', 405, (draft) => ({ ...draft, method: 'PUT' })];
const credential: Fault = ['credential', 401, withHeader('Authorization', `McpKey ${'0'.repeat(64)}`)];
const length: Fault = [
  'length',
  411,
  (draft) => {
    const { 'Content-Length': _, ...headers } = draft.headers;
    return { ...draft, headers: { ...headers, 'Transfer-Encoding': 'chunked' }, body: '0\r\n\r\n' };
  },
];
const mediaType: Fault = ['media type', 415, withHeader('Content-Type', 'text/plain')];

/** POST /api/cert_mirror, in the order of NET-2. Length and size exclude each other, and so do route and method. */
const uploadFaults: readonly (readonly Fault[])[] = [
  [framing],
  [agent],
  [route, method],
  [credential],
  [
    length,
    ['size', 413, (draft) => ({ ...withHeader('Content-Length', String(limits.uploadBytesMax + 1))(draft), body: '' })],
  ],
  [mediaType],
  [['fields', 422, withHeader('X-Commit-Sha', 'not-a-commit')]],
];

/** POST /api/cert_mirror/credentials: a length is not asked for; what is not JSON comes before what it says. */
const jsonFaults: readonly (readonly Fault[])[] = [
  [framing],
  [agent],
  [route, method],
  [credential],
  [
    [
      'size',
      413,
      (draft) => ({ ...withHeader('Content-Length', String(limits.jsonBodyBytesMax + 1))(draft), body: '' }),
    ],
  ],
  [mediaType],
  [
    ['no JSON', 400, (draft) => ({ ...draft, body: draft.body.replaceAll('}', '-') })],
    ['fields', 422, (draft) => ({ ...draft, body: draft.body.replace('false', '12345') })],
  ],
];

function uploadDraft(): Draft {
  return {
    method: 'POST',
    path: '/api/cert_mirror',
    headers: {
      'User-Agent': 'cairn-test/1',
      ...uploadHeaders(owner, randomCommit(), BODY),
      'Content-Length': String(BODY.length),
    },
    extraLines: [],
    body: BODY.toString('latin1'),
  };
}

function jsonDraft(): Draft {
  const body = '{"rotate":false}';
  return {
    method: 'POST',
    path: '/api/cert_mirror/credentials',
    headers: {
      'User-Agent': 'cairn-test/1',
      Authorization: `McpKey ${owner.mcp_key}`,
      'Content-Type': 'application/json',
      'Content-Length': String(body.length),
    },
    extraLines: [],
    body,
  };
}

async function send(draft: Draft): Promise<RawAnswer> {
  const client = await rawClient(hub.port);
  const lines = Object.entries(draft.headers).map(([name, value]) => `${name}: ${value}`);
  client.send(
    head(`${draft.method} ${draft.path} HTTP/1.1`, [...lines, ...draft.extraLines], { agent: false }) + draft.body,
  );
  const [answer] = await client.received(1);
  client.vanish();
  if (answer === undefined) throw new Error('no answer');
  return answer;
}

/** Every two faults of different steps, the earlier first. */
function pairs(steps: readonly (readonly Fault[])[]): (readonly [string, string, Fault, Fault])[] {
  return steps.flatMap((step, at) =>
    step.flatMap((first) =>
      steps
        .slice(at + 1)
        .flat()
        .map((second) => [first[0], second[0], first, second] as const),
    ),
  );
}

test('[NET-2] a request without a fault passes every check', async () => {
  expect((await send(uploadDraft())).status).toBe(200);
  expect((await send(jsonDraft())).status).toBe(200);
});

test.each(uploadFaults.flat())('[NET-2] an upload with wrong %s alone is %i', async (_name, status, spoil) => {
  expect((await send(spoil(uploadDraft()))).status).toBe(status);
});

test.each(pairs(uploadFaults))('[NET-2] an upload: wrong %s is told before wrong %s', async (_a, _b, first, second) => {
  expect((await send(first[2](second[2](uploadDraft())))).status).toBe(first[1]);
  expect((await send(second[2](first[2](uploadDraft())))).status).toBe(first[1]);
});

test.each(jsonFaults.flat())('[NET-2] a JSON request with wrong %s alone is %i', async (_name, status, spoil) => {
  expect((await send(spoil(jsonDraft()))).status).toBe(status);
});

test.each(pairs(jsonFaults))('[NET-2] JSON: wrong %s is told before wrong %s', async (_a, _b, first, second) => {
  expect((await send(first[2](second[2](jsonDraft())))).status).toBe(first[1]);
});

test.each([
  ['/health', 'POST', ['GET', 'HEAD']],
  ['/ready', 'DELETE', ['GET', 'HEAD']],
  ['/api/cert_mirror', 'DELETE', ['GET', 'HEAD', 'POST']],
  ['/api/cert_mirror/latest', 'POST', ['GET', 'HEAD']],
  ['/api/cert_mirror/credentials', 'PUT', ['DELETE', 'GET', 'HEAD', 'POST']],
  ['/api/cert_mirror/credentials/rotation', 'GET', ['POST']],
  [`/api/cert_mirror/${'0'.repeat(40)}/download`, 'PUT', ['GET', 'HEAD']],
])('[NET-2] %s refuses %s with 405 and names what it allows', async (path, wrongMethod, allowed) => {
  const client = await rawClient(hub.port, { ofHead: wrongMethod === 'HEAD' });
  client.send(head(`${wrongMethod} ${path} HTTP/1.1`));
  const [answer] = await client.received(1);
  client.vanish();
  expect(answer?.status).toBe(405);
  expect(answer?.headers['allow']?.split(', ').sort()).toEqual(allowed);
});
