/** What open pages are told of: changes of their own account, by topic, until the browser is signed out. */
import { beforeAll, expect, test } from 'vitest';
import { limits } from '../../src/limits/service.ts';
import { EventReader } from '../support/event-stream.ts';
import { PASSWORD, structured } from '../support/gateway.ts';
import { type PageClient, signedUp } from '../support/page-client.ts';
import { Device } from '../support/sync.ts';
import { useHub } from '../support/use-hub.ts';

const hub = useHub({ loudest: 40 });
let operator: PageClient;
let count = 0;

beforeAll(async () => {
  operator = await signedUp(hub, 'operator@example.org', PASSWORD);
});

async function member(): Promise<{ readonly client: PageClient; readonly key: string; readonly email: string }> {
  count += 1;
  const email = `live${count}@example.org`;
  const client = await signedUp(hub, email, PASSWORD);
  const [key = ''] = /[0-9a-f]{64}/.exec(client.text) ?? [];
  await client.open('/tasks');
  return { client, key, email };
}

const markOf = ({ html }: PageClient) => /data-mark="([^"]+)"/.exec(html)?.[1] ?? '';
const pathOf = (client: PageClient) => `/live?mark=${encodeURIComponent(markOf(client))}`;
const isChange = (topic: string) => (event: { event: string; data: string }) =>
  event.event === 'change' && topic in (JSON.parse(event.data) as object);

test('[WEB-8] an open page is told what an agent changes, by topic and number, and nothing of other accounts', async () => {
  const [who, other] = [await member(), await member()];
  const stream = await EventReader.open(who.client, pathOf(who.client));
  const foreign = await EventReader.open(other.client, pathOf(other.client));
  expect(stream.status).toBe(200);
  await structured(hub, 'create_task', { content: 'By an agent' }, who.key);
  const told = await stream.find(isChange('tasks'));
  expect(JSON.parse(told?.data ?? '{}')).toMatchObject({ tasks: 1 });
  await new Device(hub, who.key, 'laptop').push('a.md', 'text');
  expect(await stream.find(isChange('vaults'))).toBeDefined();
  await structured(hub, 'handoff_save', { project: 'p', topic: 't', content: 'text' }, who.key);
  expect(await stream.find(isChange('documents'))).toBeDefined();
  // Whatever the other page will be told of its own account, it comes after all that.
  await structured(hub, 'create_task', { content: 'Mine' }, other.key);
  await foreign.find(isChange('tasks'));
  expect(
    foreign.events
      .flatMap(({ data }) => Object.keys(JSON.parse(data) as object))
      .filter((topic) => topic !== 'account'),
  ).toEqual(['tasks']);
  stream.close();
  foreign.close();
});

test('[WEB-8] a page that was made before a change is told so when its stream opens, and one made after it is not', async () => {
  const { client, key } = await member();
  const before = pathOf(client);
  await structured(hub, 'create_task', { content: 'Between page and stream' }, key);
  const late = await EventReader.open(client, before);
  const told = await late.find(isChange('all'));
  await client.open('/tasks');
  expect(markOf(client)).toBe(told?.id);
  // A browser that comes back says what it was told last, which is newer than what its page says.
  const [again, old] = [
    await EventReader.open(client, before, { 'Last-Event-ID': told?.id ?? '' }),
    await EventReader.open(client, '/live?mark=another.process'),
  ];
  expect(await old.find(isChange('all'))).toBeDefined();
  await structured(hub, 'create_task', { content: 'Later' }, key);
  await again.find(isChange('tasks'));
  expect(again.events.length).toBe(1);
  for (const stream of [late, again, old]) stream.close();
});

test('[WEB-8, WEB-2] a stream ends with the session: by sign-out, and from the list of browsers', async () => {
  const { client } = await member();
  const stream = await EventReader.open(client, pathOf(client));
  await client.submit('/signout');
  expect(await stream.find(({ event }) => event === 'signed-out')).toBeDefined();
  await stream.over();
  const stranger = await EventReader.open(client, '/live');
  expect(stranger.status).toBe(204);
});

test('[WEB-8] a disabled account is told nothing more', async () => {
  const { client, email } = await member();
  const stream = await EventReader.open(client, pathOf(client));
  const { stdout } = await hub.cli('account', 'show', '--email', email, '--json');
  const path = `/accounts/${(JSON.parse(stdout) as { account_id: string }).account_id}`;
  await operator.open(path);
  await operator.submit(`${path}/disable`);
  expect(await stream.find(({ event }) => event === 'signed-out')).toBeDefined();
  await stream.over();
});

test('[WEB-8, LIM-2] one account has so many open pages at once and no more; the next one works without', async () => {
  const { client, key } = await member();
  const streams: EventReader[] = [];
  for (let opened = 0; opened < limits.livePagesPerAccountMax; opened += 1) {
    streams.push(await EventReader.open(client, pathOf(client)));
  }
  const refused = await EventReader.open(client, pathOf(client));
  expect([streams.every(({ status }) => status === 200), refused.status]).toEqual([true, 204]);
  streams.pop()?.close();
  await structured(hub, 'create_task', { content: 'Told to all' }, key);
  await Promise.all(streams.map((stream) => stream.find(isChange('tasks'))));
  let next = await EventReader.open(client, pathOf(client));
  // The hub sees a closed connection a moment later than the client that closed it.
  while (next.status === 204) next = await EventReader.open(client, pathOf(client));
  expect(next.status).toBe(200);
  for (const stream of [...streams, next]) stream.close();
});
