/** The tools made for models: read, edit, write, list, move, remove, history, restore, conflicts, tasks in one call. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callTool, structured, textOf } from '../support/gateway.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { type Account, account } from '../support/mirror.ts';
import { momentBetween } from '../support/moment.ts';
import { Device, sha256Of } from '../support/sync.ts';

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

const run = async <T = Record<string, unknown>>(name: string, args: object) =>
  await structured<T>(hub, name, args, owner.mcp_key);
const words = async (name: string, args: object) => textOf(await callTool(hub, name, args, owner.mcp_key));
const refusal = async (name: string, args: object) =>
  (await callTool(hub, name, args, owner.mcp_key)).error?.message ?? '';

interface Read {
  readonly content: string;
  readonly version: number;
}

const KINDS = [
  'notes/plan.md',
  'cairn://docs/rules/Plan',
  'cairn://handoffs/cairn/plan',
  'cairn://papers/new',
] as const;

test.each(KINDS)('[FIND-3] %s is written, read in parts, edited and replaced in the same way', async (place) => {
  const { id, status } = await run<{ id: string; status: string }>('write', {
    id: place,
    content: '# Plan\n\nOne.\n\n## Later\n\nTwo.\n',
  });
  expect(status).toBe('created');
  expect(await run('read', { id, heading: 'later' })).toMatchObject({
    content: '## Later\n\nTwo.\n',
    from_line: 5,
    to_line: 7,
  });
  expect(await run('read', { id, lines: '3' })).toMatchObject({ content: 'One.\n', total_lines: 7, cursor: null });
  await run('edit', { id, old: 'One.', new: 'Eins.' });
  await run('edit', { id, section: 'Later', append: 'Drei.' });
  const { content, version } = await run<Read>('read', { id });
  expect(content).toBe('# Plan\n\nEins.\n\n## Later\n\nTwo.\nDrei.\n');
  expect(await refusal('edit', { id, old: 'Zwei', new: 'x', version: version - 1 })).toContain(
    `at version ${version} now`,
  );
  expect(await refusal('edit', { id, old: 'Eins, zwei.', new: 'x' })).toContain('3: Eins.');
  // What exists is replaced only by someone who read it.
  expect(await refusal('write', { id, content: 'x\n' })).toContain(`version: ${version}`);
  expect(await run('write', { id, content, version })).toMatchObject({ status: 'unchanged' });
  expect(await run('write', { id, content: '# New\n', version })).toMatchObject({ status: 'updated' });
  expect(await run('read', { id })).toMatchObject({ content: '# New\n' });
});

test('[FIND-3] twenty edits of one file at once are all in it', async () => {
  await run('write', { id: 'log.md', content: '# Log\n' });
  const lines = Array.from({ length: 20 }, (_, index) => `- entry ${index}`);
  await Promise.all(lines.map(async (line) => await run('edit', { id: 'log.md', append: line })));
  const { content } = await run<Read>('read', { id: 'log.md' });
  expect(content.split('\n').slice(1, -1).sort()).toEqual(lines.toSorted());
  expect(await words('list', { in: 'conflicts' })).toContain('0 pending');
});

test('[FIND-3] a path that begins with the name of another vault tells of that vault', async () => {
  const own = await account(hub);
  const say = async (name: string, args: object) => {
    const answer = await callTool(hub, name, args, own.mcp_key);
    return answer.error?.message ?? textOf(answer);
  };
  const { vault_id: work } = await structured<{ vault_id: string }>(hub, 'vault_create', { name: 'Work' }, own.mcp_key);
  const there = `cairn://vaults/${work}`;
  await say('write', { id: `${there}/b.md`, content: 'b\n' });
  expect(await say('list', { in: 'work/' })).toContain(`did you mean ${there}/`);
  expect(await say('list', { in: 'vaults/Work' })).toContain(`did you mean ${there}/`);
  const written = await say('write', { id: 'work/a.md', content: 'a\n' });
  expect(written).toContain('work/a.md is created');
  expect(written).toContain(
    `in the folder work of the primary vault; in the vault of this name it would be ${there}/a.md`,
  );
  expect(await say('list', { in: 'work/' })).toContain(`in the vault of this name it would be ${there}/`);
  expect(await say('read', { id: 'Work/B.md' })).toContain(`did you mean ${there}/b.md?`);
  expect(await say('edit', { id: 'Work/B.md', append: 'x' })).toContain(`did you mean ${there}/b.md?`);
  // The folder is in use now, so nothing more is told.
  expect(await say('write', { id: 'work/c.md', content: 'c\n' })).not.toContain(work);
  expect(await say('write', { id: 'other/c.md', content: 'c\n' })).not.toContain('vault');
});

test('[FIND-3] a restore of what has no versions says so, and a dry run changes nothing', async () => {
  const { tasks } = await run<{ tasks: { id: number }[] }>('add_tasks', { tasks: [{ content: 'Water the herbs' }] });
  const id = `cairn://tasks/${tasks[0]?.id}`;
  expect(await refusal('restore', { id, version: 1 })).toContain('a task keeps no earlier versions');
  await run('remove', { ids: [id] });
  expect(await refusal('restore', { id, version: 1 })).toContain('restore without version brings one back');
  await run('restore', { id });
  const first = await run<Read>('write', { id: 'dry.md', content: 'one\n' });
  await run('write', { id: 'dry.md', content: 'two\n', version: first.version });
  expect(await refusal('restore', { id: 'dry.md', version: first.version, dry_run: true })).toContain('dry_run');
  expect(await run('read', { id: 'dry.md' })).toMatchObject({ content: 'two\n' });
});

test('[FIND-3] of two agents that change the version of a task that both read, one is refused', async () => {
  const { tasks } = await run<{ tasks: { id: number; version: number }[] }>('add_tasks', {
    tasks: [{ content: 'Only one of us' }],
  });
  const [{ id, version } = { id: 0, version: 0 }] = tasks;
  const claim = { tasks: [{ id, status: 'in_progress', version }] };
  const told = await Promise.all([refusal('change_tasks', claim), refusal('change_tasks', claim)]);
  // The same change twice leaves the version: the second asks for what there is.
  await run('change_tasks', { tasks: [{ id, content: 'Mine' }] });
  const late = await refusal('change_tasks', { tasks: [{ id, content: 'Yours', version }] });
  expect(late).toContain('at version 3, not');
  expect(await refusal('change_tasks', { tasks: [{ id, remove: true, version }] })).toContain('at version');
  expect(await run('read', { id: `cairn://tasks/${id}` })).toMatchObject({ content: 'Mine' });
  expect(told.filter((one) => one !== '')).toHaveLength(1);
});

test.each(['then/plan.md', 'cairn://docs/rules/Then', 'cairn://handoffs/cairn/then'])(
  '[FIND-3] %s is brought back as it was at a time',
  async (place) => {
    const first = await run<{ id: string; version: number }>('write', { id: place, content: '# One\n' });
    const { id } = first;
    const then = await momentBetween();
    await run('write', { id, content: '# Two\n', version: first.version });
    const content = async () => (await run<Read>('read', { id })).content;
    expect(await words('restore', { id, at: then, dry_run: true })).toContain(`version ${first.version}`);
    expect(await content()).toBe('# Two\n');
    expect(await refusal('restore', { id, at: '2020-01-01T00:00:00Z' })).toMatch(/no such file then|kept from then/);
    expect(await refusal('restore', { id, at: new Date().toISOString() })).toContain('not changed since then');
    expect(await refusal('restore', { id, at: then, version: first.version })).toContain('either version or at');
    await run('restore', { id, at: then });
    expect(await content()).toBe('# One\n');
  },
);

test('[FIND-3] a file that was deleted is brought back as it was at a time, and a folder says what it needs', async () => {
  await run('write', { id: 'gone/a.md', content: 'a\n' });
  const then = await momentBetween();
  expect(await refusal('remove', { ids: ['gone'] })).toContain('gone is a folder; gone/ deletes all of its files');
  await run('remove', { ids: ['gone/a.md'] });
  expect(await refusal('restore', { id: 'gone/' })).toContain('at is required for a folder');
  expect(await words('restore', { id: 'nowhere/', at: then })).toContain('0 restored; nowhere/ is already as it was');
  await run('restore', { id: 'gone/a.md', at: then });
  expect(await run('read', { id: 'gone/a.md' })).toMatchObject({ content: 'a\n' });
});

test('[FIND-3] a paper that was written over is read as it was, and restored by version or time', async () => {
  const paper = await run<{ id: string; version: number }>('write', { id: 'cairn://papers/new', content: '# One\n' });
  const between = await momentBetween();
  const { id } = paper;
  await run('write', { id, content: '# Two\n', version: paper.version });
  const { versions } = await run<{ versions: { version: number }[] }>('history', { id });
  expect(versions.map(({ version }) => version)).toEqual([2, 1]);
  expect(await run('read', { id, version: 1 })).toMatchObject({ content: '# One\n' });
  await run('restore', { id, version: 1 });
  expect(await run('read', { id })).toMatchObject({ content: '# One\n', version: 3 });
  await run('write', { id, content: '# Three\n', version: 3 });
  await run('restore', { id, at: between });
  expect(await run('read', { id })).toMatchObject({ content: '# One\n', version: 5 });
  expect(await refusal('restore', { id, version: 9 })).toContain('versions 1 to 5 are');
});

test('[FIND-3] a list that is empty by a slip says what was probably meant', async () => {
  await run('handoff_save', { project: 'cairn-web', topic: 'state', content: 'x' });
  expect(await words('list', { in: 'handoffs/cairnweb' })).toContain('did you mean handoffs/cairn-web?');
  expect(await words('handoff_list', { project: 'cairnweb' })).toContain('did you mean the project "cairn-web"?');
  expect(await words('handoff_list', { project: 'orchard' })).toBe('0 handoffs');
  expect(await refusal('list', { in: 'tasks' })).toContain('list_tasks lists tasks');
});

test('[FIND-3] an unknown id says what was probably meant', async () => {
  await run('write', { id: 'notes/shopping.md', content: 'x\n' });
  await run('write', { id: 'cairn://docs/rules/deployment.md', content: 'x\n' });
  await run('write', { id: 'cairn://handoffs/lighthouse/storm', content: 'x\n' });
  expect(await refusal('read', { id: 'notes/shoping.md' })).toContain('did you mean notes/shopping.md?');
  expect(await refusal('read', { id: 'cairn://docs/rules/deploy' })).toContain(
    'did you mean cairn://docs/rules/deployment.md?',
  );
  expect(await refusal('read', { id: 'cairn://handoffs/lighthous/storm' })).toContain(
    'did you mean cairn://handoffs/lighthouse/storm?',
  );
  expect(await refusal('read', { id: 'notes' })).toContain('is a folder');
  expect(await refusal('edit', { id: 'notes/none.md', append: 'x' })).toContain('no file notes/none.md');
});

test('[FIND-3] a long text comes in pages', async () => {
  const whole = Array.from({ length: 5000 }, (_, index) => `line ${index + 1} of a long text`).join('\n');
  await run('write', { id: 'long.txt', content: whole });
  let read = '';
  let cursor: string | null = null;
  do {
    const page: { content: string; cursor: string | null } = await run('read', {
      id: 'long.txt',
      ...(cursor === null ? {} : { cursor }),
    });
    read += page.content;
    cursor = page.cursor;
  } while (cursor !== null);
  expect(read).toBe(whole);
  expect(await words('read', { id: 'long.txt', lines: '3000-3002' })).toMatch(
    /lines 3000-3002 of 5000.*\n\nline 3000 of/s,
  );
});

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

test('[RPC-8] a picture is shown as one; other bytes are described', async () => {
  await run('sync_push', { path: 'dot.png', content: PNG, encoding: 'base64' });
  await run('sync_push', { path: 'dot.bin', content: 'AAECAw==', encoding: 'base64' });
  const { result } = await callTool(hub, 'read', { id: 'dot.png' }, owner.mcp_key);
  expect(result?.['content']).toEqual([
    { type: 'text', text: expect.stringContaining('image/png') },
    { type: 'image', mimeType: 'image/png', data: PNG },
  ]);
  expect(await words('read', { id: 'dot.bin' })).toContain('no text');
  expect(await refusal('edit', { id: 'dot.bin', append: 'x' })).toContain('is not text');
});

test('[FIND-3] a file and a folder move with their histories; what is removed comes back', async () => {
  await run('write', { id: 'box/a.md', content: 'a\n' });
  await run('write', { id: 'box/deep/b.md', content: 'b\n' });
  expect(await words('move', { id: 'box/', to: 'crate' })).toContain('2 moved');
  expect(await words('move', { id: 'crate/a.md', to: 'crate/c.md' })).toContain('crate/c.md');
  expect(await words('list', { in: 'crate' })).toMatch(/crate\/deep\/ 1 in it\ncrate\/c\.md 2 bytes/);
  expect(await words('history', { id: 'crate/c.md' })).toContain('as box/a.md');
  expect(await words('remove', { ids: ['crate/c.md', 'crate/none.md'] })).toMatch(
    /1 removed, 1 not:\ncrate\/none\.md no file/,
  );
  expect(await refusal('read', { id: 'crate/c.md' })).toContain('restore brings it back');
  await run('restore', { id: 'crate/c.md' });
  expect(await run('read', { id: 'crate/c.md' })).toMatchObject({ content: 'a\n' });
  const before = await momentBetween();
  await run('edit', { id: 'crate/c.md', append: 'more' });
  await run('write', { id: 'crate/new.md', content: 'new\n' });
  expect(await words('restore', { id: 'crate/', at: before, dry_run: true })).toContain('2 would be restored');
  await run('restore', { id: 'crate/', at: before });
  expect(await run('read', { id: 'crate/c.md' })).toMatchObject({ content: 'a\n' });
  expect(await refusal('read', { id: 'crate/new.md' })).toContain('was deleted');
});

test('[FIND-3] documents and tasks go to the trash and come back', async () => {
  const id = 'cairn://docs/rules/Trash';
  await run('write', { id, content: 'one\n' });
  const { tasks } = await run<{ tasks: { id: number }[] }>('add_tasks', { tasks: [{ content: 'Sweep' }] });
  const task = `cairn://tasks/${tasks[0]?.id}`;
  for (const live of [id, task]) expect(await refusal('restore', { id: live })).toContain('not in the trash');
  await run('remove', { ids: [id, task] });
  expect(await words('list', { in: 'trash' })).toMatch(/docs\/rules\/Trash[\s\S]*Sweep/);
  expect(await refusal('read', { id })).toContain('trash');
  await run('restore', { id });
  await run('restore', { id: task });
  expect(await run('read', { id })).toMatchObject({ content: 'one\n' });
  expect(await words('read', { id: task })).toContain('Sweep');
});

test('[FIND-3] a conflict is read merged, and settled with one side or with a text', async () => {
  const base = '# Base\n\none\ntwo\n';
  await run('write', { id: 'fight.md', content: base });
  const { sha256 } = await run<{ sha256: string }>('sync_pull', { path: 'fight.md' });
  await run('edit', { id: 'fight.md', old: 'one', new: 'eins' });
  const push = { path: 'fight.md', content: base.replace('one', 'uno'), base_sha: sha256 };
  const { error } = await callTool(hub, 'sync_push', push, owner.mcp_key);
  const id = `cairn://conflicts/${String(error?.data?.['conflict_id'])}`;
  expect(await words('list', { in: 'conflicts' })).toContain(id);
  const { content, version } = await run<Read>('read', { id });
  expect(content).toMatch(/<{7}[\s\S]*uno[\s\S]*={7}[\s\S]*eins|<{7}[\s\S]*eins[\s\S]*={7}[\s\S]*uno/);
  expect(await refusal('settle_conflict', { id, text: 'x\n', version: version - 1 })).toContain(
    'read the conflict again',
  );
  await run('settle_conflict', { id, text: base.replace('one', 'eins, uno'), version });
  expect(await run('read', { id: 'fight.md' })).toMatchObject({ content: '# Base\n\neins, uno\ntwo\n' });
  expect(await words('list', { in: 'conflicts' })).toContain('0 pending');
});

test('[FIND-3] many tasks in one call: categories by name, and what failed beside what was done', async () => {
  const items = [
    { content: 'Paint the door', category: 'House', due_date: '2026-12-01' },
    { content: 'Oil the hinge', category: 'house', is_important: true },
  ];
  const { tasks } = await run<{ tasks: { id: number; category_id: number }[] }>('add_tasks', { tasks: items });
  const [first, second] = tasks;
  expect(first?.category_id).toBe(second?.category_id);
  const changes = [
    { id: `cairn://tasks/${first?.id}`, completed: true },
    { id: 9999, completed: true },
    { id: second?.id, category: 'Hause' },
  ];
  const { failed } = await run<{ failed: { index: number; says: string }[] }>('change_tasks', { tasks: changes });
  expect(failed).toEqual([
    { index: 1, says: 'task not found; list_tasks lists all' },
    { index: 2, says: expect.stringContaining('did you mean House?') },
  ]);
  expect(await run('list_tasks', { status: 'done', search: 'door' })).toMatchObject({ count: 1 });
  expect(await refusal('change_tasks', { tasks: [{ id: 9999, completed: true }] })).toContain('task not found');
  expect(await words('list', { in: 'categories' })).toContain('House');
});

test('[FIND-3] list shows what there is, folder by folder, and whole vaults by their names', async () => {
  await run('vault_create', { name: 'Second' });
  await run('write', { id: 'cairn://vaults/Second/inner/x.md', content: 'x\n' });
  const overview = await words('list', {});
  for (const part of ['(primary)', 'Second', 'docs/rules', 'handoffs/cairn', 'open (list_tasks)'])
    expect(overview).toContain(part);
  expect(await words('list', { in: 'cairn://vaults/second/' })).toContain('inner/');
  expect(await words('list', { in: 'cairn://vaults/Second/', glob: '*.md' })).toContain('inner/x.md');
  expect(await words('list', { in: 'docs/rules' })).toContain('cairn://docs/rules/Plan');
  expect(await refusal('list', { in: 'nowhere/' })).toContain('no folder nowhere');
});

test('[FIND-3, OPS-6] names and texts that cannot be stored are refused by each tool, and nothing is damaged', async () => {
  const half = 'half \ud800 a pair';
  const doc = 'cairn://docs/rules/Whole';
  await run('write', { id: doc, content: 'whole\n' });
  const refused: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
    ['remember', { fact: half }],
    ['remember', { fact: 'x', about: half }],
    ['write', { id: 'cairn://docs/rules/Half', content: half }],
    ['write', { id: 'cairn://docs/rules/%0A', content: 'x' }],
    ['write', { id: 'cairn://docs/%00/Name', content: 'x' }],
    ['write', { id: 'cairn://handoffs/a%00b/topic', content: 'x' }],
    ['write', { id: 'cairn://handoffs/project/topic', content: half }],
    ['write', { id: 'cairn://papers/new', content: `# Paper\n${half}` }],
    ['write', { id: 'half.md', content: half }],
    ['edit', { id: doc, old: 'whole', new: half }],
    ['edit', { id: doc, append: half }],
    ['add_tasks', { tasks: [{ content: half }] }],
    ['add_tasks', { tasks: [{ content: 'x', category: half }] }],
  ];
  for (const [tool, args] of refused)
    expect([tool, args, await refusal(tool, args)]).toEqual([tool, args, expect.any(String)]);
  // Long, and cut within a character.
  const flower = '\u{1f33c}'.repeat(1500);
  await run('remember', { fact: flower, about: 'flowers' });
  await run('remember', { fact: 'line one\nline \u0001 two' });
  await run('write', { id: 'cairn://papers/new', content: `# ${flower}\n` });
  const report = JSON.parse((await hub.cli('verify', '--json')).stdout) as Record<string, unknown>;
  expect(report).toMatchObject({ ok: true });
});

test('[FIND-3] a folder is removed with all its files, and its answer says how it comes back', async () => {
  for (const name of ['a.md', 'b/c.md']) await run('write', { id: `attic/${name}`, content: `${name}\n` });
  await run('write', { id: 'attic-plan.md', content: 'stays\n' });
  const said = await words('remove', { ids: ['attic/'] });
  expect(said).toContain('2 files deleted; restore with id "attic/" and at "');
  expect(await refusal('read', { id: 'attic/b/c.md' })).not.toBe('');
  expect(await run('read', { id: 'attic-plan.md' })).toMatchObject({ content: 'stays\n' });
  expect(await refusal('remove', { ids: ['attic/'] })).toContain('no file or folder attic/');
  expect(await refusal('remove', { ids: ['/'] })).not.toBe('');
  const [, at] = /and at "([^"]+)"/.exec(said) ?? [];
  await run('restore', { id: 'attic/', at });
  expect(await run('read', { id: 'attic/b/c.md' })).toMatchObject({ content: 'b/c.md\n' });
});

test('[FIND-3] a folder of another vault comes back by the id that its removal names', async () => {
  for (const vault of ['one', 'two']) await run('vault_create', { name: vault });
  const ids = ['one', 'two'].map((vault) => `cairn://vaults/${vault}/shelf/`);
  for (const id of ids) await run('write', { id: `${id}a.md`, content: `${id}\n` });
  const said = await words('remove', { ids });
  const told = [...said.matchAll(/restore with id "([^"]+)" and at "([^"]+)"/g)];
  expect(told).toHaveLength(2);
  for (const id of ids) expect(await refusal('read', { id: `${id}a.md` })).not.toBe('');
  for (const [, id, at] of told) await run('restore', { id, at });
  for (const id of ids) expect(await run('read', { id: `${id}a.md` })).toMatchObject({ content: `${id}\n` });
});

test('[FIND-3] a folder is removed whatever the case and the form of the letters of its name', async () => {
  await run('write', { id: 'Caf\u00e9/Menu.md', content: 'x\n' });
  const said = await words('remove', { ids: ['cafe\u0301/'] });
  const [, id, at] = /restore with id "([^"]+)" and at "([^"]+)"/.exec(said) ?? [];
  await run('restore', { id, at });
  expect(await run('read', { id: 'Caf\u00e9/Menu.md' })).toMatchObject({ content: 'x\n' });
});

test('[FIND-3] a new file goes into the folder that is there, although its name was written in another case', async () => {
  await run('write', { id: 'Recipes/Cakes/one.md', content: 'x\n' });
  const made = await run<{ id: string; note?: string }>('write', { id: 'recipes/cakes/two.md', content: 'y\n' });
  expect(made).toMatchObject({ id: 'Recipes/Cakes/two.md', note: expect.stringContaining('Recipes/Cakes/') });
  expect(await run('write', { id: 'recipes/Bread/one.md', content: 'z\n' })).toMatchObject({
    id: 'Recipes/Bread/one.md',
  });
  const plain = await run<{ note?: string }>('write', { id: 'Recipes/Cakes/three.md', content: 'y\n' });
  expect(plain.note).toBeUndefined();
});

test('[FIND-3] an edit that meets the push of a device is made of what is there then, and leaves no conflict', async () => {
  const device = new Device(hub, owner.mcp_key, 'busy');
  const bulk = 'a line between the two\n'.repeat(5000);
  const { vault_id: vault } = await device.push('race.md', `top\n${bulk}`);
  const whole = async () => (await run<{ text: string }>('fetch', { id: `cairn://vaults/${vault}/race.md` })).text;
  let met = 0;
  for (let round = 1; round <= 20; round += 1) {
    const read = await whole();
    const pushed = device.call(
      'sync_push',
      device.pushOf('race.md', `device ${round}\n${read}`, { base_sha: sha256Of(read) }),
    );
    await run('edit', { id: 'race.md', append: `agent ${round}\n` });
    const isDone = (await pushed).error === undefined;
    if (isDone) met += 1;
    const content = await whole();
    expect([round, content.endsWith(`agent ${round}\n`), content.startsWith(`device ${round}\n`)]).toEqual([
      round,
      true,
      isDone,
    ]);
  }
  expect(met).toBeGreaterThan(0);
  const { conflicts } = await run<{ conflicts: { device_id: string }[] }>('sync_pending_conflicts', {
    path: 'race.md',
  });
  expect(conflicts.filter((one) => one.device_id !== 'busy')).toEqual([]);
});

test('[FIND-3] a path without a vault goes to the primary one, and its first file tells of the others', async () => {
  const { mcp_key: key } = await account(hub);
  const call = async <T>(name: string, args: object) => await structured<T>(hub, name, args, key);
  const { vault_id: other } = await call<{ vault_id: string }>('vault_create', { name: 'Garden' });
  const first = await call<{ note?: string }>('write', { id: 'todo.md', content: 'x\n' });
  expect(first.note).toContain(
    `the first file of the vault primary, where paths without a vault go; others: cairn://vaults/${other}/ (Garden)`,
  );
  expect((await call<{ note?: string }>('write', { id: 'more.md', content: 'x\n' })).note).toBeUndefined();
});

test('[FIND-3] of a file that was moved, its old path says where it is', async () => {
  await run('write', { id: 'wander/a.md', content: 'x\n' });
  await run('move', { id: 'wander/a.md', to: 'wander/b.md' });
  expect(await refusal('read', { id: 'wander/a.md' })).toMatch(/was moved at .*; it is wander\/b\.md now/);
  await run('move', { id: 'wander/b.md', to: 'wander/deep/c.md' });
  expect(await refusal('edit', { id: 'wander/a.md', append: 'y' })).toContain('it is wander/deep/c.md now');
  await run('remove', { ids: ['wander/deep/c.md'] });
  expect(await refusal('read', { id: 'wander/a.md' })).toContain('was deleted at');
});
