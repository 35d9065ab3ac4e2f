/** Resources, prompts and completion, over JSON-RPC and with the official clients. */
import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { beforeAll, expect, test } from 'vitest';
import {
  callTool,
  GATEWAY,
  modern,
  post,
  type RpcReply,
  replyOf,
  request,
  structured,
  withKey,
} from '../support/gateway.ts';
import { type Device, newDevice, sha256Of } from '../support/sync.ts';
import { useHub } from '../support/use-hub.ts';

const hub = useHub();
let owner: Device;
let vault: string;

beforeAll(async () => {
  owner = await newDevice(hub, 'laptop');
  await owner.push('notes/Grün & gut.md', '# Hello\n');
  await owner.push('bin', 'AP8B', { encoding: 'base64', sha256: sha256Of(new Uint8Array([0, 255, 1])) });
  const { key } = owner;
  const doc = (title: string, category: string, content: string) =>
    callTool(hub, 'create_dev_doc', { title, category, content, create_category: true }, key);
  await doc('CLAUDE.md', 'claude', 'Small commits.');
  await doc('review', 'commands', 'Review $ARGUMENTS with care.');
  await doc('skill one', 'skills', 'Do it so.');
  await callTool(hub, 'handoff_save', { project: 'cairn', topic: 'release', content: 'Next: tag it.' }, key);
  const today = new Date().toISOString().slice(0, 10);
  await callTool(hub, 'create_task', { content: 'call the printer', due_date: today }, key);
  const { vaults } = await structured<{ vaults: { vault_id: string }[] }>(hub, 'vault_list', {}, key);
  vault = vaults[0]?.vault_id ?? '';
});

const ask = async (method: string, params: object = {}, key: string | undefined = owner.key): Promise<RpcReply> =>
  replyOf(await post(hub, request(1, method, params), withKey(key)));
/** The members of a result; none where there is no result. */
const membersOf = (result: RpcReply['result']): Record<string, unknown> => result ?? {};
const read = async (uri: string) => (await ask('resources/read', { uri })).result?.['contents'];

test('[MCP-6] resources are listed with templates, and each is read as the tool of that thing shows it', async () => {
  const { result } = await ask('resources/list');
  const uris = (membersOf(result)['resources'] as { uri: string }[]).map(({ uri }) => uri);
  expect(uris).toEqual(
    expect.arrayContaining([
      'cairn://tasks/today',
      'cairn://docs/claude/CLAUDE.md',
      'cairn://docs/skills/skill%20one',
      'cairn://handoffs/cairn/release',
      `cairn://vaults/${vault}/notes/Gr%C3%BCn%20%26%20gut.md`,
    ]),
  );
  for (const uri of uris) expect([uri, await read(uri)]).toEqual([uri, [expect.objectContaining({ uri })]]);
  expect(await read('cairn://docs/claude/CLAUDE.md')).toEqual([
    { uri: 'cairn://docs/claude/CLAUDE.md', mimeType: 'text/markdown', text: 'Small commits.' },
  ]);
  expect(await read('cairn://handoffs/cairn/release')).toMatchObject([{ text: 'Next: tag it.' }]);
  expect(await read(`cairn://vaults/${vault}/notes/Grün & gut.md`)).toMatchObject([{ text: '# Hello\n' }]);
  expect(await read(`cairn://vaults/${vault}/bin`)).toMatchObject([{ blob: 'AP8B' }]);
  expect(await read('cairn://tasks/today')).toMatchObject([{ text: expect.stringContaining('call the printer') }]);
  const templates = (await ask('resources/templates/list')).result?.['resourceTemplates'] as { uriTemplate: string }[];
  expect(templates.map(({ uriTemplate }) => uriTemplate)).toEqual([
    'cairn://docs/{category}/{title}',
    'cairn://handoffs/{project}/{topic}',
    'cairn://papers/{id}',
    'cairn://vaults/{vault}/{+path}',
  ]);
});

test('[MCP-6] a list comes in pages that lose and repeat nothing', async () => {
  const device = await newDevice(hub, 'phone');
  const names = Array.from({ length: 230 }, (_, n) => `f/${n}.md`);
  await Promise.all(names.map((name) => device.push(name, name)));
  await callTool(hub, 'create_dev_doc', { title: 'One', content: 'x' }, device.key);
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const { result } = await ask('resources/list', cursor === undefined ? {} : { cursor }, device.key);
    found.push(...(membersOf(result)['resources'] as { name: string }[]).map(({ name }) => name));
    cursor = result?.['nextCursor'] as string | undefined;
  } while (cursor !== undefined);
  expect(found.sort()).toEqual(['Tasks of today', 'docs/One', ...names].sort());
});

const absent = [
  'cairn://docs/claude/none',
  'cairn://docs/claude',
  'cairn://handoffs/cairn/none',
  'cairn://papers/1',
  'cairn://papers/x',
  'cairn://vaults/v_none/a',
  'cairn://vaults/../a',
  'cairn://docs/%ZZ/a',
  'file:///etc/passwd',
  '',
];

test('[MCP-6] what is not there is -32002, and -32602 in 2026-07-28; so is what another account has', async () => {
  for (const uri of absent) expect([uri, (await ask('resources/read', { uri })).error?.code]).toEqual([uri, -32002]);
  const other = await newDevice(hub, 'other');
  const uri = `cairn://vaults/${vault}/bin`;
  expect((await ask('resources/read', { uri }, other.key)).error).toMatchObject({ code: -32002, data: { uri } });
  const { body, headers } = modern('resources/read', { uri: 'cairn://docs/claude/none' });
  const named = { ...headers, 'Mcp-Name': 'cairn://docs/claude/none', ...withKey(owner.key) };
  expect(replyOf(await post(hub, body, named)).error).toMatchObject({ code: -32602 });
  for (const wrong of [undefined, 5]) expect((await ask('resources/read', { uri: wrong })).error?.code).toBe(-32602);
  for (const cursor of ['x', 5, '', 'WzksbnVsbF0']) {
    expect([cursor, (await ask('resources/list', { cursor })).error?.code]).toEqual([cursor, -32602]);
  }
});

test('[MCP-6] without a credential lists are empty and a read is 401', async () => {
  const bare = (method: string, params: object = {}) => post(hub, request(1, method, params));
  expect(replyOf(await bare('resources/list')).result).toMatchObject({ resources: [] });
  expect(replyOf(await bare('prompts/list')).result).toMatchObject({ prompts: [] });
  for (const method of ['resources/read', 'prompts/get', 'completion/complete']) {
    const answer = await bare(method, { uri: 'cairn://docs/claude/CLAUDE.md', name: 'resume' });
    expect([method, answer.status, replyOf(answer).error?.code]).toEqual([method, 401, -32001]);
  }
});

test('[MCP-6] the variables of templates are completed', async () => {
  const complete = async (uri: string, name: string, value: string, known: object = {}) => {
    const params = { ref: { type: 'ref/resource', uri }, argument: { name, value }, context: { arguments: known } };
    const { result } = await ask('completion/complete', params);
    return (membersOf(result)['completion'] as { values: string[] }).values;
  };
  expect(await complete('cairn://docs/{category}/{title}', 'category', 'sk')).toEqual(['skills']);
  expect(await complete('cairn://docs/{category}/{title}', 'title', 'cl', { category: 'claude' })).toEqual([
    'CLAUDE.md',
  ]);
  expect(await complete('cairn://handoffs/{project}/{topic}', 'topic', '', { project: 'cairn' })).toEqual(['release']);
  expect(await complete('cairn://vaults/{vault}/{+path}', 'vault', 'v')).toEqual([vault]);
  expect(await complete('cairn://vaults/{vault}/{+path}', 'path', 'notes/', { vault })).toEqual([
    'notes/Grün & gut.md',
  ]);
  const ref = { type: 'ref/resource', uri: 'cairn://none/{a}' };
  expect((await ask('completion/complete', { ref, argument: { name: 'a', value: '' } })).error?.code).toBe(-32602);
});

test('[MCP-7] the prompts are there: resume, save, settle, and the docs of commands and skills', async () => {
  const { result } = await ask('prompts/list');
  const names = (membersOf(result)['prompts'] as { name: string }[]).map(({ name }) => name);
  expect(names.sort()).toEqual(['commands/review', 'resume', 'save_handoff', 'settle_conflicts', 'skills/skill one']);
  const say = async (name: string, args: object = {}) => {
    const { result: got } = await ask('prompts/get', { name, arguments: args });
    return (membersOf(got)['messages'] as { content: { text: string } }[])[0]?.content.text;
  };
  expect(await say('resume')).toContain('Next: tag it.');
  expect(await say('resume', { project: 'CAIRN', topic: 'Release' })).toContain('Next: tag it.');
  expect(await say('resume', { project: 'none' })).toContain('no such handoff');
  expect(await say('save_handoff', { project: 'cairn' })).toContain('"cairn"');
  expect(await say('settle_conflicts')).toContain('sync_pending_conflicts');
  expect(await say('commands/review', { arguments: 'PR $& 5' })).toBe('Review PR $& 5 with care.');
  expect(await say('skills/skill one', { arguments: 'now' })).toBe('Do it so.\n\nnow');
  expect((await ask('prompts/get', { name: 'claude/CLAUDE.md' })).error?.code).toBe(-32602);
});

test('[MCP-5, MCP-6, MCP-7] the official clients list, read and complete', async () => {
  const url = new URL(`${hub.url}${GATEWAY}`);
  const options = { requestInit: { headers: { Authorization: `McpKey ${owner.key}` } } };
  const v1 = new ClientV1({ name: 'test', version: '1' });
  await v1.connect(new TransportV1(url, options) as unknown as Parameters<typeof v1.connect>[0]);
  const uri = 'cairn://docs/claude/CLAUDE.md';
  expect((await v1.readResource({ uri })).contents).toMatchObject([{ text: 'Small commits.' }]);
  expect((await v1.listPrompts()).prompts.length).toBe(5);
  await v1.close();
  for (const mode of ['legacy', 'auto', { pin: '2026-07-28' }] as const) {
    const v2 = new ClientV2({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    await v2.connect(new TransportV2(url, options));
    expect((await v2.listResources()).resources.length).toBeGreaterThan(4);
    expect((await v2.listResourceTemplates()).resourceTemplates.length).toBe(4);
    expect((await v2.readResource({ uri })).contents).toMatchObject([{ text: 'Small commits.' }]);
    expect((await v2.getPrompt({ name: 'resume' })).messages.length).toBe(1);
    const ref = { type: 'ref/resource' as const, uri: 'cairn://docs/{category}/{title}' };
    const { completion } = await v2.complete({ ref, argument: { name: 'category', value: 'cl' } });
    expect(completion.values).toEqual(['claude']);
    await v2.close();
  }
});
