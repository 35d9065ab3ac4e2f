/** The time zone of an account, through every door: what is due "today" follows it. */
import { beforeEach, expect, test } from 'vitest';
import { callTool, PASSWORD, post, request, structured, withKey } from '../support/gateway.ts';
import { call } from '../support/http.ts';
import { startHub } from '../support/hub.ts';
import { type Account, account } from '../support/mirror.ts';
import { PageClient } from '../support/page-client.ts';
import { useHub } from '../support/use-hub.ts';

/** Ahead of and behind every other zone: whatever the hour, their days differ. */
const [EAST, WEST] = ['Pacific/Kiritimati', 'Etc/GMT+12'] as const;
const hub = useHub();
let owner: Account;

beforeEach(async () => {
  owner = await account(hub);
});

const dayIn = (timeZone: string) => new Intl.DateTimeFormat('en-CA', { dateStyle: 'short', timeZone }).format();
const setZone = (timezone: unknown, key = owner.mcp_key) => structured(hub, 'set_timezone', { timezone }, key);
const due = async (args: object) => {
  const { tasks } = await structured<{ tasks: { content: string }[] }>(hub, 'list_tasks', args, owner.mcp_key);
  return tasks.map(({ content }) => content).sort();
};
const patch = (body: unknown) =>
  call(hub, '/api/account', {
    method: 'PATCH',
    headers: { ...withKey(owner.mcp_key), 'Content-Type': 'application/json' } as Record<string, string>,
    body: JSON.stringify(body),
  });

test('[TASK-5] due today and overdue follow the zone of the account at once, and an argument goes before it', async () => {
  await structured(hub, 'create_task', { content: 'east', due_date: dayIn(EAST) }, owner.mcp_key);
  await structured(hub, 'create_task', { content: 'west', due_date: dayIn(WEST) }, owner.mcp_key);
  for (const [zone, other] of [[EAST, WEST] as const, [WEST, EAST] as const, [EAST, WEST] as const]) {
    expect(await setZone(zone)).toEqual({ timezone: zone, today: dayIn(zone) });
    const [own, far] = zone === EAST ? ['east', 'west'] : ['west', 'east'];
    // Twice: the second answer may be one that is given again.
    for (let n = 0; n < 2; n += 1) expect(await due({ due_today: true })).toEqual([own]);
    expect(await due({ due_today: true, timezone: other })).toEqual([far]);
    expect(await due({ overdue: true })).toEqual(zone === EAST ? ['west'] : []);
    const read = await post(hub, request(1, 'resources/read', { uri: 'cairn://tasks/today' }), withKey(owner.mcp_key));
    expect(read.text).toContain(own);
    expect(read.text).not.toContain(far);
  }
});

test('[TASK-5] the zone is on the account over REST, is taken back with null, and a wrong one is refused', async () => {
  const shown = async () => (await call(hub, '/api/account', { headers: withKey(owner.mcp_key) as never })).json();
  expect(await shown()).toMatchObject({ timezone: null });
  expect((await patch({ timezone: 'Asia/Seoul' })).json()).toMatchObject({ timezone: 'Asia/Seoul' });
  expect(await shown()).toMatchObject({ timezone: 'Asia/Seoul' });
  for (const wrong of ['Asia/Seul', '+09:00', '', '../etc', 9, 'x'.repeat(65)]) {
    const answer = await patch({ timezone: wrong });
    expect([answer.status, answer.json()['errors']]).toMatchObject([
      422,
      { timezone: expect.arrayContaining([expect.stringContaining('timezone')]) },
    ]);
    const { error } = await callTool(hub, 'set_timezone', { timezone: wrong }, owner.mcp_key);
    expect(error).toMatchObject({ code: -32602, data: { field: 'timezone' } });
  }
  expect((await patch({})).status).toBe(422);
  expect(await setZone(null)).toMatchObject({ timezone: 'UTC' });
  expect(await shown()).toMatchObject({ timezone: null });
});

test('[TASK-5] an account without a zone has that of CAIRN_TIMEZONE', async () => {
  const east = await startHub({ env: { CAIRN_TIMEZONE: EAST } });
  try {
    const { mcp_key } = await account(east);
    await structured(east, 'create_task', { content: 'x', due_date: dayIn(EAST) }, mcp_key);
    expect(await structured(east, 'list_tasks', { due_today: true }, mcp_key)).toMatchObject({ count: 1 });
  } finally {
    await east.stop();
  }
  await expect(startHub({ env: { CAIRN_TIMEZONE: 'Mars/Base' } })).rejects.toThrow(
    /CAIRN_TIMEZONE must be an IANA name/,
  );
});

test('[TASK-5, WEB-1] a sign-up in a browser takes its zone, the settings change it, and the board follows', async () => {
  const client = new PageClient(hub);
  client.cookies.set('cairn_zone', EAST);
  await client.open('/signup');
  await client.submit('/signup', { email: 'zoned@example.org', password: PASSWORD });
  await client.open('/settings');
  expect(client.html).toContain(`value="${EAST}"`);
  expect(client.text).not.toContain("hub's default,");
  await client.submit('/settings/timezone', { timezone: WEST });
  expect(client.text).toContain(`The time zone is ${WEST}.`);
  await client.open('/tasks');
  await client.submit('/tasks', { content: 'Sweep', due_date: dayIn(WEST) });
  expect(client.text).toContain('due today');
  await client.open('/settings');
  await client.submit('/settings/timezone', { timezone: EAST });
  await client.open('/tasks');
  expect(client.text).toContain('overdue');
  await client.open('/settings');
  await client.submit('/settings/timezone', { timezone: 'Nowhere/None' });
  expect([client.answer?.status, client.text]).toEqual([422, expect.stringContaining('IANA name')]);
});
