/** What an agent did is taken back in one call: of every kind, by compare-and-set, and what others changed since is left. */
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { callTool, PASSWORD, structured, textOf } from '../support/gateway.ts';
import { momentBetween } from '../support/moment.ts';
import { signedUp } from '../support/page-client.ts';
import { useHub } from '../support/use-hub.ts';

const hub = useHub();
/** Keys of a person, and of an agent whose name is robot. */
let owner: string;
let robot: string;
let since: string;

type Results = { results: { id: string; done: boolean; says: string }[] };

const run = <T = Record<string, unknown>>(key: string, name: string, args: object) =>
  structured<T>(hub, name, args, key);
const restore = (key: string, args: object) => run<Results>(key, 'restore', args);
const said = async (key: string, args: object) => textOf(await callTool(hub, 'restore', args, key));
const refusal = async (key: string, args: object) => (await callTool(hub, 'restore', args, key)).error?.message;
const read = async (id: string) => (await run<{ content: string }>(owner, 'read', { id })).content;
const isThere = async (id: string) => (await callTool(hub, 'read', { id }, owner)).error === undefined;
const taskOf = async (id: number) =>
  (await run<{ tasks: Record<string, unknown>[] }>(owner, 'list_tasks', {})).tasks.find((one) => one['id'] === id);

/** Makes a task of the owner, and returns its number. */
async function newTask(content: string): Promise<number> {
  const { task } = await run<{ task: { id: number } }>(owner, 'create_task', { content });
  return task.id;
}

beforeAll(async () => {
  const browser = await signedUp(hub, 'owner@example.org', PASSWORD);
  [owner = ''] = /[0-9a-f]{64}/.exec(browser.text) ?? [];
  await browser.open('/settings');
  await browser.submit('/settings/keys', { name: 'robot' });
  [robot = ''] = /[0-9a-f]{64}/.exec(browser.text) ?? [];
});

/** The owner's names of things, new for each test. */
let n = 0;
beforeEach(() => {
  n += 1;
});

test('[FIND-7] a whole session of an agent, of every kind, is as before it; a trial says so and changes nothing', async () => {
  const [changed, removed] = [await newTask('Renew'), await newTask('Doomed')];
  for (const [id, content] of [
    ['cairn://docs/rules/Kept', 'one\n'],
    ['cairn://docs/rules/Gone', 'gone\n'],
    ['edited.md', 'a\nb\n'],
    ['gone.md', 'still wanted\n'],
    ['moved.md', 'moves\n'],
  ] as const) {
    await run(owner, 'write', { id, content });
  }
  const { id: paper } = await run<{ id: string }>(owner, 'write', { id: 'cairn://papers/new', content: '# Paper\n' });
  await run(owner, 'handoff_save', { project: 'p', topic: 't', content: 'first' });
  since = await momentBetween();
  await run(robot, 'change_tasks', {
    tasks: [{ id: changed, content: 'Wrong', due_date: '2026-12-04', completed: true }],
  });
  await run(robot, 'change_tasks', {
    tasks: [
      { id: changed, content: 'Wronger' },
      { id: removed, remove: true },
    ],
  });
  await run(robot, 'add_tasks', { tasks: [{ content: 'Spam' }] });
  await run(robot, 'edit', { id: 'cairn://docs/rules/Kept', old: 'one', new: 'two' });
  await run(robot, 'write', { id: 'cairn://docs/rules/New', content: 'new\n' });
  await run(robot, 'edit', { id: 'edited.md', old: 'a', new: 'A' });
  await run(robot, 'write', { id: 'new.md', content: 'new\n' });
  await run(robot, 'edit', { id: paper, old: 'Paper', new: 'Wrong' });
  await run(robot, 'remove', { ids: ['gone.md', 'cairn://docs/rules/Gone', paper] });
  await run(robot, 'move', { id: 'moved.md', to: 'elsewhere/moved.md' });
  await run(robot, 'handoff_save', { project: 'p', topic: 't', content: 'second' });

  const trial = await said(owner, { since, by: 'Robot', dry_run: true });
  expect(trial).toMatch(/^13 would be taken back:/);
  expect([await isThere('gone.md'), (await taskOf(changed))?.['content']]).toEqual([false, 'Wronger']);
  const text = await said(owner, { since, by: 'robot' });
  expect(text).toMatch(/^13 taken back; restore with since "20\S+Z" takes that back:/);
  expect(text).toContain('"Spam" removed, as it was new');
  expect(text).toContain('gone.md is back');

  expect(await taskOf(changed)).toMatchObject({ content: 'Renew', due_date: null, completed: false });
  expect(await taskOf(removed)).toMatchObject({ content: 'Doomed' });
  expect(JSON.stringify(await run(owner, 'list_tasks', {}))).not.toContain('Spam');
  expect(await read('cairn://docs/rules/Kept')).toBe('one\n');
  expect(await read('cairn://docs/rules/Gone')).toBe('gone\n');
  expect(await isThere('cairn://docs/rules/New')).toBe(false);
  expect([await read('edited.md'), await read('gone.md'), await read('moved.md')]).toEqual([
    'a\nb\n',
    'still wanted\n',
    'moves\n',
  ]);
  expect([await isThere('new.md'), await isThere('elsewhere/moved.md')]).toEqual([false, false]);
  expect(await read(paper)).toBe('# Paper\n');
  expect(await read('cairn://handoffs/p/t')).toBe('first');

  expect(await said(owner, { since, by: 'robot' })).toBe('0 taken back; all is as it was before');
  // What was taken back comes back by the same means.
  const [, again = ''] = /since "(20\S+Z)"/.exec(text) ?? [];
  expect(await said(owner, { since: again })).toMatch(/^13 taken back/);
  expect(await taskOf(changed)).toMatchObject({ content: 'Wronger', completed: true });
  expect([await isThere('gone.md'), await read('edited.md'), await read('new.md')]).toEqual([false, 'A\nb\n', 'new\n']);
});

test('[FIND-7] what somebody else changed since is left and named; the rest is taken back', async () => {
  const [theirs, both] = [await newTask(`theirs ${n}`), await newTask(`both ${n}`)];
  await run(owner, 'write', { id: `both-${n}.md`, content: '1\n2\n3\n4\n5\n' });
  await run(owner, 'write', { id: `clash-${n}.md`, content: 'a\n' });
  since = await momentBetween();
  await run(robot, 'change_tasks', {
    tasks: [
      { id: theirs, due_date: '2026-12-01' },
      { id: both, due_date: '2026-12-01' },
    ],
  });
  await run(robot, 'write', { id: `cairn://docs/rules/Used-${n}`, content: 'x\n' });
  await run(robot, 'edit', { id: `both-${n}.md`, old: '1', new: 'one' });
  await run(robot, 'edit', { id: `clash-${n}.md`, old: 'a', new: 'b' });
  await run(owner, 'change_tasks', {
    tasks: [
      { id: theirs, due_date: '2026-12-24' },
      { id: both, is_important: true },
    ],
  });
  await run(owner, 'edit', { id: `cairn://docs/rules/Used-${n}`, old: 'x', new: 'mine' });
  await run(owner, 'edit', { id: `both-${n}.md`, old: '5', new: 'five' });
  await run(owner, 'edit', { id: `clash-${n}.md`, old: 'b', new: 'c' });

  const { results } = await restore(robot, { since });
  const left = results.filter(({ done }) => !done);
  expect(left.map(({ id, says }) => `${id} ${says}`)).toEqual([
    expect.stringMatching(new RegExp(`^clash-${n}\\.md is left: changed since by \\S`)),
    expect.stringMatching(/^cairn:\/\/docs\/\d+ "Used-\d" is left: changed since by \S/),
    expect.stringMatching(new RegExp(`^cairn://tasks/${theirs} "theirs \\d" is left: changed since by \\S`)),
  ]);
  expect(await taskOf(theirs)).toMatchObject({ due_date: '2026-12-24' });
  expect(await taskOf(both)).toMatchObject({ due_date: null, is_important: true });
  expect(await read(`both-${n}.md`)).toBe('1\n2\n3\n4\nfive\n');
  expect([await read(`clash-${n}.md`), await read(`cairn://docs/rules/Used-${n}`)]).toEqual(['c\n', 'mine\n']);
});

test('[FIND-7] what somebody else made in between stays: it becomes what that one left', async () => {
  const id = await newTask(`between ${n}`);
  await run(owner, 'write', { id: `between-${n}.md`, content: 'old\n' });
  since = await momentBetween();
  await run(robot, 'change_tasks', { tasks: [{ id, content: 'first' }] });
  await run(robot, 'edit', { id: `between-${n}.md`, old: 'old', new: 'first' });
  await run(owner, 'change_tasks', { tasks: [{ id, content: 'mine' }] });
  await run(owner, 'edit', { id: `between-${n}.md`, old: 'first', new: 'mine' });
  await run(robot, 'change_tasks', { tasks: [{ id, content: 'second' }] });
  await run(robot, 'edit', { id: `between-${n}.md`, old: 'mine', new: 'second' });
  await restore(robot, { since });
  expect([(await taskOf(id))?.['content'], await read(`between-${n}.md`)]).toEqual(['mine', 'mine\n']);
});

test('[FIND-7] only one thing or one folder, and a repeat with its key does nothing again', async () => {
  const id = await newTask(`only ${n}`);
  await run(owner, 'write', { id: `dir-${n}/a.md`, content: 'a\n' });
  since = await momentBetween();
  await run(robot, 'change_tasks', { tasks: [{ id, content: 'wrong' }] });
  await run(robot, 'edit', { id: `dir-${n}/a.md`, old: 'a', new: 'b' });
  const args = { id: `dir-${n}/`, since, idempotency_key: `key-${n}` };
  const first = await restore(robot, args);
  expect(first.results).toEqual([{ id: `dir-${n}/a.md`, done: true, says: 'as it was before' }]);
  await run(owner, 'edit', { id: `dir-${n}/a.md`, old: 'a', new: 'c' });
  expect(await restore(robot, args)).toEqual(first);
  expect([await read(`dir-${n}/a.md`), (await taskOf(id))?.['content']]).toEqual(['c\n', 'wrong']);
  expect((await restore(robot, { id: `cairn://tasks/${id}`, since })).results).toHaveLength(1);
  expect((await taskOf(id))?.['content']).toBe(`only ${n}`);
});

test('[FIND-7] who did nothing is told who did; what is missing or too much is told', async () => {
  since = await momentBetween();
  await newTask(`told ${n}`);
  expect(await said(robot, { since })).toMatch(/^0 taken back; nothing of robot since then, but of \S/);
  expect(await refusal(robot, {})).toContain('id is required: what to bring back; or since');
  expect(await refusal(robot, { by: 'robot' })).toContain('by needs since');
  expect(await refusal(robot, { since: 'soon' })).toContain('since must be ISO 8601 with a zone');
  expect(await refusal(robot, { since, version: 1, id: 'a.md' })).toContain('omit version and at');
});
