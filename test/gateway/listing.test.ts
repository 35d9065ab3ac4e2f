/** How a listing travels: as lines or as arrays, the same records over every door, and with a length that holds. */

import { connect } from 'node:net';
import { beforeAll, expect, test } from 'vitest';
import { pullLines, recordsOf } from '../documents/dev-docs/support.ts';
import {
  callTool,
  linesOf,
  mirrorTool,
  modern,
  NDJSON,
  post,
  repliesOf,
  replyOf,
  structuredOf,
  toolRequest,
  withKey,
} from '../support/gateway.ts';
import { account } from '../support/mirror.ts';
import { useHub } from '../support/use-hub.ts';

interface Pull {
  readonly docs: readonly Record<string, unknown>[];
  readonly deleted: readonly unknown[];
  readonly total_count: number;
  readonly total_size_bytes: number;
  readonly cursor: string;
  readonly has_more: boolean;
}

const MIB = 1024 * 1024;
const TEXTS = ['# Häuser\n\n\tund "Zitate" \\ 😀', '', 'line\r\nline\n', '\u2028\u0000'];
const hub = useHub({ loudest: 40 });
/** An account with a few small documents, and one with more than a mebibyte of them. */
let small: string;
let large: string;

async function create(key: string, title: string, content: string): Promise<void> {
  structuredOf(await callTool(hub, 'create_dev_doc', { title, content }, key));
}

beforeAll(async () => {
  small = (await account(hub)).mcp_key;
  large = (await account(hub)).mcp_key;
  for (const [index, text] of TEXTS.entries()) await create(small, `${index}.md`, text);
  for (let n = 0; n < 3; n += 1) await create(large, `${n}.md`, `${n}${'"line"\n'.repeat(80_000)}`);
});

test('[RPC-5] a listing that is asked for as lines has a first line, one for each record, a last one, and its length', async () => {
  const answer = await pullLines(hub, small, {}, 'seven');
  expect(answer.headers['content-type']).toBe(NDJSON);
  expect(answer.headers['content-length']).toBe(String(answer.bytes.length));
  const [start, ...rest] = recordsOf(answer);
  const end = rest.pop();
  const bytes = TEXTS.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const expected = { type: 'start', jsonrpc: '2.0', id: 'seven', tool: 'pull_dev_docs', total_count: 4 };
  expect(start).toEqual({ ...expected, total_size_bytes: bytes });
  expect(rest.map(({ type, content }) => [type, content])).toEqual(TEXTS.map((text) => ['doc', text]));
  expect(end).toEqual({ type: 'end', cursor: expect.any(String), has_more: false });
});

test('[RPC-5] as JSON it holds the same records as arrays of the structured result', async () => {
  const [, ...rest] = recordsOf(await pullLines(hub, small));
  const end = rest.pop();
  const answer = await post(hub, toolRequest(9, 'pull_dev_docs'), { ...withKey(small), Accept: 'application/json' });
  expect(answer.headers['content-length']).toBe(String(answer.bytes.length));
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(replyOf(answer)).toMatchObject({ jsonrpc: '2.0', id: 9, result: { content: [{ type: 'text' }] } });
  const { docs, deleted, total_count: count, cursor } = structuredOf<Pull>(replyOf(answer));
  expect([docs, deleted, count, cursor]).toEqual([rest, [], 4, end?.['cursor']]);
});

test('[RPC-5] an empty listing is empty arrays, and two lines', async () => {
  const { mcp_key: key } = await account(hub);
  const found = structuredOf<Pull>(await callTool(hub, 'pull_dev_docs', {}, key));
  expect(found).toMatchObject({ docs: [], deleted: [], total_count: 0, total_size_bytes: 0, has_more: false });
  expect(recordsOf(await pullLines(hub, key)).map(({ type }) => type)).toEqual(['start', 'end']);
});

test.each([
  [undefined, true],
  ['*/*', true],
  ['application/*;q=0.2, text/html', true],
  ['application/json, application/x-ndjson;q=0', false],
  ['application/json', false],
  ['application/json, text/event-stream', false],
])('[RPC-5, MCP-4] a large listing with Accept %s goes as lines unasked: %s', async (accept, asLines) => {
  const headers = { ...withKey(large), Accept: accept };
  const answers = [
    await post(hub, toolRequest(1, 'pull_dev_docs'), headers),
    await mirrorTool(hub, 'pull_dev_docs', {}, headers),
  ];
  for (const answer of answers) {
    expect(answer.bytes.length).toBeGreaterThan(MIB);
    expect(answer.headers['content-type']).toBe(asLines ? NDJSON : 'application/json; charset=utf-8');
    if (asLines) expect(recordsOf(answer)).toHaveLength(5);
    else answer.json();
  }
  const few = await post(hub, toolRequest(1, 'pull_dev_docs'), { ...withKey(small), Accept: accept });
  expect(few.headers['content-type']).toBe('application/json; charset=utf-8');
});

test('[MCP-4] an MCP client gets a large listing as one JSON result, unless it asks for lines', async () => {
  const { body, headers } = modern('tools/call', { name: 'pull_dev_docs', arguments: {} });
  for (const [message, version] of [
    [body, headers],
    [toolRequest(1, 'pull_dev_docs'), { 'MCP-Protocol-Version': '2025-11-25' }],
  ] as const) {
    const answer = await post(hub, message, { ...withKey(large), ...version, Accept: '*/*' });
    expect(structuredOf<Pull>(replyOf(answer)).docs).toHaveLength(3);
    const asked = await post(hub, message, { ...withKey(large), ...version, Accept: `application/json, ${NDJSON}` });
    expect(recordsOf(asked)).toHaveLength(5);
  }
  const { result } = replyOf(await post(hub, body, { ...withKey(large), ...headers }));
  expect(result).toMatchObject({ resultType: 'complete', _meta: expect.any(Object), content: [{ type: 'text' }] });
});

test('[RPC-5, TOOL-2] the tool mirror gives the same records in both forms', async () => {
  const json = await mirrorTool(hub, 'pull_dev_docs', {}, withKey(small));
  const { docs, cursor } = json.json() as unknown as Pull;
  expect(docs.map(({ content }) => content)).toEqual(TEXTS);
  const [start, ...rest] = recordsOf(await mirrorTool(hub, 'pull_dev_docs', {}, { ...withKey(small), Accept: NDJSON }));
  expect(start).toMatchObject({ id: null, tool: 'pull_dev_docs', total_count: 4 });
  expect(rest.slice(0, -1)).toEqual(docs);
  expect(rest.at(-1)).toMatchObject({ type: 'end', cursor });
});

test('[RPC-4, RPC-5] listings in a batch are whole responses, in an array or one per line', async () => {
  const batch = [
    toolRequest(1, 'pull_dev_docs'),
    toolRequest(2, 'list_tasks'),
    toolRequest(3, 'pull_dev_docs', { category: 'claude' }),
    toolRequest(4, 'no_such_tool'),
  ];
  const array = await post(hub, batch, withKey(small));
  const lines = await post(hub, batch, { ...withKey(small), Accept: NDJSON });
  for (const replies of [repliesOf(array), linesOf(lines)]) {
    const byId = new Map(replies.map((reply) => [reply.id, reply]));
    expect(structuredOf<Pull>(byId.get(1)).docs.map(({ content }) => content)).toEqual(TEXTS);
    expect(structuredOf(byId.get(2))).toMatchObject({ tasks: [] });
    expect(structuredOf<Pull>(byId.get(3)).docs).toEqual([]);
    expect(byId.get(4)?.error?.code).toBe(-32602);
  }
});

/** A pull whose reader has not read anything yet; `whole` reads what comes until the connection ends. */
function slowPull(key: string) {
  const body = JSON.stringify(toolRequest(1, 'pull_dev_docs'));
  const socket = connect(hub.port, '127.0.0.1');
  socket.write(
    `POST /api/mcp HTTP/1.1\r\nHost: cairn\r\nUser-Agent: t/1\r\nAuthorization: McpKey ${key}\r\nConnection: close\r\n` +
      `Accept: ${NDJSON}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  return {
    socket,
    whole: async (): Promise<{ readonly head: string; readonly sent: Buffer }> => {
      const parts: Buffer[] = [];
      for await (const part of socket) parts.push(part as Buffer);
      const all = Buffer.concat(parts);
      const head = all.subarray(0, all.indexOf('\r\n\r\n')).toString();
      return { head, sent: all.subarray(head.length + 4) };
    },
  };
}

test('[RPC-5, NET-7] a reader that stops and goes on gets the snapshot that was promised, whatever is written meanwhile', async () => {
  const { mcp_key: key } = await account(hub);
  const text = (n: number) => `${n} ${'x'.repeat(MIB - 10)}`;
  for (let n = 0; n < 12; n += 1) await create(key, `${n}`, text(n));
  const { socket, whole } = slowPull(key);
  await new Promise((resolve) => socket.once('readable', resolve));
  for (let n = 0; n < 3; n += 1) await create(key, `new ${n}`, text(n));
  const { head, sent } = await whole();
  expect(head).toContain(`Content-Length: ${sent.length}`);
  const lines = sent.toString().trimEnd().split('\n');
  const contents = lines.slice(1, -1).map((line) => (JSON.parse(line) as { content: string }).content);
  expect(contents.map((content) => content.length)).toEqual(Array.from({ length: 12 }, (_, n) => text(n).length));
  const { cursor } = JSON.parse(lines.at(-1) ?? '') as { cursor: string };
  const rest = recordsOf(await pullLines(hub, key, { cursor })).slice(1, -1);
  expect(rest.map(({ title }) => title)).toEqual(['new 0', 'new 1', 'new 2']);
});

test('[RPC-5] a version that goes while it is sent breaks the answer off, which its length shows, and a new pull works', async () => {
  const { mcp_key: key } = await account(hub);
  const text = (n: number) => `${n} ${'x'.repeat(MIB - 10)}`;
  for (let n = 0; n < 12; n += 1) await create(key, `${n}`, text(n));
  const { socket, whole } = slowPull(key);
  await new Promise((resolve) => socket.once('readable', resolve));
  for (let n = 0; n < 51; n += 1) {
    structuredOf(await callTool(hub, 'update_dev_doc', { id: 12, content: `${n}` }, key));
  }
  const { head, sent } = await whole();
  const promised = Number(/Content-Length: (\d+)/.exec(head)?.[1]);
  expect(sent.length).toBeLessThan(promised);
  const lines = recordsOf(await pullLines(hub, key));
  expect(lines.at(-2)).toMatchObject({ id: 12, content: '50', version: 52 });
});
