/** A refusal at the door for models leads on by a tool which that door lists: most clients call no other. */
import { beforeAll, expect, test } from 'vitest';
import { callAsClient, listTools, textOf, withKey } from '../support/gateway.ts';
import { type Account, account } from '../support/mirror.ts';
import { useHub } from '../support/use-hub.ts';

const hub = useHub();
const DOOR = '/mcp';
let owner: Account;
/** Names of tools that the door does not list. */
let unlisted: RegExp;

beforeAll(async () => {
  owner = await account(hub);
  const namesAt = async (door: string) => (await listTools(hub, withKey(owner.mcp_key), door)).map(({ name }) => name);
  const listed = await namesAt(DOOR);
  const others = (await namesAt(`${DOOR}?toolsets=all`)).filter((name) => !listed.includes(name) && name.includes('_'));
  expect(others.length).toBeGreaterThan(20);
  unlisted = new RegExp(`\\b(${others.join('|')})\\b`);
  await run('write', { id: 'n.md', content: 'One.\n' });
  await run('write', { id: 'taken.md', content: 'Two.\n' });
  await run('add_tasks', { tasks: [{ content: 'Pay rent' }, { content: 'Call Bob' }] });
  await run('change_tasks', { tasks: [{ id: 2, remove: true }] });
});

const run = (name: string, args: object) => callAsClient(hub, { door: DOOR, key: owner.mcp_key }, name, args);

const REFUSED: readonly (readonly [string, object, string])[] = [
  ['restore', { id: 'none.md', version: 3 }, 'list shows what is there'],
  ['restore', { id: 'n.md', version: 9 }, 'version 9 is not an available version of this path; history lists them'],
  ['move', { id: 'n.md', to: 'taken.md' }, 'choose another name, or remove that file first'],
  ['remove', { ids: ['cairn://vaults/primary/'] }, 'this is a whole vault; name its folders and files'],
  ['move', { id: 'cairn://vaults/primary/', to: 'old/' }, 'this is a whole vault; name its folders and files'],
  ['move', { id: 'cairn://tasks/1', to: 'old/' }, 'change_tasks with category or status moves a task'],
  ['change_tasks', { tasks: [{ id: 1, completed: true, version: 9 }] }, 'send it with version 1'],
  ['history', { id: 'none.md' }, 'list shows what is there'],
  ['history', { id: 'cairn://docs/99' }, 'list with in "docs" lists all'],
  ['read', { id: 'cairn://conflicts/c_1' }, 'list with in "conflicts" lists them'],
  ['settle_conflict', { id: 'cairn://conflicts/c_1', keep: 'both' }, 'list with in "conflicts" lists them'],
  ['read', { id: 'cairn://docs/rules/None' }, 'search finds ids'],
  ['read', { id: 'cairn://tasks/2' }, 'in the trash (restore brings it back)'],
  ['change_tasks', { tasks: [{ id: 2, completed: true }] }, 'it is in the trash; restore brings it back'],
  ['restore', { id: 'cairn://papers/9' }, 'list with in "papers" lists all'],
  ['write', { id: 'cairn://vaults/primry/a.md', content: 'x' }, 'no vault primry; did you mean primary?'],
  ['write', { id: 'cairn://vaults/zzz/a.md', content: 'x' }, 'list with in "vaults" shows them'],
  ['read', { id: 'n.md', lines: [1, 2] }, 'lines must be like "40", "40-80" or "40-"'],
  [
    'settle_conflict',
    { id: 'cairn://conflicts/c_1', text: '<<<<<<< a\nb\n=======\nc\n>>>>>>> d\n' },
    'conflict markers',
  ],
];

test.each(REFUSED)(
  '[TOOL-5, FIND-3] %s with %j is refused with a step that a model can take',
  async (name, args, step) => {
    const reply = await run(name, args);
    expect(reply).toMatchObject({ result: { isError: true } });
    expect(textOf(reply)).toContain(step);
    expect(textOf(reply)).not.toMatch(unlisted);
  },
);

test('[FIND-3] of many items, the refused ones are named as the caller named them, with the next step', async () => {
  const changed = textOf(
    await run('change_tasks', {
      tasks: [
        { id: 1, is_important: true },
        { id: 99, completed: true },
      ],
    }),
  );
  expect(changed).toContain('1 task changed, 1 not');
  expect(changed).toContain('not changed: #99: task not found; list_tasks lists all');
  const removed = textOf(await run('remove', { ids: ['cairn://docs/99', 'cairn://papers/99'] }));
  expect(removed).toContain('cairn://docs/99 dev doc not found; list with in "docs" lists all');
  expect(removed).not.toMatch(unlisted);
});

test('[TOOL-5] the items of a list are repaired as its arguments are', async () => {
  const added = await run('add_tasks', {
    tasks: '[{"content":"5","is_important":"true","due_date":null,"status":null}]',
  });
  // A text stays a text, whatever it looks like.
  expect(textOf(added)).toContain('#3 5 (important');
  expect(textOf(await run('change_tasks', { tasks: ['{"id":"3","completed":"TRUE"}'] }))).toContain(
    '#3 5 (important, done',
  );
  expect(textOf(await run('add_tasks', { tasks: [{ content: 'x', is_important: 'yes' }] }))).toContain(
    'tasks.0.is_important must be true or false',
  );
});

test('[FIND-3] a change puts a task into a category that is made for it, and a slip into none', async () => {
  const into = async (category: string) => textOf(await run('change_tasks', { tasks: [{ id: 1, category }] }));
  expect(await into('Work')).toContain('category Work');
  expect(await into('Wrk')).toContain('did you mean Work?');
  expect(await into('work')).toContain('category Work');
  expect(await into('')).not.toContain('category');
});
