/** What shows nothing is no name and no text, whichever characters it is of and at whichever door. */
import { expect, test } from 'vitest';
import { callTool } from '../support/gateway.ts';
import { call } from '../support/http.ts';
import { account } from '../support/mirror.ts';
import { useHub } from '../support/use-hub.ts';

const hub = useHub();

const NOTHINGS = [
  '\u200b',
  '\u2060\u200d',
  '\u3164',
  '\u115f\u1160',
  '\u2800',
  ' \u00ad ',
  '\ufeff',
  '\u{e0001}',
  '\ufe0f',
];
const INTO: [tool: string, field: string, more: object][] = [
  ['create_task', 'content', {}],
  ['create_category', 'name', {}],
  ['create_paper', 'title', { content: 'x' }],
  ['create_dev_doc', 'title', { content: 'x' }],
  ['handoff_save', 'topic', { project: 'p', content: 'x' }],
  ['handoff_save', 'project', { topic: 't', content: 'x' }],
  ['vault_create', 'name', {}],
  ['remember', 'fact', {}],
  ['signup_and_get_key', 'name', { email: 'blank@example.org', password: 'correct horse battery' }],
];

test.each(INTO)('[TOOL-5] %s refuses a %s of invisible characters', async (tool, field, more) => {
  const { mcp_key: key } = await account(hub);
  for (const nothing of NOTHINGS) {
    const { error } = await callTool(hub, tool, { [field]: nothing, ...more }, key);
    expect([nothing, error?.code, error?.data?.['field']]).toEqual([nothing, -32602, field]);
  }
});

test('[TASK-1] what has something to see is kept as it is: emoji with joiners, and letters of every script', async () => {
  const { mcp_key: key } = await account(hub);
  for (const content of ['👩‍👩‍👧', '❤️', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', 'ㅤa', '.', '한', '\ue000'])
    expect((await callTool(hub, 'create_task', { content }, key)).result).toMatchObject({
      structuredContent: { task: { content } },
    });
});

test('[OAUTH-1] a device has a name to see', async () => {
  const body = new URLSearchParams({ client_id: 'cairn', device_name: '\u3164' }).toString();
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  expect((await call(hub, '/oauth/device_authorization', { method: 'POST', headers, body })).status).toBe(400);
});
