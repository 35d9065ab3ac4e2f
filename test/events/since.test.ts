/** What changed since a time, and by whom: over REST and for agents. */
import { beforeAll, expect, test } from 'vitest';
import { callTool, structured, textOf, withKey } from '../support/gateway.ts';
import { call } from '../support/http.ts';
import { momentBetween } from '../support/moment.ts';
import { Device, newDevice } from '../support/sync.ts';
import { useHub } from '../support/use-hub.ts';

interface Told {
  readonly kind: string;
  readonly act: string;
  readonly thing: string;
  readonly name: string;
  readonly by: string;
}

interface Changes {
  readonly changes: Told[];
  readonly cursor: string | null;
}

const hub = useHub();
let laptop: Device;
let phone: Device;
/** Between what was there and what was done since. */
let between: string;

const tool = <T = Record<string, unknown>>(name: string, args: object) => structured<T>(hub, name, args, laptop.key);
const refusal = async (args: object) => (await callTool(hub, 'history', args, laptop.key)).error?.message;
const said = async (args: object) => textOf(await callTool(hub, 'history', args, laptop.key));
const inShort = (changes: readonly Told[]) => changes.map(({ act, name, by }) => `${act} ${name} by ${by}`);

const events = async (query: Record<string, string>) => {
  const answer = await call(hub, `/api/events?${new URLSearchParams(query)}`, { headers: withKey(laptop.key) });
  return { status: answer.status, body: answer.json() as { events: Told[]; cursor: string; has_more: boolean } };
};

/** What was done since `between`, oldest first. */
let DONE: string[];

beforeAll(async () => {
  laptop = await newDevice(hub, 'laptop');
  phone = new Device(hub, laptop.key, 'phone');
  const { task } = await tool<{ task: { changed_by: string } }>('create_task', { content: 'old' });
  const { changed_by: agent } = task;
  await laptop.push('old.md', 'old\n');
  between = await momentBetween();
  await tool('create_task', { content: 'Order soil' });
  await momentBetween();
  await phone.push('garden/plan.md', 'plan\n');
  await momentBetween();
  await tool('delete_task', { id: 2 });
  await momentBetween();
  await tool('remove', { ids: ['old.md'] });
  await momentBetween();
  await tool('write', { id: 'cairn://docs/rules/Plan', content: 'one\n' });
  DONE = [
    `created Order soil by ${agent}`,
    'created plan.md by phone',
    `deleted Order soil by ${agent}`,
    `deleted old.md by ${agent}`,
    `created Plan by ${agent}`,
  ];
});

test('[EVENT-1] events since a time and until one, of one device, deletions included', async () => {
  const since = await events({ since: between });
  expect(inShort(since.body.events)).toEqual(DONE);
  expect(since.body.has_more).toBe(false);
  expect(inShort((await events({ until: between })).body.events)).toEqual([
    expect.stringContaining('created old by'),
    'created old.md by laptop',
  ]);
  expect(inShort((await events({ since: 'yesterday', by: 'PHONE' })).body.events)).toEqual([
    'created plan.md by phone',
  ]);
  expect(inShort((await events({ since: '1h', kinds: 'doc' })).body.events)).toEqual([DONE[4]]);
  expect((await events({ since: '2999-01-01' })).body.events).toEqual([]);
});

test('[EVENT-1] a cursor goes on with the same filter, up to the end', async () => {
  const found: Told[] = [];
  for (let after: string | undefined, more = true; more; ) {
    const { body } = await events({ since: between, limit: '2', ...(after === undefined ? {} : { after }) });
    found.push(...body.events);
    ({ cursor: after, has_more: more } = body);
  }
  expect(inShort(found)).toEqual(DONE);
});

test.each(['soon', '2026-11-31', '2026-11-27T18:00:00'])(
  '[EVENT-1] since %s is refused with the forms',
  async (since) => {
    const { status, body } = await events({ since });
    expect([status, JSON.stringify(body)]).toEqual([
      422,
      expect.stringContaining('since must be ISO 8601 with a zone'),
    ]);
    expect(await refusal({ since })).toContain('since must be ISO 8601 with a zone (2026-11-27T18:00:00Z), a day');
  },
);

test('[FIND-3, EVENT-1] history without an id is what changed, the newest first, by whom, since when', async () => {
  const { changes, cursor } = await tool<Changes>('history', { since: between });
  expect([inShort(changes), cursor]).toEqual([DONE.toReversed(), null]);
  expect(inShort((await tool<Changes>('history', { since: between, by: 'Phone' })).changes)).toEqual([DONE[1]]);
  expect((await tool<Changes>('history', {})).changes).toHaveLength(DONE.length + 2);
  expect((await tool<Changes>('history', { until: between })).changes).toHaveLength(2);
  const text = await said({ since: between });
  expect(text).toMatch(/^5 changes/);
  expect(text).toMatch(/\.\d{3}Z phone created garden\/plan\.md\n/);
  expect(text).toMatch(/deleted cairn:\/\/tasks\/2 Order soil/);
});

test('[FIND-3, EVENT-1] pages of history go on by their cursor, and nothing that is written meanwhile is on them', async () => {
  const found: Told[] = [];
  let cursor: string | null | undefined;
  do {
    const page: Changes = await tool<Changes>('history', {
      since: between,
      limit: 2,
      ...(cursor == null ? {} : { cursor }),
    });
    if (cursor === undefined) await tool('update_task', { id: 1, is_important: true });
    found.push(...page.changes);
    ({ cursor } = page);
  } while (cursor !== null);
  expect(inShort(found)).toEqual(DONE.toReversed());
  expect(await refusal({ cursor: 'h1.x.y' })).toContain('cursor must be a cursor of an earlier answer');
  const { body } = await events({ after: 'now' });
  expect(await refusal({ cursor: body.cursor })).toContain('cursor must be a cursor of an earlier answer');
});

test('[FIND-3] who changed nothing is told who did', async () => {
  expect(await said({ since: between, by: 'tablet' })).toMatch(/^0 changes.*by tablet.*phone/);
  expect(await said({ since: '2999-01-01' })).toMatch(/^0 changes/);
});

test('[FIND-3] the history of a task is its changes, with what was before', async () => {
  await tool('change_tasks', { tasks: [{ id: 1, due_date: '2026-12-04', content: 'older' }] });
  const text = await said({ id: 'cairn://tasks/1' });
  expect(text).toContain('content "old" → "older", due_date null → "2026-12-04"');
  expect(await refusal({ id: 'cairn://tasks/99' })).toContain('task not found');
  expect(await said({ id: 'cairn://tasks/1', until: between })).toMatch(/^cairn:\/\/tasks\/1: 1 change:\n.* created$/);
  expect(await said({ id: 'cairn://tasks/1', by: 'phone' })).toMatch(/^cairn:\/\/tasks\/1: 0 changes/);
  expect(await refusal({ id: 'cairn://tasks/1', cursor: 'x' })).toContain('omit id');
});

test('[FIND-3] the history of a file or document may be of a span, and by one of those who wrote it', async () => {
  for (const id of ['span.md', 'cairn://docs/docs/span.md']) {
    await tool('write', { id, content: 'one\n' });
    const first = await said({ id });
    expect(first).toMatch(/: 1 version; read or restore takes version:\n/);
    expect(await said({ id, since: '2h' })).toContain(': 1 version of the newest 1; read');
    expect(await said({ id, since: '2999-01-01' })).toContain(': 0 versions of the newest 1; read');
    expect(await said({ id, until: between })).toContain(': 0 versions of the newest 1; read');
    expect(await said({ id, by: 'me' })).toContain(': 1 version of the newest 1; read');
    expect(await said({ id, by: 'phone' })).toContain(': 0 versions of the newest 1; read');
  }
});

test('[FIND-3] words that agents try for it lead on: their own name, an hour ago, another argument or tool', async () => {
  const mine = await tool<Changes>('history', { since: 'an hour ago', by: 'me' });
  expect(new Set(mine.changes.map(({ by }) => by)).size).toBe(1);
  expect(mine.changes.length).toBeGreaterThan(3);
  expect(await refusal({ author: 'phone' })).toContain('did you mean by?');
  const unknown = async (name: string) => (await callTool(hub, name, {}, laptop.key)).error?.message;
  expect(await unknown('undo')).toContain('did you mean restore?');
  expect(await unknown('recent_activity')).toContain('did you mean history?');
  const { error } = await callTool(hub, 'list', { in: 'activity' }, laptop.key);
  expect(error?.message).toContain('history without id lists what changed');
  const tasks = Array.from({ length: 5 }, (_, at) => ({ content: `${at}`, priority: 'high' }));
  const slip = await callTool(hub, 'add_tasks', { tasks }, laptop.key);
  expect(slip.error?.message).toBe('priority is not a known field; did you mean is_important?');
});
