/** What stands in the text of a result: some clients show the model nothing else. */
import { beforeAll, expect, test } from 'vitest';
import {
  callTool,
  type ListedTool,
  listTools,
  post,
  replyOf,
  textOf,
  toolRequest,
  withKey,
} from '../support/gateway.ts';
import { account } from '../support/mirror.ts';
import { type Device, newDevice, sha256Of } from '../support/sync.ts';
import { eachExample } from '../support/tool-examples.ts';
import { useHub } from '../support/use-hub.ts';

const KIB = 1024;
const hub = useHub();
let laptop: Device;

beforeAll(async () => {
  laptop = await newDevice(hub, 'laptop');
});

/** An MCP client, which gets no lines that it did not ask for. */
const told = async (name: string, args: object) => {
  const headers = { ...withKey(laptop.key), 'MCP-Protocol-Version': '2025-11-25' };
  return textOf(replyOf(await post(hub, toolRequest(1, name, args), headers)));
};

test('[RPC-8] the content of a file stands in the text up to 64 KiB, whatever its characters', async () => {
  const contents = { 'a.md': '# A\n"quoted" \\ line\n', 'b.md': '😀'.repeat(10_000), 'empty.md': '' };
  for (const [path, content] of Object.entries(contents)) {
    await laptop.push(path, content);
    expect(await told('sync_pull', { path })).toContain(`${sha256Of(content)}, #`);
    expect(await told('sync_pull', { path })).toMatch(/:\n/);
    expect((await told('sync_pull', { path })).endsWith(`:\n${content}`)).toBe(true);
  }
  const many = await told('sync_pull', { paths: Object.keys(contents) });
  for (const content of Object.values(contents)) expect(many).toContain(`:\n${content}`);
});

test.each([['x'], ['\n'], ['é'], ['😀'], ['\u0001']])(
  '[RPC-8] of a large file of %j the text has the beginning, then a sentence that says where the rest is',
  async (unit) => {
    const content = unit.repeat(200_000);
    await laptop.push('large.txt', content);
    const text = await told('sync_pull', { path: 'large.txt' });
    expect(Buffer.byteLength(text)).toBeLessThan(66 * KIB);
    expect(text.split(unit).length).toBeGreaterThan(15_000);
    expect(text).not.toContain('\ufffd');
    expect(text).toMatch(/the text ends here; read with id cairn:\/\/vaults\/.*\/large\.txt to continue$/);
  },
);

test('[RPC-8] lists name paths, hashes and the cursor of the next call', async () => {
  for (let n = 0; n < 30; n += 1) await laptop.push(`list/${n}.md`, `n${n}`);
  const listed = await told('sync_list', { prefix: 'list/', limit: 20 });
  expect(listed).toContain(`list/0.md 2 bytes, sha256 ${sha256Of('n0')}`);
  const cursor = /cursor "(\S+)":/.exec(listed)?.[1];
  const rest = await told('sync_list', { prefix: 'list/', limit: 20, cursor });
  expect([...listed.matchAll(/^list\//gm), ...rest.matchAll(/^list\//gm)]).toHaveLength(30);
  const pulled = await told('sync_pull', { initial: true, limit: 5 });
  const next = /cursor (\S+); there is more/.exec(pulled)?.[1];
  expect(await told('sync_pull', { cursor: next, limit: 5 })).toContain('--- list/');
  const status = await told('vault_sync', { action: 'status', manifest: {}, prefix: 'list/' });
  expect(status).toContain(`pull list/7.md (sha256 ${sha256Of('n7')})`);
});

test('[RPC-8] a diff and a merge stand in the text, with what to push next', async () => {
  await laptop.push('merge.md', 'one\ntwo\nthree\n');
  const diff = await told('sync_diff', { path: 'merge.md', content: 'one\n2\nthree\n' });
  expect(diff).toContain('-two\n+2\n');
  const merge = await told('sync_merge', { path: 'merge.md', content: 'one\n2\nthree\n' });
  expect(merge).toContain('2\n');
  expect(merge).toContain(`base_sha "${sha256Of('one\ntwo\nthree\n')}"`);
});

test('[RPC-8] pulled dev docs stand in the text with their contents', async () => {
  await callTool(hub, 'create_dev_doc', { title: 'Rules', content: 'Small commits.', category: 'claude' }, laptop.key);
  const text = await told('pull_dev_docs', {});
  expect(text).toMatch(
    /^1 dev doc with 14 bytes; cursor \S+\n--- #1 claude\/Rules, markdown, version 1, 14 bytes:\nSmall commits\.\n?$/,
  );
});

/** Members of results that a later call needs under another name. */
const HANDED_ON = ['sha256', 'hlc', 'current_version', 'mcp_key', 'account_key'];

/** Tools that tell which vaults there are. Everywhere else a vault is the caller's argument, or the default. */
const NAME_VAULTS = ['vault_list', 'vault_create', 'vault_clone', 'vault_connect_status'];
/**
 * Left out of some texts: a push names `base_sha`, so it needs no clock and no device; an encoding and a status are told
 * when they are not the usual ones; the rest was an argument of the call itself.
 */
const NOT_NEEDED = ['hlc', 'device_id', 'encoding', 'status', 'kanban_status', 'content_type', 'client'];

function isNeeded(tool: string, member: string): boolean {
  if (member === 'vault_id') return NAME_VAULTS.includes(tool);
  if (member === 'name') return tool !== 'login_and_get_key';
  // A text with conflicts is edited before it is pushed.
  if (member === 'sha256' && tool === 'sync_merge') return false;
  // Models name versions by numbers; detail: true shows the rest.
  if (['read', 'list', 'history'].includes(tool) && ['sha256', 'version'].includes(member)) return false;
  // The caller of remember has just said it.
  if (tool === 'remember' && ['fact', 'about'].includes(member)) return false;
  return !NOT_NEEDED.includes(member);
}

/** The values of a result that are called as an argument of some tool is, or handed on as one. */
function handedOn(value: unknown, names: ReadonlySet<string>, name = ''): [name: string, value: string][] {
  if (Array.isArray(value)) return value.flatMap((item) => handedOn(item, names, name));
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([member, inner]) => handedOn(inner, names, member));
  }
  const isValue = typeof value === 'string' || typeof value === 'number';
  return isValue && names.has(name) ? [[name, String(value)]] : [];
}

test('[RPC-8] the text of every example has each value that a next call can need', async () => {
  const { mcp_key: key } = await account(hub);
  const headers = { ...withKey(key), 'MCP-Protocol-Version': '2025-11-25' };
  const names = new Set([...HANDED_ON, ...(await listTools(hub)).flatMap(argumentsOf)]);
  const missing: string[] = [];
  await eachExample(hub, async (name, args) => {
    const reply = replyOf(await post(hub, toolRequest(1, name, args), headers));
    const { structuredContent } = reply.result as { structuredContent: unknown };
    const text = textOf(reply);
    for (const [member, value] of handedOn(structuredContent, names)) {
      if (isNeeded(name, member) && !text.includes(value))
        missing.push(`${name}: ${member} ${value} is not in ${JSON.stringify(text)}`);
    }
    return structuredContent;
  });
  expect(missing).toEqual([]);
});

const argumentsOf = ({ inputSchema }: ListedTool): string[] => Object.keys(inputSchema['properties'] as object);
