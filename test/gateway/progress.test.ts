/** Notices of progress on calls of the official clients, and the answers that come after them. */
import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { beforeAll, expect, test } from 'vitest';
import { limits } from '../../src/limits/service.ts';
import { GATEWAY, request, structured, toolRequest, withKey } from '../support/gateway.ts';
import { call } from '../support/http.ts';
import { type Account, account } from '../support/mirror.ts';
import { momentBetween } from '../support/moment.ts';
import { useHub } from '../support/use-hub.ts';

interface Note {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}
interface Result {
  readonly isError?: boolean;
  readonly content?: readonly { readonly text?: string }[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
}
type Calling = (name: string, args: object, onprogress: (note: Note) => void) => Promise<Result>;
type Connect = (door: string) => Promise<{ readonly call: Calling; readonly close: () => Promise<void> }>;

const hub = useHub();
let owner: Account;

beforeAll(async () => {
  owner = await account(hub);
});

const info = { name: 'test', version: '1' };
const target = (door: string) => new URL(`${hub.url}${door}`);
const options = () => ({ requestInit: { headers: { Authorization: `McpKey ${owner.mcp_key}` } } });

const connectV1: Connect = async (door) => {
  const client = new ClientV1(info);
  await client.connect(new TransportV1(target(door), options()) as unknown as Parameters<typeof client.connect>[0]);
  return {
    call: async (name, args, onprogress) =>
      (await client.callTool({ name, arguments: { ...args } }, undefined, { onprogress })) as Result,
    close: () => client.close(),
  };
};

const connectV2 =
  (mode: 'legacy' | 'auto'): Connect =>
  async (door) => {
    const client = new ClientV2(info, { versionNegotiation: { mode } });
    await client.connect(new TransportV2(target(door), options()));
    return {
      call: async (name, args, onprogress) =>
        (await client.callTool({ name, arguments: { ...args } }, { onprogress })) as Result,
      close: () => client.close(),
    };
  };

const CLIENTS: readonly [string, Connect][] = [
  ['SDK v1 (2025-11-25)', connectV1],
  ['SDK v2, legacy (2025-11-25)', connectV2('legacy')],
  ['SDK v2, auto (2026-07-28)', connectV2('auto')],
];

const rises = (notes: readonly Note[]) =>
  notes.every(({ progress }, index) => index === 0 || progress > (notes[index - 1]?.progress ?? 0));

test.each(CLIENTS)('[MCP-10] %s hears of the steps of a batch, and gets its answer', async (_name, connect) => {
  const client = await connect('/mcp');
  const notes: Note[] = [];
  const tasks = Array.from({ length: 40 }, (__, index) => ({ content: `Step ${index}` }));
  const added = await client.call('add_tasks', { tasks }, (note) => notes.push(note));
  expect(added.content?.[0]?.text).toContain('40 tasks added');
  expect(notes[0]).toMatchObject({ progress: 1, total: 40, message: 'tasks added' });
  expect(notes.at(-1)).toMatchObject({ progress: 40, total: 40 });
  expect(rises(notes)).toBe(true);
  // What is quick is not told of.
  const few: Note[] = [];
  await client.call('add_tasks', { tasks: tasks.slice(0, 2) }, (note) => few.push(note));
  expect(few).toEqual([]);
  await client.close();
});

test.each(CLIENTS)(
  '[MCP-10] %s hears that a call without steps still runs, and gets what it waited for',
  async (_name, connect) => {
    const client = await connect(GATEWAY);
    const { cursor } = await structured<{ cursor: string }>(hub, 'vault_connect_status', {}, owner.mcp_key);
    const path = `waited ${_name.replaceAll(/[^a-z0-9]/g, '')}.md`;
    const content = 'x'.repeat(limits.eventBytesWaitingMax * 2);
    const notes: Note[] = [];
    let isWritten: Promise<unknown> = Promise.resolve();
    const pulled = await client.call('sync_pull', { cursor, wait_seconds: 30 }, (note) => {
      if (notes.length === 0) isWritten = structured(hub, 'sync_push', { path, content }, owner.mcp_key);
      notes.push(note);
    });
    await isWritten;
    // Larger than what may wait for a slow reader of notices, and made while it is sent.
    const files = pulled.structuredContent?.['files'] as { path: string; content: string }[];
    expect(files.map((file) => [file.path, file.content.length])).toEqual([[path, content.length]]);
    expect(notes[0]).toMatchObject({ progress: 0.5, message: 'still working' });
    expect(rises(notes)).toBe(true);
    await client.close();
  },
);

test('[MCP-10] moving, removing and restoring a folder tell of their files; a refusal comes as one', async () => {
  const client = await connectV1('/mcp');
  const key = owner.mcp_key;
  const files = Array.from({ length: 12 }, (_, index) => ({ path: `told/${index}.md`, content: `${index}\n` }));
  const { results } = await structured<{ results: { stored_at: string }[] }>(hub, 'sync_push_many', { files }, key);
  const at = await momentBetween(Math.max(...results.map(({ stored_at: stored }) => Date.parse(stored))));
  const calls: [string, object, string][] = [
    ['move', { id: 'told/', to: 'moved' }, 'files moved'],
    ['remove', { ids: files.map(({ path }) => path.replace('told', 'moved')) }, 'things removed'],
    ['restore', { id: 'told/', at }, 'files restored'],
  ];
  for (const [name, args, message] of calls) {
    const notes: Note[] = [];
    const done = await client.call(name, args, (note) => notes.push(note));
    expect([name, done.isError]).toEqual([name, undefined]);
    expect([name, notes.at(-1)]).toEqual([name, expect.objectContaining({ progress: 12, total: 12, message })]);
  }
  const notes: Note[] = [];
  const refused = await client.call('move', { id: 'nowhere/', to: 'there' }, (note) => notes.push(note));
  expect([refused.isError, notes]).toEqual([true, []]);
  await client.close();
});

test('[MCP-10] without a token, or for a client that reads no events, the answer is one reply', async () => {
  const tasks = Array.from({ length: 12 }, (_, index) => ({ content: `Quiet ${index}` }));
  const message = toolRequest(1, 'add_tasks', { tasks });
  const { params } = message as { params: object };
  const withToken = request(1, 'tools/call', { ...params, _meta: { progressToken: 'p' } });
  const send = async (body: object, accept: string) =>
    await call(hub, '/mcp', {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'MCP-Protocol-Version': '2025-11-25',
        Accept: accept,
        ...withKey(owner.mcp_key),
      },
      body: JSON.stringify(body),
    });
  const both = 'application/json, text/event-stream';
  for (const [body, accept] of [
    [message, both],
    [withToken, 'application/json'],
    [request(1, 'tools/call', { ...params, _meta: { progressToken: {} } }), both],
  ] as const) {
    expect((await send(body, accept)).headers['content-type']).toContain('application/json');
  }
  const streamed = await send(withToken, both);
  expect(streamed.headers['content-type']).toContain('text/event-stream');
  const events = streamed.text.split('\n\n').flatMap((event) => /^data: (.*)$/m.exec(event)?.[1] ?? []);
  const told = events.map((event) => JSON.parse(event) as { id?: number; params?: { progressToken: string } });
  expect(told.at(-1)).toMatchObject({ id: 1, result: { content: [{ text: expect.stringContaining('12 tasks') }] } });
  expect(told.slice(0, -1).every(({ params: of }) => of?.progressToken === 'p')).toBe(true);
});
