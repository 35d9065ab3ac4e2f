/** One account has the hub walk, match and search all it can: others are answered in between. No time is looked at. */
import { beforeAll, expect, test } from 'vitest';
import { post, repliesOf, structured, toolRequest, withKey } from '../support/gateway.ts';
import { call } from '../support/http.ts';
import { type Account, account } from '../support/mirror.ts';
import { clockAt, sha256Of } from '../support/sync.ts';
import { useHub } from '../support/use-hub.ts';

const FILES = 1000;
const TASKS = 2000;
/** Stars that many characters of a path could satisfy, and an end that none does. */
const GLOB = `**/${'*a'.repeat(90)}b`;

const hub = useHub();
let greedy: Account;
let other: Account;
let vaultId: string;

beforeAll(async () => {
  [greedy, other] = [await account(hub), await account(hub)];
  const key = greedy.mcp_key;
  const globs = Array.from({ length: 100 }, (_, at) => `**/${'*a'.repeat(60 + (at % 30))}${at}`);
  const made = await structured<{ vault_id: string }>(
    hub,
    'vault_create',
    { name: 'long', protected_paths: globs },
    key,
  );
  vaultId = made.vault_id;
  for (let first = 0; first < FILES; first += 250) {
    const files = Array.from({ length: 250 }, (_, at) => ({
      path: `${'a'.repeat(250)}/${'a'.repeat(250)}/${'a'.repeat(250)}/${first + at}`,
      content: 'x',
      sha256: sha256Of('x'),
      hlc: clockAt(Date.now()),
    }));
    await structured(hub, 'sync_push_many', { vault_id: vaultId, files }, key);
  }
  for (let first = 0; first < TASKS; first += 100) {
    const content = 'zebra '.repeat(100);
    const items = Array.from({ length: 100 }, (_, at) =>
      toolRequest(at, 'create_task', { content: `${content}${at}` }),
    );
    expect((await post(hub, items, withKey(key))).status).toBe(200);
  }
}, 120_000);

/** Sends a batch, and calls of others until it is answered: all of those are served, and most of them before it is. */
async function expectInBetween(batch: readonly unknown[]): Promise<unknown[]> {
  let isOver = false;
  const answered = post(hub, batch, withKey(greedy.mcp_key)).finally(() => {
    isOver = true;
  });
  let served = 0;
  while (!isOver) {
    expect((await call(hub, '/health')).status).toBe(200);
    await structured(hub, 'create_task', { content: 'in between' }, other.mcp_key);
    served += isOver ? 0 : 1;
  }
  expect(served).toBeGreaterThan(3);
  const replies = repliesOf(await answered);
  expect(replies.filter(({ error }) => error !== undefined)).toEqual([]);
  return replies.map(({ result }) => (result as { structuredContent: unknown }).structuredContent);
}

test('[NET-12] sixty listings with the worst glob, in a vault with a hundred protected globs', async () => {
  const batch = Array.from({ length: 60 }, (_, id) => toolRequest(id, 'sync_list', { vault_id: vaultId, glob: GLOB }));
  const found = await expectInBetween(batch);
  expect(found).toHaveLength(60);
  const plain = Array.from({ length: 5 }, (_, id) => toolRequest(id, 'sync_list', { vault_id: vaultId, limit: FILES }));
  for (const page of await expectInBetween(plain)) expect(page).toMatchObject({ total_count: FILES, has_more: false });
});

test('[NET-12] searches over all tasks, a batch of them', async () => {
  const batch = Array.from({ length: 60 }, (_, id) => toolRequest(id, 'list_tasks', { search: `nowhere ${id}` }));
  for (const page of await expectInBetween(batch)) expect(page).toMatchObject({ count: 0, complete: true });
  const hits = Array.from({ length: 20 }, (_, id) =>
    toolRequest(id, 'list_tasks', { search: `ZEBRA 9${id % 10}`, limit: 500 }),
  );
  for (const page of await expectInBetween(hits)) expect(page).toMatchObject({ count: TASKS / 100, complete: true });
});
