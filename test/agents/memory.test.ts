/** Facts that agents keep, and the call that begins a session. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callTool, structured, textOf } from '../support/gateway.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { type Account, account } from '../support/mirror.ts';

let hub: Hub;
let owner: Account;

beforeAll(async () => {
  hub = await startHub();
  owner = await account(hub);
});

afterAll(async () => {
  expect(hub.logs.filter((line) => Number(line['level']) >= 50)).toEqual([]);
  await hub.stop();
});

interface Fact {
  readonly id: string;
  readonly fact: string;
  readonly status: string;
}

const run = async <T = Record<string, unknown>>(name: string, args: object, key = owner.mcp_key) =>
  await structured<T>(hub, name, args, key);
const recalled = async (query?: string) =>
  (await run<{ facts: Fact[] }>('recall', query === undefined ? {} : { query })).facts.map(({ fact }) => fact);

test('[FIND-6] a fact is kept once, found by its words, and superseded by what corrects it', async () => {
  const first = await run<Fact>('remember', { fact: 'The staging database is db2.', about: 'database' });
  expect(first).toMatchObject({
    status: 'remembered',
    about: 'database',
    said_by: 'first key',
    said_at: expect.any(String),
  });
  expect(await run('remember', { fact: ' The staging database is db2. ', about: 'database' })).toMatchObject({
    id: first.id,
    status: 'known',
  });
  await run('remember', { fact: 'Deployments happen on Tuesdays.' });
  await run('remember', { fact: '배포는 화요일에 한다.', about: '배포' });
  await run('remember', { fact: '[not a topic] begins with a bracket' });
  expect((await recalled('which databases'))[0]).toBe('The staging database is db2.');
  expect((await recalled('deploy'))[0]).toBe('Deployments happen on Tuesdays.');
  expect((await recalled('화요일 배포'))[0]).toBe('배포는 화요일에 한다.');
  expect(await recalled('zeppelin')).toEqual([]);
  expect(await recalled()).toHaveLength(4);
  const second = await run<Fact>('remember', { fact: 'The staging database is db3.', replaces: first.id });
  expect(second).toMatchObject({ status: 'replaced', about: 'database' });
  expect(await recalled('staging database')).toEqual(['The staging database is db3.']);
  // The old one is in the trash, from which it comes back.
  await run('restore', { id: first.id });
  expect(await recalled('staging database')).toHaveLength(2);
});

test('[FIND-6] facts are found by the one index: beginnings, slips, sentences, pairs of letters, and nothing but facts', async () => {
  const { mcp_key: key } = await account(hub);
  const facts = {
    crane: 'The crane is repaired by Zimmermann GmbH.',
    lamp: 'The lighthouse lamp needs 400 watts.',
    kimchi: '김치찌개는 화요일 점심에 나온다.',
    weather: '東京支社の予算は四月に決まる。',
  };
  // The same words elsewhere: a slip is one as soon as no fact has the word.
  await run('write', { id: 'notes/zimermann.md', content: 'zimermann lampe lamp lamp lamp crane\n' }, key);
  await run('write', { id: 'cairn://docs/rules/Lamps', content: 'lamp lamp crane\n' }, key);
  for (const fact of Object.values(facts)) await run('remember', { fact }, key);
  const first = async (query: string) =>
    (await run<{ facts: Fact[] }>('recall', { query }, key)).facts.map(({ fact }) => fact)[0];
  for (const [query, fact] of [
    ['zimermann', facts.crane],
    ['who repairs the crane?', facts.crane],
    ['how many watts does the lamp of the lighthouse need', facts.lamp],
    ['lightouse', facts.lamp],
    ['light', facts.lamp],
    ['화요일 점심', facts.kimchi],
    ['東京の予算', facts.weather],
  ])
    expect([query, await first(query ?? '')]).toEqual([query, fact]);
  expect(await run('recall', { query: 'crane lamp' }, key)).toMatchObject({ facts: [{}, {}] });
});

test('[FIND-6] a fact is in the next recall of its caller, and one that was replaced or removed is not', async () => {
  const { mcp_key: key } = await account(hub);
  const found = async (query: string) =>
    (await run<{ facts: Fact[] }>('recall', { query }, key)).facts.map(({ fact }) => fact);
  let id: string | undefined;
  for (let round = 1; round <= 20; round += 1) {
    const fact = `The mooring has number ${round}x.`;
    ({ id } = await run<Fact>('remember', { fact, replaces: id }, key));
    expect(await found('mooring')).toEqual([fact]);
  }
  await run('remove', { ids: [id] }, key);
  expect([await found('mooring'), await found('number')]).toEqual([[], []]);
});

test('[FIND-6] facts that begin alike are two, and each of them is known', async () => {
  const { mcp_key: key } = await account(hub);
  const long = 'A fact that is longer than a title may be. '.repeat(6);
  const said = async (fact: string) => await run<Fact>('remember', { fact }, key);
  const [one, two] = [await said(`${long}one`), await said(`${long}two`)];
  expect([await said(`${long}one`), await said(`${long}two`)]).toMatchObject([
    { id: one.id, status: 'known' },
    { id: two.id, status: 'known' },
  ]);
});

test('[FIND-6] a person reads, corrects and removes facts like any document', async () => {
  const { id } = await run<Fact>('remember', { fact: 'The printer is on floor 2.', about: 'office' });
  await run('edit', { id, old: 'floor 2', new: 'floor 3' });
  expect(await recalled('printer')).toEqual(['The printer is on floor 3.']);
  await run('remove', { ids: [id] });
  expect(await recalled('printer')).toEqual([]);
});

test.each([
  [{ fact: ' ' }, 'fact'],
  [{ fact: 'x', about: 'a\nb' }, 'about'],
  [{ fact: 'x', replaces: 'notes/a.md' }, 'replaces'],
  [{ fact: 'x', replaces: 'cairn://docs/claude/none' }, ''],
])('[FIND-6] remember %j is refused', async (args, field) => {
  const { error } = await callTool(hub, 'remember', args, owner.mcp_key);
  expect(error?.message).toContain(field);
});

const TOKENS_MAX = 600;

test('[FIND-6] one call of at most 600 tokens begins a session, however much there is', async () => {
  const today = new Date().toISOString().slice(0, 10);
  const tasks = Array.from({ length: 40 }, (_, index) => ({
    content: `Task ${index} ${'long '.repeat(30)}`,
    due_date: index % 2 === 0 ? today : '2020-01-01',
  }));
  await run('add_tasks', { tasks });
  await run('handoff_save', {
    project: 'lighthouse',
    topic: 'lamp',
    content: `The lamp is dark.\n${'Word '.repeat(4000)}`,
  });
  for (let index = 0; index < 20; index += 1) await run('write', { id: `notes/note ${index}.md`, content: 'x\n' });
  for (let index = 0; index < 12; index += 1)
    await run('write', { id: `cairn://docs/rules/Rule ${index}`, content: 'x\n' });
  const text = textOf(await callTool(hub, 'start_session', { project: 'lighthouse' }, owner.mcp_key));
  expect(Math.ceil(text.length / 4)).toBeLessThanOrEqual(TOKENS_MAX);
  for (const part of [
    today,
    'UTC',
    'cairn://docs/rules/Rule',
    'lighthouse / lamp',
    'The lamp is dark.',
    'overdue since 2020-01-01',
    'notes/note 19.md',
    'no conflicts',
    'no backups',
    'more',
  ]) {
    expect(text).toContain(part);
  }
});

test('[FIND-6] a project without a handoff gets the newest of all, and a new account is told what there is not', async () => {
  expect(textOf(await callTool(hub, 'start_session', { project: 'unknown' }, owner.mcp_key))).toContain(
    'lighthouse / lamp',
  );
  await run('handoff_save', { project: 'harbour', topic: 'crane', content: 'The crane is red.' });
  const begun = async (project: string) => textOf(await callTool(hub, 'start_session', { project }, owner.mcp_key));
  expect(await begun('unknown')).toContain(
    'last handoff: the project unknown has none; that of another one is\nharbour /',
  );
  // A slip gets the project that was meant, and is told.
  expect(await begun('lighthuose')).toContain(
    'the project lighthuose has none; that of another one is\nlighthouse / lamp',
  );
  expect(await begun('Lighthouse')).toContain('last handoff: lighthouse / lamp');
  const { mcp_key: key } = await account(hub);
  const text = textOf(await callTool(hub, 'start_session', {}, key));
  for (const part of ['no handoff yet', 'nothing is due', 'nothing remembered']) expect(text).toContain(part);
});
