/**
 * The loads by which one account, or strangers, could slow everybody else down. Each is a number of connections, and
 * each connection sends its next request when the last one was answered.
 */
import { randomBytes } from 'node:crypto';
import { PASSWORD, toolRequest } from '../../test/support/gateway.ts';
import { type Credential, randomCommit, uploadHeaders } from '../../test/support/mirror.ts';

/** What one hub holds for the loads. */
export interface Attacked {
  readonly url: string;
  readonly key: string;
  /** Keys of the same account; empty unless the load needs them. */
  readonly keys: readonly string[];
  readonly credential: Credential;
  readonly cookie: string;
  readonly vault: string;
  /** A vault whose files are deleted and restored, and a time at which it had all of them. */
  readonly restored: { readonly vault: string; readonly at: string };
}

export interface Sent {
  readonly path: string;
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** Sends a request and resolves with the text of its answer. */
export type Send = (sent: Sent) => Promise<string>;

/** What one connection does again and again. `at`: its number. */
type Lane = (hub: Attacked, at: number) => (send: Send) => Promise<unknown>;

export interface Load {
  readonly connections: number;
  readonly lane: Lane;
  /** The hub has its default limits. Otherwise it has none, as if each caller had many keys and addresses. */
  readonly isLimited?: true;
}

const KiB = 1024;
const MiB = 1024 * KiB;
const JSON_TYPE = { 'Content-Type': 'application/json', Accept: 'application/json' };
const LINES = 'application/x-ndjson';

/** The paths of the files that `fill.ts` stores for the loads. */
export const FILES = {
  compared: 'worst/compared.txt',
  shuffled: 'worst/shuffled.txt',
  letters: 'worst/letters.txt',
  merged: 'worst/merged.txt',
  markdown: Array.from({ length: 4 }, (_, at) => `worst/text-${at}.md`),
} as const;

/** Lines in another order: every line is found in the other text, and none at its place. */
export function shuffledLines(count: number, step: number): string {
  return Array.from({ length: count }, (_, at) => `line ${(at * step) % count} of it\n`).join('');
}

/** Lines of one letter: nearly every line is equal to many others. */
export function letterLines(bytes: number, seed: number): string {
  let state = seed;
  const letter = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return String.fromCharCode(97 + ((state >>> 16) % 26));
  };
  return Array.from({ length: bytes / 2 }, () => `${letter()}\n`).join('');
}

/** A text of which every line needs work to escape and to compare. */
export function quotedLines(bytes: number, seed: number): string {
  const lines: string[] = [];
  for (let at = 0, size = 0; size < bytes; at += 1) {
    const line = `"${((at * seed) % 9973).toString(36)}\\\n`;
    size += line.length;
    lines.push(line);
  }
  return lines.join('');
}

const addressOf = (at: number) => ({ 'X-Forwarded-For': `198.18.${at}.1` });

function posted(hub: Attacked, body: unknown, headers: Readonly<Record<string, string>> = {}): Sent {
  const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const own = { Authorization: `McpKey ${hub.key}`, ...JSON_TYPE, ...headers };
  return { path: '/api/mcp', method: 'POST', headers: own, body: text };
}

/** Sends the same request each time. */
const always =
  (of: (hub: Attacked, at: number) => Sent): Lane =>
  (hub, at) => {
    const sent = of(hub, at);
    return (send) => send(sent);
  };

const tool = (name: string, args: (at: number) => object): Lane =>
  always((hub, at) => posted(hub, toolRequest(1, name, args(at))));

const page = (path: (hub: Attacked, at: number) => string): Lane =>
  always((hub, at) => ({ path: path(hub, at), headers: { Cookie: hub.cookie } }));

const strange = (path: (at: number) => string): Lane => always((_, at) => ({ path: path(at), headers: addressOf(at) }));

function upload(bytes: number): Lane {
  return ({ credential }) => {
    const body = randomBytes(bytes);
    return (send) => {
      body.writeUInt32LE((body.readUInt32LE(0) + 1) >>> 0, 0);
      const headers = uploadHeaders(credential, randomCommit(), body);
      return send({ path: '/api/cert_mirror', method: 'POST', headers, body });
    };
  };
}

/** Deletes all files of a folder by restoring a time before it had any, then restores them, 200 files a call. */
const restoreFolder: Lane = (hub) => async (send) => {
  for (const at of ['2020-01-01T00:00:00Z', hub.restored.at]) {
    let cursor: string | undefined;
    do {
      const args = { at, folder: 'notes', vault_id: hub.restored.vault, cursor };
      const answer = await send(posted(hub, toolRequest(1, 'sync_restore_folder', args)));
      const { result } = JSON.parse(answer) as { result?: { structuredContent: { cursor: string | null } } };
      cursor = result?.structuredContent.cursor ?? undefined;
    } while (cursor !== undefined);
  }
};

const large = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', note: 'x'.repeat(15 * MiB) });
const values = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: { a: Array(99_990).fill(1) } });
const objects = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: { a: Array(49_000).fill({}) } });
const glob = `**/${'*a'.repeat(90)}b`;
const batch = (name: string, args: object) => Array.from({ length: 100 }, (_, id) => toolRequest(id, name, args));
const signIn = (name: string, at: number) =>
  toolRequest(1, name, { email: `${randomBytes(8).toString('hex')}@example.org`, password: `${PASSWORD} ${at}` });

const stranger = (hub: Attacked, at: number, body: unknown): Sent => {
  const { Authorization: _, ...headers } = posted(hub, body, addressOf(at)).headers as Record<string, string>;
  return { ...posted(hub, body), headers };
};

const client = JSON.stringify({ redirect_uris: ['https://client.example.org/back'], client_name: 'A client' });

export const LOADS: Readonly<Record<string, Load>> = {
  'nothing (control)': { connections: 0, lane: () => async () => undefined },
  'JSON of 15 MiB': { connections: 8, lane: always((hub) => posted(hub, large)) },
  'JSON of 15 MiB from strangers': { connections: 10, lane: always((hub, at) => stranger(hub, at, large)) },
  'JSON of 100,000 values': { connections: 8, lane: always((hub) => posted(hub, values)) },
  'JSON of 49,000 objects': { connections: 8, lane: always((hub) => posted(hub, objects)) },
  'batches of 100 list_tasks': { connections: 8, lane: always((hub) => posted(hub, batch('list_tasks', {}))) },
  'worst globs': { connections: 16, lane: tool('sync_list', () => ({ glob })) },
  'initial pulls of all files': {
    connections: 200,
    lane: always((hub) => posted(hub, toolRequest(1, 'sync_pull', { initial: true }), { Accept: LINES })),
  },
  'uploads of 50 MiB': { connections: 8, lane: upload(50 * MiB) },
  'uploads of 64 KiB': { connections: 32, lane: upload(64 * KiB) },
  'restores of a folder': { connections: 1, lane: restoreFolder },
  'sync_diff of shuffled lines': {
    connections: 16,
    lane: tool('sync_diff', () => ({ path: FILES.shuffled, content: shuffledLines(19_000, 7919) })),
  },
  'sync_diff of one-letter lines': {
    connections: 8,
    lane: tool('sync_diff', (at) => ({ path: FILES.letters, content: letterLines(500_000, at + 2) })),
  },
  'sync_merge without a base': {
    connections: 8,
    lane: tool('sync_merge', () => ({ path: FILES.merged, content: quotedLines(115_000, 7) })),
  },
  'wrong sign-ins': {
    connections: 60,
    lane: (hub, at) => (send) => send(stranger(hub, at, signIn('login_and_get_key', at))),
  },
  'sign-ups': {
    connections: 60,
    lane: (hub, at) => (send) => send(stranger(hub, at, signIn('signup_and_get_key', at))),
  },
  'registrations of clients': {
    connections: 64,
    lane: always((_, at) => ({
      path: '/oauth/register',
      method: 'POST',
      headers: { ...JSON_TYPE, ...addressOf(at) },
      body: client,
    })),
  },
  'requests of devices': {
    connections: 64,
    lane: always((_, at) => ({
      path: '/oauth/device_authorization',
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...addressOf(at) },
      body: 'client_id=a-tool&scope=mcp',
    })),
  },
  'pages without cookies': { connections: 64, lane: strange(() => '/signin') },
  'searches of the help': {
    connections: 32,
    lane: strange((at) => `/help?q=${['sync', 'key', 'backup', 'file'][at % 4]}`),
  },
  'openapi.json': { connections: 64, lane: strange(() => '/api/mcp/openapi.json') },
  'comparing pages': { connections: 16, lane: page(({ vault }) => `/vaults/${vault}/changes?path=${FILES.compared}`) },
  'Markdown of 250 KiB': {
    connections: 16,
    lane: page(({ vault }, at) => `/vaults/${vault}/file?path=${FILES.markdown[at % 4]}`),
  },
  'searches on the page': { connections: 16, lane: page((_, at) => `/search?q=nothing${at}`) },
  'folders as tar': { connections: 8, lane: page(({ vault }) => `/vaults/${vault}/tar?folder=notes`) },
  'fifty keys of one account': {
    connections: 100,
    isLimited: true,
    lane: (hub, at) => (send) => {
      const key = hub.keys[at % hub.keys.length];
      return send(
        posted(hub, at % 2 === 0 ? values : toolRequest(1, 'create_task', { content: 'x' }), {
          Authorization: `McpKey ${key}`,
        }),
      );
    },
  },
};

/** Keys of one account. */
export const KEYS = 47;
