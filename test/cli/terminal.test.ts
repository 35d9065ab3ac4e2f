/** Escape sequences of others never reach a terminal: from tasks, paths, contents, names and errors of a hub. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { jsonLine, printed } from '../../src/client/shown.ts';
import { mirrorTool } from '../support/gateway.ts';
import { type Hub, runCairn, startHub } from '../support/hub.ts';
import { account } from '../support/mirror.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** A title of the window, a colour, a clipboard write, C1 forms of both, a carriage return, a bell, bidi controls. */
const EVIL =
  '\u001b]0;owned\u0007 \u001b[31mred \u001b]52;c;aGk=\u0007 \u009b2J \u009d0;x\u009c \rover \u0008 \u202egnp.exe\u202c \u2066x\u2069 \u061c';
/** What acts on a terminal or turns text around; line ends and tabs do not. */
const ACTS = /(?![\n\t])\p{Cc}|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

let hub: Hub;
let key: string;
const hostile = createServer((request, response) => {
  request.resume();
  const isRpc = request.url?.includes('/mcp') === true;
  response.statusCode = isRpc ? 200 : 418;
  response.setHeader('Content-Type', 'application/json');
  const error = isRpc ? { code: -32000, message: EVIL, data: { field: EVIL } } : EVIL;
  response.end(JSON.stringify(isRpc ? { jsonrpc: '2.0', id: 1, error } : { error, error_description: EVIL }));
});

beforeAll(async () => {
  await new Promise<void>((resolve) => hostile.listen(0, '127.0.0.1', resolve));
  hub = await startHub();
  key = (await account(hub)).mcp_key;
});

afterAll(async () => {
  await hub.stop();
  await new Promise((resolve) => hostile.close(resolve));
});

const settings = (url: string) => ({ CAIRN_SERVER: url, CAIRN_KEY: key, XDG_CONFIG_HOME: temporaryFolder() });

/** What a command writes, when it wrote something that does not act on a terminal. */
async function told(url: string, ...args: string[]): Promise<string> {
  const { stdout, stderr } = await runCairn(args, settings(url));
  expect(stdout + stderr).not.toBe('');
  expect(`${args.join(' ')}: ${ACTS.exec(stdout + stderr)?.[0] ?? 'nothing acts'}`).toContain('nothing acts');
  return stdout + stderr;
}

test.each([
  ['tasks'],
  ['tasks', '--json'],
  ['whoami'],
  ['login'],
  ['call', 'list_tasks'],
  ['call', 'list_tasks', '--json'],
  ['vault', 'list'],
  ['vault', 'create', 'notes'],
  ['docs'],
  ['handoff'],
  ['papers'],
  ['mirror', 'list'],
  ['sync', 'list', '--vault', 'notes'],
  ['sync', '--folder', temporaryFolder(), '--vault', 'notes'],
])('[CLI-3] what a hostile hub answers to a command acts on nothing: %s %s %s %s %s', async (...args) => {
  const { port } = hostile.address() as AddressInfo;
  await told(`http://127.0.0.1:${port}`, ...args.filter((one) => one !== undefined));
});

test('[CLI-3] tasks that others wrote act on nothing, as text and as JSON, and JSON keeps what they say', async () => {
  const made = await mirrorTool(hub, 'create_task', { content: `task ${EVIL}` }, { Authorization: `McpKey ${key}` });
  expect(made.status).toBe(200);
  for (const args of [['tasks'], ['call', 'list_tasks']]) {
    expect(await told(hub.url, ...args)).toContain('\\u{1b}]0;owned');
    const text = await told(hub.url, ...args, '--json');
    expect(JSON.stringify(JSON.parse(text))).toContain(JSON.stringify(EVIL).slice(1, -1));
  }
});

test('[CLI-3] text is printed without what acts, line ends and tabs stay, and JSON reads as before', () => {
  expect(ACTS.test(printed(EVIL))).toBe(false);
  expect(printed('a\tb\nc')).toBe('a\tb\nc');
  const value = { [EVIL]: [EVIL, '\ud800', '\ufeff', '\u{e0001}', 'ü\u200d'] };
  expect(ACTS.test(jsonLine(value))).toBe(false);
  expect(JSON.parse(jsonLine(value))).toEqual(value);
});
