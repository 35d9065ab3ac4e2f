/** What changed in an account, by a cursor: complete, in order, of its own account alone, and with long polls. */
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { PASSWORD, structured, withKey } from '../support/gateway.ts';
import { call } from '../support/http.ts';
import { runCairn } from '../support/hub.ts';
import { credential, randomCommit, upload } from '../support/mirror.ts';
import { signedUp } from '../support/page-client.ts';
import { type Device, newDevice } from '../support/sync.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { useHub, withHub } from '../support/use-hub.ts';

interface Event {
  readonly id: string;
  readonly kind: string;
  readonly act: string;
  readonly thing: string;
  readonly name: string;
  readonly at: string;
  readonly by: string | null;
  readonly details: Record<string, unknown>;
}

interface Page {
  readonly events: Event[];
  readonly cursor: string;
  readonly has_more: boolean;
}

const hub = useHub();
let owner: Device;

const ask = (who: Pick<Device, 'key' | 'hub'>, query: Record<string, string> = {}) =>
  call(who.hub, `/api/events?${new URLSearchParams(query)}`, { headers: withKey(who.key) });

const page = async (who: Pick<Device, 'key' | 'hub'>, query: Record<string, string> = {}): Promise<Page> => {
  const answer = await ask(who, query);
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  return answer.json() as unknown as Page;
};

/** Follows a cursor to its end, `limit` events at a time. */
const follow = async (who: Device, from: string | undefined, limit: number) => {
  const events: Event[] = [];
  for (let cursor = from; ; ) {
    const {
      events: some,
      cursor: next,
      has_more: more,
    } = await page(who, {
      limit: String(limit),
      ...(cursor === undefined ? {} : { after: cursor }),
    });
    events.push(...some);
    cursor = next;
    if (!more) return { events, cursor };
  }
};

beforeAll(async () => {
  owner = await newDevice(hub, 'laptop');
});

test('[EVENT-1] every kind of change is told in order, with what, who and when, and a cursor goes on after it', async () => {
  const start = (await page(owner, { after: 'now' })).cursor;
  const make = (tool: string, args: object) => structured(hub, tool, args, owner.key);
  await make('create_task', { content: 'call the printer\nbefore noon' });
  await make('update_task', { id: 1, kanban_status: 'done' });
  await make('create_dev_doc', { title: 'CLAUDE.md', content: 'Small commits.', category: 'claude' });
  await make('handoff_save', { project: 'cairn', topic: 'release', content: 'Next: tag it.' });
  await make('create_paper', { title: 'On cairns', content: 'Stones.' });
  const pushed = await owner.push('notes/a.md', '# Hello\n');
  await make('move', { id: 'notes/a.md', to: 'notes/b.md' });
  await make('remove', { ids: ['notes/b.md'] });
  const token = await credential(hub, owner.key);
  const commit = randomCommit();
  expect((await upload(hub, token, commit, Buffer.from('an archive'))).status).toBe(200);
  const { events, cursor } = await follow(owner, start, 2);
  expect(events.map(({ kind, act, thing }) => [kind, act, thing])).toEqual([
    ['task', 'created', 'cairn://tasks/1'],
    ['task', 'changed', 'cairn://tasks/1'],
    ['doc', 'created', 'cairn://docs/1'],
    ['handoff', 'created', 'cairn://handoffs/1'],
    ['paper', 'created', 'cairn://papers/1'],
    ['file', 'created', expect.stringMatching(/^cairn:\/\/vaults\/.*\/notes\/a\.md$/)],
    ['file', 'moved', expect.stringMatching(/\/notes\/b\.md$/)],
    ['file', 'deleted', expect.stringMatching(/\/notes\/b\.md$/)],
    ['backup', 'created', 'cairn://backups/unknown'],
  ]);
  expect(events[1]).toMatchObject({
    name: 'call the printer',
    details: { fields: expect.arrayContaining(['kanban_status']) },
  });
  expect(events[5]).toMatchObject({ by: 'laptop', details: { path: 'notes/a.md', sha256: pushed.sha256 } });
  expect(events.at(-1)).toMatchObject({ kind: 'backup', act: 'created', details: { commit_sha: commit } });
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
  expect(events.map(({ at }) => at)).toEqual(events.map(({ at }) => at).sort());
  expect((await page(owner, { after: cursor })).events).toEqual([]);
  const fetched = await structured<{ id: string }>(hub, 'fetch', { id: events[2]?.thing }, owner.key);
  expect(fetched.id).toBe('cairn://docs/claude/CLAUDE.md');
});

test('[EVENT-1] nothing that was answered is missing while many write at once and a reader follows', async () => {
  const writer = await newDevice(hub, 'busy');
  const seen: Event[] = [];
  let isOver = false;
  const reader = (async () => {
    for (let cursor: string | undefined; ; ) {
      const wasOver = isOver;
      const next: Page = await page(writer, { limit: '7', ...(cursor && { after: cursor }) });
      seen.push(...next.events);
      cursor = next.cursor;
      if (wasOver && !next.has_more) return;
    }
  })();
  const written = await Promise.all(
    Array.from({ length: 60 }, async (_, at) => {
      if (at % 2 === 0) return `notes/${at}.md${(await writer.push(`notes/${at}.md`, `${at}`)) && ''}`;
      return (await structured(hub, 'create_task', { content: `task ${at}` }, writer.key)) && `task ${at}`;
    }),
  );
  isOver = true;
  await reader;
  const told = seen.map(({ kind, name, details }) => (kind === 'file' ? String(details['path']) : name));
  expect(told.toSorted()).toEqual(written.toSorted());
  const again = await follow(writer, undefined, 100);
  const order = (kind: string, events: Event[]) => events.filter((one) => one.kind === kind).map(({ id }) => id);
  for (const kind of ['file', 'task']) expect(order(kind, seen)).toEqual(order(kind, again.events));
});

test('[EVENT-1] a long poll answers with the change that ends it, and only with kinds that were asked for', async () => {
  const { cursor } = await page(owner, { after: 'now' });
  const waiting = page(owner, { after: cursor, wait: '50', kinds: 'file' });
  await structured(hub, 'create_task', { content: 'of another kind' }, owner.key);
  await owner.push('later.md', 'here');
  const { events } = await waiting;
  expect(events.map(({ kind, name }) => [kind, name])).toEqual([['file', 'later.md']]);
  const [onlyTasks, nothing] = await Promise.all([
    page(owner, { after: cursor, kinds: 'task,doc' }),
    page(owner, { after: 'now', wait: '1' }),
  ]);
  expect(onlyTasks.events.map(({ name }) => name)).toEqual(['of another kind']);
  expect(nothing.events).toEqual([]);
});

test('[EVENT-1] a cursor of another account, a forged one and a wrong kind are refused; without a key nobody reads', async () => {
  const other = await newDevice(hub, 'phone');
  const { cursor } = await page(owner);
  expect((await page(other)).events).toEqual([]);
  for (const after of [cursor.slice(0, -1), `${cursor}0`, 'x', cursor.replace(/\.[^.]+\./, '.W10.')]) {
    expect((await ask(owner, { after })).status).toBe(422);
  }
  expect((await ask(other, { after: cursor })).status).toBe(422);
  expect((await ask(owner, { kinds: 'file,nonsense' })).status).toBe(422);
  expect((await call(hub, '/api/events')).status).toBe(401);
});

test('[EVENT-1] a cursor from before a restore answers 410 and says what to do', async () => {
  const [copies, target] = [join(temporaryFolder(), 'copy'), temporaryFolder()];
  const { cursor } = await page(owner);
  expect((await hub.cli('backup', '--with-key', copies)).code).toBe(0);
  expect((await runCairn(['restore', copies], { CAIRN_DATA: target })).code).toBe(0);
  await withHub({ dataFolder: target }, async (later) => {
    const answer = await ask({ hub: later, key: owner.key }, { after: cursor });
    expect(answer.status).toBe(410);
    expect(answer.json()['error']).toMatch(/restored from a backup.*after=now/);
    expect((await page({ hub: later, key: owner.key })).events.length).toBeGreaterThan(10);
  });
});

test('[EVENT-1] a read-only key reads events', async () => {
  const browser = await signedUp(hub, 'reader@example.org', PASSWORD);
  await browser.open('/settings');
  await browser.submit('/settings/keys', { name: 'reader', read_only: 'true' });
  const [reader = ''] = /[0-9a-f]{64}/.exec(browser.text) ?? [];
  expect((await page({ hub, key: reader })).events).toEqual([]);
});
