/**
 * The tasks of a working agent, done twice: with the tools for programs, as a model had to before there was a door for
 * models, and at that door. A client is scripted that gives its model only what real clients do.
 */
import { createHash } from 'node:crypto';
import { structured, toolRequest, withKey } from './gateway.ts';
import { call } from './http.ts';

type Target = { readonly url: string };

const FILES = 60;
const LONG = Array.from({ length: 4000 }, (_, index) => `line ${index + 1} of the log of the harbour`).join('\n');
const DOC = `# Deploy\n\n${'Words about it. '.repeat(400)}\n\n## Database\n\nWe use MySQL.\n\n## Later\n\nNothing.\n`;
const NOON = new Date().toISOString();

export type Call = readonly [tool: string, args: Record<string, unknown>];
export interface Task {
  readonly what: string;
  /** What a person says, where the page "What agents can do" has it. */
  readonly prompt?: string;
  /** What the answer must say, in the last call at the door for models. */
  readonly says: RegExp;
  readonly before: readonly Call[];
  readonly after: readonly Call[];
}

const shaOf = (text: string) => createHash('sha256').update(text).digest('hex');
const weekly = Array.from({ length: 5 }, (_, index) => ({
  content: `Step ${index} of the plan`,
  due_date: '2027-01-04',
}));

export const TASKS: readonly Task[] = [
  {
    what: 'continue where the last session stopped',
    prompt: 'Continue with the harbour project where we stopped.',
    says: /half painted/,
    before: [
      ['handoff_list', { project: 'harbour' }],
      ['handoff_get', { project: 'harbour', topic: 'crane' }],
    ],
    after: [['start_session', { project: 'harbour' }]],
  },
  {
    what: 'what is next',
    prompt: 'What should I do today?',
    says: /Task 0/,
    before: [
      ['list_tasks', { due_today: true }],
      ['list_tasks', { overdue: true }],
    ],
    after: [['list_tasks', { due_today: true, overdue: true }]],
  },
  {
    what: 'add five tasks in a category',
    prompt: 'Add the five steps of the plan as tasks for Monday, under Work.',
    says: /5 tasks added/,
    before: [['list_categories', {}], ...weekly.map((one): Call => ['create_task', { ...one, category_id: 1 }])],
    after: [['add_tasks', { tasks: weekly.map((one) => ({ ...one, category: 'Work' })) }]],
  },
  {
    what: 'finish three tasks',
    says: /3 tasks changed/,
    before: [1, 2, 3].map((id): Call => ['update_task', { id, completed: true }]),
    after: [['change_tasks', { tasks: [1, 2, 3].map((id) => ({ id, completed: true })) }]],
  },
  {
    what: 'change a word in a long document',
    prompt: 'Our deploy guide names the wrong database. It is LMDB.',
    says: /is edited at line 7.*We use LMDB/,
    before: [
      ['get_dev_doc', { title: 'Deploy', category: 'docs' }],
      ['update_dev_doc', { title: 'Deploy', category: 'docs', content: DOC.replace('MySQL', 'SQLite') }],
    ],
    after: [['edit', { id: 'cairn://docs/docs/Deploy', old: 'SQLite', new: 'LMDB' }]],
  },
  {
    what: 'read lines 3000 to 3050 of a long file',
    says: /line 3050 of the log/,
    before: [['sync_pull', { path: 'long.txt' }]],
    after: [['read', { id: 'long.txt', lines: '3000-3050' }]],
  },
  {
    what: 'a new note',
    says: /created/,
    before: [['sync_push', { path: 'notes/new.md', content: '# New\n', sha256: shaOf('# New\n'), base_sha: '' }]],
    after: [['write', { id: 'notes/new2.md', content: '# New\n' }]],
  },
  {
    what: 'add a line to a long file',
    says: /is edited/,
    before: [
      ['sync_pull', { path: 'long.txt' }],
      ['sync_push', { path: 'long.txt', content: `${LONG}\nmore\n`, base_sha: shaOf(LONG) }],
    ],
    after: [['edit', { id: 'long.txt', append: 'more again' }]],
  },
  {
    what: 'what is in the vault',
    says: /notes\/ 62, /,
    before: [['sync_list', { limit: 500 }]],
    after: [['list', {}]],
  },
  {
    what: 'move a file',
    says: /1 moved/,
    before: [
      ['sync_list', { prefix: 'notes/note 1.md' }],
      ['sync_push', { path: 'old/note 1.md', from_path: 'notes/note 1.md', base_sha: shaOf('note 1\n') }],
    ],
    after: [['move', { id: 'notes/note 2.md', to: 'old/' }]],
  },
  {
    what: 'bring back a removed file',
    says: /1 restored/,
    before: [
      ['sync_history', { path: 'gone.md' }],
      ['sync_restore', { path: 'gone.md', seq: 1 }],
    ],
    after: [['restore', { id: 'gone too.md' }]],
  },
  {
    what: 'undo a folder',
    prompt: 'Which notes would change if we took the notes folder back to noon?',
    says: /would be restored/,
    before: [['sync_restore_folder', { at: NOON, folder: 'old' }]],
    after: [['restore', { id: 'notes/', at: NOON, dry_run: true }]],
  },
  {
    what: 'remember a fact, and recall it',
    prompt: 'Remember that the crane is red. What do you know about the crane?',
    says: /The crane is red/,
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
    prompt: 'We stop here. Save a handoff.',
    says: /quay/,
    before: [['handoff_save', { project: 'harbour', topic: 'dock', content: 'Done.' }]],
    after: [['handoff_save', { project: 'harbour', topic: 'quay', content: 'Done.' }]],
  },
  {
    what: 'which devices lag',
    says: /device/,
    before: [
      ['vault_list', {}],
      ['vault_connect_status', {}],
    ],
    after: [['list', { in: 'devices' }]],
  },
  {
    what: 'when was the last backup',
    says: /backup/,
    before: [['list_backups', {}]],
    after: [['list', { in: 'backups' }]],
  },
  {
    what: 'plan the week in the own time zone',
    says: /\d{4}-\d\d-\d\d/,
    before: [
      ['list_tasks', { overdue: true }],
      ['list_tasks', { due_today: true }],
    ],
    after: [['start_session', {}]],
  },
  {
    what: 'finish a task by its name',
    prompt: 'Task 10 is done.',
    says: /1 task changed/,
    before: [
      ['list_tasks', { search: 'Task 10' }],
      ['update_task', { id: 11, completed: true }],
    ],
    after: [['change_tasks', { tasks: [{ id: 'Task 10', completed: true }] }]],
  },
  {
    what: 'file a task under a category',
    says: /Work/,
    before: [
      ['list_tasks', { search: 'Task 12' }],
      ['list_categories', {}],
      ['update_task', { id: 13, category_id: 1 }],
    ],
    after: [['change_tasks', { tasks: [{ id: 'Task 12', category: 'work' }] }]],
  },
  {
    what: 'save a handoff again',
    says: /quay/,
    before: [['handoff_save', { project: 'harbour', topic: 'dock', content: 'Done again.' }]],
    after: [['handoff_save', { project: 'harbour', topic: 'quay', content: 'Done again.' }]],
  },
  {
    what: 'what did we decide about the database',
    prompt: 'What did we decide about the database?',
    says: /SQLite|LMDB/,
    before: [
      ['list_dev_docs', { search: 'database' }],
      ['get_dev_doc', { title: 'Deploy', category: 'docs' }],
    ],
    after: [['search', { query: 'database' }]],
  },
  {
    what: 'append to a document',
    says: /is edited/,
    before: [['update_dev_doc', { title: 'Deploy', category: 'docs', content: 'More.', mode: 'append' }]],
    after: [['edit', { id: 'cairn://docs/docs/Deploy', append: 'More.' }]],
  },
  {
    what: 'a rule for all agents',
    says: /created/,
    before: [['create_dev_doc', { title: 'Tone', content: 'Be brief.', category: 'rules', create_category: true }]],
    after: [['write', { id: 'cairn://docs/rules/Voice', content: 'Be brief.' }]],
  },
  {
    what: 'write a paper',
    says: /created/,
    before: [['create_paper', { title: 'On piers', content: 'They stand.' }]],
    after: [['write', { id: 'cairn://papers/new', content: '# On piers\n\nThey stand.' }]],
  },
  {
    what: 'which notes speak of something',
    says: /gull/,
    before: [['sync_pull', { initial: true, limit: 100 }]],
    after: [['search', { query: 'gull' }]],
  },
  {
    what: 'move a folder of 25 files',
    says: /25 moved/,
    before: [
      ['sync_list', { prefix: 'ships/', limit: 100 }],
      [
        'sync_push_many',
        {
          files: Array.from({ length: 25 }, (_, index) => ({
            path: `fleet/ship ${index}.md`,
            from_path: `ships/ship ${index}.md`,
            base_sha: shaOf(`ship ${index}\n`),
          })),
        },
      ],
    ],
    after: [['move', { id: 'boats/', to: 'ferries' }]],
  },
  {
    what: 'settle a conflict',
    prompt: 'Is there a conflict? Keep what the hub has.',
    says: /settled/,
    before: [
      ['sync_pending_conflicts', {}],
      ['sync_resolve_conflict', { path: 'both.md', keep: 'theirs' }],
    ],
    // The other one is settled by then.
    after: [['settle_conflict', { keep: 'current' }]],
  },
  {
    what: 'publish a paper',
    says: /published/,
    before: [
      ['list_papers', {}],
      ['publish_paper', { id: 1, published: true }],
    ],
    after: [['write', { id: 'cairn://papers/2', published: true }]],
  },
  {
    what: 'connect another client',
    says: /codex mcp add/,
    before: [['get_setup_guide', { client: 'codex' }]],
    after: [['read', { id: 'cairn://setup/codex' }]],
  },
  {
    what: 'load all skills',
    says: /Test first[\s\S]*Ask first/,
    before: [
      ['list_dev_docs', { category: 'skills' }],
      ...['Ask', 'Test', 'Tidy'].map((title): Call => ['get_dev_doc', { title, category: 'skills' }]),
    ],
    after: [['read', { id: 'cairn://docs/skills/' }]],
  },
  {
    what: 'change three words in a document',
    says: /3 places/,
    before: [
      ['get_dev_doc', { title: 'Deploy', category: 'docs' }],
      ['update_dev_doc', { title: 'Deploy', category: 'docs', content: DOC.replace('Later', 'Soon') }],
    ],
    after: [
      [
        'edit',
        {
          id: 'cairn://docs/docs/Deploy',
          edits: [
            { old: '## Soon', new: '## Then' },
            { old: 'Nothing.', new: 'All.' },
            { old: '# Deploy', new: '# Rollout' },
          ],
        },
      ],
    ],
  },
];

/** Brings about what the tasks are of. Returns nothing; the account is the one of the key. */
export async function prepareRolePlay(hub: Target, key: string): Promise<void> {
  const run = async (name: string, args: object) => await structured(hub, name, args, key);
  const write = (id: string, content: string) => run('write', { id, content });
  const gone = await structured<{ sha256: string }>(hub, 'sync_push', { path: 'gone.md', content: 'gone\n' }, key);
  await run('sync_push', { path: 'gone.md', deleted: true, base_sha: gone.sha256 });
  await write('gone too.md', 'gone\n');
  await run('remove', { ids: ['gone too.md'] });
  await write('long.txt', LONG);
  await write('birds.md', 'A gull sits on the pier.\n');
  for (let index = 0; index < FILES; index += 1) await write(`notes/note ${index}.md`, `note ${index}\n`);
  for (const [folder, name] of [
    ['ships', 'ship'],
    ['boats', 'boat'],
  ] as const) {
    const files = Array.from({ length: 25 }, (_, index) => ({
      path: `${folder}/${name} ${index}.md`,
      content: `${name} ${index}\n`,
    }));
    await run('sync_push_many', { files });
  }
  for (const path of ['both.md', 'either.md']) {
    await write(path, 'one\n');
    // Refused, and kept as a conflict.
    await run('sync_push', { path, content: 'two\n', base_sha: shaOf('none') }).catch(() => undefined);
  }
  await run('create_dev_doc', { title: 'Deploy', content: DOC });
  for (const title of ['Ask', 'Test', 'Tidy']) {
    const content = `# ${title}\n\n${title} first. ${'Then go on with care. '.repeat(40)}\n`;
    await run('create_dev_doc', { title, content, category: 'skills', create_category: true });
  }
  await run('create_category', { name: 'Work' });
  for (let index = 0; index < 25; index += 1)
    await run('create_task', { content: `Task ${index}`, due_date: '2026-01-01' });
  await run('handoff_save', {
    project: 'harbour',
    topic: 'crane',
    content: 'The crane is half painted. Next: its other half.',
  });
}

/** What one call costs a model, in tokens of four characters: what it writes, and what its client shows of the answer. */
interface CallCost {
  /** Claude Code and VS Code show the structured half, where there is one. */
  readonly structured: number;
  /** Others show the text. */
  readonly text: number;
  readonly said: string;
}

interface Answered {
  readonly isError?: boolean;
  readonly content?: readonly { readonly text?: string }[];
  readonly structuredContent?: object;
}

/** Makes one call as a client of the protocol. Throws when it is refused. */
async function costOf(hub: Target, door: string, key: string, [name, args]: Call): Promise<CallCost> {
  const answer = await call(hub, door, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'MCP-Protocol-Version': '2025-11-25', ...withKey(key) },
    body: JSON.stringify(toolRequest(1, name, args)),
  });
  const { result } = answer.json() as { result?: Answered };
  if (result === undefined || result.isError === true)
    throw new Error(`${name} ${JSON.stringify(args)}: ${answer.text.slice(0, 500)}`);
  const said = (result.content ?? []).map(({ text = '' }) => text).join('\n');
  const asked = JSON.stringify(args).length;
  const shown = result.structuredContent === undefined ? said : JSON.stringify(result.structuredContent);
  return { structured: (asked + shown.length) / 4, text: (asked + said.length) / 4, said };
}

export interface TaskCost {
  readonly calls: number;
  readonly structured: number;
  readonly text: number;
  /** The answer of the last call. */
  readonly said: string;
}

export async function totalOf(hub: Target, door: string, key: string, calls: readonly Call[]): Promise<TaskCost> {
  let sum = { calls: calls.length, structured: 0, text: 0, said: '' };
  for (const one of calls) {
    const { structured: own, text, said } = await costOf(hub, door, key, one);
    sum = { ...sum, structured: sum.structured + own, text: sum.text + text, said };
  }
  return { ...sum, structured: Math.ceil(sum.structured), text: Math.ceil(sum.text) };
}
