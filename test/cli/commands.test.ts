import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { runCairn } from '../support/hub.ts';
import { account } from '../support/mirror.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { useHub } from '../support/use-hub.ts';

const hub = useHub();
let env: Record<string, string>;

beforeAll(async () => {
  const { mcp_key } = await account(hub);
  env = { CAIRN_SERVER: hub.url, CAIRN_KEY: mcp_key, XDG_CONFIG_HOME: temporaryFolder(), TZ: 'Asia/Seoul' };
});

const cairn = (...args: string[]) => runCairn(args, env);

test('[CLI-1] the help names every command, and a command tells its own options with examples that call it', async () => {
  const overview = await cairn('--help');
  expect(overview).toMatchObject({ code: 0, stderr: '' });
  const names = namesIn(overview.stdout);
  expect(names).toEqual(expect.arrayContaining(['serve', 'backups push', 'tasks', 'tasks add', 'call']));
  // The words of each are in test/cli/help.unit.test.ts; here, that a process of its own says them.
  for (const name of ['serve', 'tasks', 'backups push', 'key create', 'completion']) {
    const help = await cairn(...name.split(' '), '--help');
    expect([help.code, help.stderr]).toEqual([0, '']);
    const [synopsis = '', , summary = ''] = help.stdout.split('\n');
    expect(synopsis).toMatch(new RegExp(`^cairn ${name} .*\\[--json\\]`));
    expect(overview.stdout).toContain(summary);
    const examples = help.stdout.split('Examples\n')[1]?.trim().split('\n') ?? [];
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) expect(example).toContain(`cairn ${name}`);
  }
}, 120_000);

test('[CLI-1] the manual lists the commands as the help does', async () => {
  const { stdout } = await cairn('--help');
  const manual = readFileSync(new URL('../../src/manual/cli.md', import.meta.url), 'utf8');
  for (const line of stdout.split('\n').filter((text) => text.startsWith('  cairn '))) expect(manual).toContain(line);
});

test.each([
  [['taks'], /did you mean `cairn tasks`\? See `cairn --help`/],
  [['mirror'], /backups needs one of: init, push, list, latest, pull/],
  [['mirror', 'psuh'], /did you mean `cairn backups push`/],
  [['key', 'create', '--emial', 'x'], /did you mean --email\?/],
  [['key', 'create', '--email', 'x@example.org'], /--name is required, as in `cairn key create .*--name/],
  [['tasks', 'done'], /tasks done needs ID, as in `cairn tasks done 7`; see `cairn tasks done --help`/],
  [['tasks', 'done', 'seven'], /ID must be a whole number/],
  [['papers', 'show', '1', '2'], /unexpected argument: 2/],
  [['sync', 'statsu'], /unexpected argument: statsu; did you mean `cairn sync status`\?/],
  [['vault', 'list', 'x'], /unexpected argument: x; see/],
  [['call', 'list_tasks', '--limit=many'], /--limit must be integer; see `cairn call --help`/],
  [['call', 'list_tasks', '--server'], /--server needs URL/],
  [['completion', 'tcsh'], /bash, zsh, fish/],
])('[CLI-1] %j is wrong usage: exit code 2, one sentence, and where to look', async (args, sentence) => {
  const { code, stdout, stderr } = await cairn(...args);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(sentence);
  expect(stderr.trim().split('\n')).toHaveLength(1);
});

test('[CLI-1] cairn call reads arguments by the schema of the tool, and passes on what the hub refuses', async () => {
  const made = await cairn('call', 'create_task', '--content=12', '--is_important', '--due_date=2026-12-01', '--json');
  expect([made.code, JSON.parse(made.stdout)]).toMatchObject([
    0,
    { task: { content: '12', is_important: true, due_date: '2026-12-01' } },
  ]);
  const { id } = (JSON.parse(made.stdout) as { task: { id: number } }).task;
  const cleared = await cairn('call', 'update_task', `--id=${id}`, '--due_date=null', '--completed=true', '--json');
  expect(JSON.parse(cleared.stdout)).toMatchObject({ task: { due_date: null, completed: true } });
  expect((await cairn('call')).stdout).toMatch(/^list_tasks +\S/m);
  const listed = JSON.parse((await cairn('call', '--json')).stdout) as { tools: unknown[] };
  expect(listed.tools.length).toBeGreaterThan(5);
  const slip = await cairn('call', 'list_tasks', '--limti=3');
  expect([slip.code, slip.stdout]).toEqual([1, '']);
  expect(slip.stderr).toContain('limit');
  const unknown = await cairn('call', 'list_task');
  expect(unknown).toMatchObject({ code: 1, stdout: '' });
  expect(unknown.stderr).toContain('did you mean list_tasks?');
});

test('[CLI-1] cairn call exits 1 when a part was refused, and prints what was done', async () => {
  const tasks = (...all: object[]) => `--tasks=${JSON.stringify(all)}`;
  const both = await cairn(
    'call',
    'add_tasks',
    tasks({ content: 'kept', category: 'Harbour' }, { content: 'late', category: 'Harbor' }),
  );
  expect([both.code, both.stdout]).toEqual([1, expect.stringMatching(/1 task added, 1 not[\s\S]*late[\s\S]*kept/)]);
  const none = await cairn('call', 'change_tasks', tasks({ id: 901 }, { id: 902 }), '--json');
  expect([none.code, JSON.parse(none.stdout)]).toMatchObject([1, { tasks: [], failed: [{ index: 0 }, { index: 1 }] }]);
  const gone = await cairn('call', 'remove', '--ids=["cairn://tasks/901","cairn://tasks/902"]');
  expect([gone.code, gone.stdout]).toEqual([1, expect.stringContaining('0 removed, 2 not')]);
  const pushed = await cairn('call', 'sync_push_many', '--files=[{"path":"a/../b","content":""}]');
  expect([pushed.code, pushed.stdout]).toEqual([1, expect.stringContaining('0 of 1 file accepted, 1 refused')]);
});

test('[CLI-1] several tasks are changed at once: what is refused is told, and stops no other', async () => {
  const ids: string[] = [];
  for (const text of ['Sand the hull', 'Paint the hull', 'Launch']) {
    const added = await cairn('tasks', 'add', text, '--json');
    ids.push(String((JSON.parse(added.stdout) as { task: { id: number } }).task.id));
  }
  const [first = '', second = '', third = ''] = ids;
  const moved = await cairn('tasks', 'edit', first, `#${second}`, '9001', third, '--status', 'in_progress');
  expect([moved.code, moved.stdout.trim().split('\n').length]).toEqual([1, 3]);
  expect(moved.stderr).toMatch(/^cairn: #9001: .*not found/);
  const done = await cairn('tasks', 'done', ...ids, first, '--json');
  const lines = done.stdout.trim().split('\n');
  expect([done.code, lines.map((line) => (JSON.parse(line) as { task: object }).task)]).toMatchObject([
    0,
    ids.map((id) => ({ id: Number(id), completed: true, kanban_status: 'done' })),
  ]);
  expect(await cairn('tasks', 'edit', ...ids, '--text', 'x')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--text is for one task'),
  });
  expect((await cairn('tasks', 'remove', first, 'x')).stderr).toContain('ID must be a whole number');
  expect((await cairn('tasks', '--all', '--search', 'Sand the hull', '--json')).stdout).toContain('Sand the hull');
  expect((await cairn('tasks', 'done')).stderr).toContain('tasks done needs ID, as in');
});

test('[CLI-5] cairn tasks begins with what is due first, however many there are, and goes on to the end', async () => {
  expect((await cairn('tasks', 'add', 'Long overdue', '--due', '2020-01-01')).code).toBe(0);
  const newer = Array.from({ length: 30 }, (_, at) => ({ content: `newer ${at}` }));
  expect((await cairn('call', 'add_tasks', `--tasks=${JSON.stringify(newer)}`)).code).toBe(0);
  expect((await cairn('tasks')).stdout).toContain('Long overdue');
  const seen = new Set<string>();
  for (let offset = 0; ; ) {
    const { stdout } = await cairn('tasks', '--search', 'newer', '--limit', '12', '--offset', String(offset));
    for (const [found] of stdout.matchAll(/newer \d+/g)) seen.add(found);
    const next = /--offset (\d+) continues/.exec(stdout)?.[1];
    if (next === undefined) break;
    expect(Number(next)).toBeGreaterThan(offset);
    offset = Number(next);
  }
  expect(seen.size).toBe(30);
  expect((await cairn('tasks', '--offset', '900')).stdout).toBe('No task matches.\n');
});

test('[CLI-1] cairn tasks edits the given fields only', async () => {
  const added = await cairn('tasks', 'add', 'Water the plants', '--due', '2030-01-02', '--json');
  const { id } = (JSON.parse(added.stdout) as { task: { id: number } }).task;
  const edited = await cairn('tasks', 'edit', String(id), '--status', 'in_progress', '--important', '--json');
  expect(JSON.parse(edited.stdout)).toMatchObject({
    task: { content: 'Water the plants', due_date: '2030-01-02', kanban_status: 'in_progress', is_important: true },
  });
  const cleared = await cairn('tasks', 'edit', String(id), '--due', 'none', '--not-important', '--json');
  expect(JSON.parse(cleared.stdout)).toMatchObject({ task: { due_date: null, is_important: false } });
  expect(await cairn('tasks', 'edit', String(id))).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('nothing to change'),
  });
});

test('[CLI-1] a task takes its text from standard input where - is typed, as documents do', async () => {
  const { mcp_key: key } = await account(hub);
  const env = { CAIRN_SERVER: hub.url, CAIRN_KEY: key };
  const made = await runCairn(['tasks', 'add', '-', '--json'], env, 'Read the log\nof Monday\n');
  expect(JSON.parse(made.stdout)).toMatchObject({ task: { content: 'Read the log\nof Monday' } });
  await runCairn(['tasks', 'edit', '1', '--text', '-'], env, 'Read it\n');
  const listed = await runCairn(['tasks', '--json'], env);
  expect(JSON.parse(listed.stdout)).toMatchObject({ tasks: [{ content: 'Read it' }] });
  expect(await runCairn(['tasks', 'add', '-'], env, '\n')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the text must not be empty'),
  });
});

test('[CLI-1] cairn tasks adds, lists, completes, removes and restores', async () => {
  const added = await cairn('tasks', 'add', 'Écrire les tests', '--due', '2030-01-02', '--important', '--json');
  const { id } = (JSON.parse(added.stdout) as { task: { id: number } }).task;
  expect((await cairn('tasks', '--search', 'écrire')).stdout).toContain('! Écrire les tests');
  expect((await cairn('tasks', 'done', String(id))).code).toBe(0);
  expect((await cairn('tasks')).stdout).not.toContain(`#${id} `);
  expect((await cairn('tasks', '--all')).stdout).toContain(`#${id} `);
  expect((await cairn('tasks', 'reopen', String(id))).code).toBe(0);
  expect((await cairn('tasks', 'remove', String(id))).stdout).toContain('trash');
  expect((await cairn('tasks', '--all')).stdout).not.toContain(`#${id} `);
  expect((await cairn('tasks', 'restore', String(id))).code).toBe(0);
  expect((await cairn('tasks')).stdout).toContain(`#${id} `);
  const gone = await cairn('tasks', 'done', '999999');
  expect([gone.code, gone.stdout]).toEqual([1, '']);
});

test('[CLI-1] a hub that is not there is exit code 4, so that a job knows to try again', async () => {
  const { code, stderr } = await runCairn(['tasks'], { ...env, CAIRN_SERVER: 'http://127.0.0.1:9' });
  expect(code).toBe(4);
  expect(stderr).toContain('cannot connect to');
});

/** The commands that a help lists. */
const namesIn = (help: string) =>
  [...help.matchAll(/^ {2}cairn ((?:[a-z]+ )?[a-z]+) {2,}/gm)].map(([, name = '']) => name);
