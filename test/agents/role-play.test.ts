/**
 * The tasks of a working agent, done twice: with the tools for programs, as a model had to before there was a door for
 * models, and at that door. Calls and tokens are counted as Claude Code shows them to its model: the structured half.
 */
import { createHash } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { structured, toolRequest, withKey } from '../support/gateway.ts';
import { call } from '../support/http.ts';
import { account } from '../support/mirror.ts';
import { useHub } from '../support/use-hub.ts';

const hub = useHub();
const FILES = Number(process.env['CAIRN_TEST_ROLE_FILES'] ?? 60);
const LONG = Array.from({ length: 4000 }, (_, index) => `line ${index + 1} of the log of the harbour`).join('\n');
const DOC = `# Deploy\n\n${'Words about it. '.repeat(400)}\n\n## Database\n\nWe use MySQL.\n\n## Later\n\nNothing.\n`;
const NOON = new Date().toISOString();

type Call = readonly [tool: string, args: Record<string, unknown>];
interface Task {
  readonly what: string;
  readonly before: readonly Call[];
  readonly after: readonly Call[];
}

const shaOf = (text: string) => createHash('sha256').update(text).digest('hex');
const weekly = Array.from({ length: 5 }, (_, index) => ({
  content: `Step ${index} of the plan`,
  due_date: '2027-01-04',
}));

const TASKS: readonly Task[] = [
  {
    what: 'continue where the last session stopped',
    before: [
      ['handoff_list', { project: 'harbour' }],
      ['handoff_get', { project: 'harbour', topic: 'crane' }],
    ],
    after: [['start_session', { project: 'harbour' }]],
  },
  {
    what: 'what is next',
    before: [
      ['list_tasks', { due_today: true }],
      ['list_tasks', { overdue: true }],
    ],
    after: [['list_tasks', { due_today: true, overdue: true }]],
  },
  {
    what: 'add five tasks in a category',
    before: [['list_categories', {}], ...weekly.map((one): Call => ['create_task', { ...one, category_id: 1 }])],
    after: [['add_tasks', { tasks: weekly.map((one) => ({ ...one, category: 'Work' })) }]],
  },
  {
    what: 'finish three tasks',
    before: [1, 2, 3].map((id): Call => ['update_task', { id, completed: true }]),
    after: [['change_tasks', { tasks: [1, 2, 3].map((id) => ({ id, completed: true })) }]],
  },
  {
    what: 'change a word in a long document',
    before: [
      ['get_dev_doc', { title: 'Deploy', category: 'docs' }],
      ['update_dev_doc', { title: 'Deploy', category: 'docs', content: DOC.replace('MySQL', 'SQLite') }],
    ],
    after: [
      ['read', { id: 'cairn://docs/docs/Deploy', heading: 'Database' }],
      ['edit', { id: 'cairn://docs/docs/Deploy', old: 'SQLite', new: 'LMDB' }],
    ],
  },
  {
    what: 'read lines 3000 to 3050 of a long file',
    before: [['sync_pull', { path: 'long.txt' }]],
    after: [['read', { id: 'long.txt', lines: '3000-3050' }]],
  },
  {
    what: 'a new note',
    before: [['sync_push', { path: 'notes/new.md', content: '# New\n', sha256: shaOf('# New\n'), base_sha: '' }]],
    after: [['write', { id: 'notes/new2.md', content: '# New\n' }]],
  },
  {
    what: 'add a line to a long file',
    before: [
      ['sync_pull', { path: 'long.txt' }],
      ['sync_push', { path: 'long.txt', content: `${LONG}\nmore\n`, base_sha: shaOf(LONG) }],
    ],
    after: [['edit', { id: 'long.txt', append: 'more again' }]],
  },
  {
    what: 'what is in the vault',
    before: [['sync_list', { limit: 500 }]],
    after: [
      ['list', {}],
      ['list', { in: 'notes/' }],
    ],
  },
  {
    what: 'move a file',
    before: [
      ['sync_list', { prefix: 'notes/note 1.md' }],
      ['sync_push', { path: 'old/note 1.md', from_path: 'notes/note 1.md', base_sha: shaOf('note 1\n') }],
    ],
    after: [['move', { id: 'notes/note 2.md', to: 'old/' }]],
  },
  {
    what: 'bring back a removed file',
    before: [
      ['sync_history', { path: 'gone.md' }],
      ['sync_restore', { path: 'gone.md', seq: 1 }],
    ],
    after: [['restore', { id: 'gone too.md' }]],
  },
  {
    what: 'undo a folder',
    before: [['sync_restore_folder', { at: NOON, folder: 'old' }]],
    after: [['restore', { id: 'notes/', at: NOON, dry_run: true }]],
  },
  {
    what: 'remember a fact, and recall it',
    before: [
      ['create_dev_doc', { title: 'fact', content: 'The crane is red.\n' }],
      ['list_dev_docs', {}],
      ['get_dev_doc', { title: 'fact' }],
    ],
    after: [
      ['remember', { fact: 'The crane is red.', about: 'crane' }],
      ['recall', { query: 'crane' }],
    ],
  },
  {
    what: 'save a handoff',
    before: [['handoff_save', { project: 'harbour', topic: 'dock', content: 'Done.' }]],
    after: [['handoff_save', { project: 'harbour', topic: 'quay', content: 'Done.' }]],
  },
  {
    what: 'which devices lag',
    before: [
      ['vault_list', {}],
      ['vault_connect_status', {}],
    ],
    after: [['list', { in: 'devices' }]],
  },
  { what: 'when was the last backup', before: [['list_backups', {}]], after: [['list', { in: 'backups' }]] },
];

let key = '';
beforeAll(async () => {
  ({ mcp_key: key } = await account(hub));
  const run = async (name: string, args: object) => await structured(hub, name, args, key);
  const gone = await structured<{ sha256: string }>(hub, 'sync_push', { path: 'gone.md', content: 'gone\n' }, key);
  await run('sync_push', { path: 'gone.md', deleted: true, base_sha: gone.sha256 });
  await run('write', { id: 'gone too.md', content: 'gone\n' });
  await run('remove', { ids: ['gone too.md'] });
  await run('write', { id: 'long.txt', content: LONG });
  for (let index = 0; index < FILES; index += 1)
    await run('write', { id: `notes/note ${index}.md`, content: `note ${index}\n` });
  await run('create_dev_doc', { title: 'Deploy', content: DOC });
  await run('create_category', { name: 'Work' });
  for (let index = 0; index < 25; index += 1)
    await run('create_task', { content: `Task ${index}`, due_date: '2026-01-01' });
  await run('handoff_save', {
    project: 'harbour',
    topic: 'crane',
    content: 'The crane is half painted. Next: its other half.',
  });
});

/** What a model writes and reads for one call, in tokens of four characters. Throws when the call is refused. */
async function costOf(door: string, [name, args]: Call): Promise<number> {
  const answer = await call(hub, door, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'MCP-Protocol-Version': '2025-11-25', ...withKey(key) },
    body: JSON.stringify(toolRequest(1, name, args)),
  });
  const { result } = answer.json() as { result?: { isError?: boolean; structuredContent?: object } };
  if (result === undefined || result.isError === true)
    throw new Error(`${name} ${JSON.stringify(args)}: ${answer.text.slice(0, 500)}`);
  return (JSON.stringify(args).length + JSON.stringify(result.structuredContent).length) / 4;
}

async function total(door: string, calls: readonly Call[]): Promise<number> {
  let tokens = 0;
  for (const one of calls) tokens += await costOf(door, one);
  return Math.ceil(tokens);
}

test('[MCP-8, RPC-8] the tasks of an agent take at most half of the tokens, and fewer calls, at the door for models', async () => {
  const rows: { what: string; calls: string; before: number; after: number }[] = [];
  for (const { what, before, after } of TASKS) {
    rows.push({
      what,
      calls: `${before.length} → ${after.length}`,
      before: await total('/api/mcp', before),
      after: await total('/mcp', after),
    });
  }
  if (process.env['CAIRN_TEST_ROLE_FILES'] !== undefined)
    process.stdout.write(`${rows.map((row) => JSON.stringify(row)).join('\n')}\n`);
  const sum = (of: (row: (typeof rows)[number]) => number) => rows.reduce((all, row) => all + of(row), 0);
  expect(sum(({ after }) => after) * 2).toBeLessThanOrEqual(sum(({ before }) => before));
  const calls = (of: 'before' | 'after') => TASKS.reduce((all, task) => all + task[of].length, 0);
  expect(calls('after')).toBeLessThan(calls('before'));
});
