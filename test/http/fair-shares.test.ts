/** Whose requests are answered first when more of them wait than fit into a turn of the event loop. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toolRequest, withKey } from '../support/gateway.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { account } from '../support/mirror.ts';
import { head } from '../support/raw.ts';
import { RawClient } from '../support/raw-client.ts';

/** Far more than a fast machine answers in one turn. */
const GREEDY = 600;

let hub: Hub;

beforeAll(async () => {
  hub = await startHub({
    env: { CAIRN_TRUSTED_PROXIES: '127.0.0.1' },
  });
});

afterAll(async () => {
  await hub.stop();
});

const lines = (headers: Readonly<Record<string, string | undefined>>) =>
  Object.entries(headers).map(([name, value]) => `${name}: ${value}`);

function listOf(key: string): string {
  const body = JSON.stringify(toolRequest(1, 'list_tasks'));
  const type = { 'Content-Type': 'application/json', 'Content-Length': String(body.length) };
  return head('POST /api/mcp HTTP/1.1', lines({ ...withKey(key), ...type })) + body;
}

/**
 * Sends a request of each greedy caller and then one of somebody else, all while the hub is stopped, so that it meets
 * them at once. Returns how many greedy ones were answered before the other one.
 */
async function overtakenBy(greedy: readonly string[], small: string): Promise<number> {
  const clients = await Promise.all(greedy.map(() => RawClient.open(hub)));
  const other = await RawClient.open(hub);
  hub.process.kill('SIGSTOP');
  for (const [at, client] of clients.entries()) await client.send(greedy[at] ?? '');
  await other.send(small);
  hub.process.kill('SIGCONT');
  let answered = 0;
  const all = Promise.all(
    clients.map(async (client) => {
      const answer = await client.answer();
      expect(answer?.status).toBe(200);
      answered += 1;
    }),
  );
  const answer = await other.answer();
  expect(answer?.status).toBe(200);
  const before = answered;
  await all;
  for (const client of [...clients, other]) client.destroy();
  return before;
}

test('[NET-15] strangers from many networks, all at once, do not delay an account by more than their share', async () => {
  const { mcp_key: key } = await account(hub);
  const greedy = Array.from({ length: GREEDY }, (_, at) =>
    head('GET /api/mcp/openapi.json HTTP/1.1', [`X-Forwarded-For: 198.18.${at}.1`]),
  );
  const small = listOf(key);
  expect(await overtakenBy(greedy, small)).toBeLessThan(GREEDY / 2);
});

test('[NET-15] many requests of one account, all at once, do not delay another account by more than their share', async () => {
  const [one, two] = await Promise.all([account(hub), account(hub)]);
  const greedy = Array(GREEDY).fill(head('GET /api/mcp/openapi.json HTTP/1.1', lines(withKey(one.mcp_key))));
  const small = listOf(two.mcp_key);
  expect(await overtakenBy(greedy, small)).toBeLessThan(GREEDY / 2);
});
