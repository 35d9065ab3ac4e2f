/** The commands over dev docs, papers and handoffs, as a user types them. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { CAIRN, type CommandResult, runCairn } from '../../support/hub.ts';
import { account } from '../../support/mirror.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub();
let env: Record<string, string>;
let folder: string;

beforeAll(async () => {
  const { mcp_key } = await account(hub);
  folder = temporaryFolder();
  env = { CAIRN_SERVER: hub.url, CAIRN_KEY: mcp_key, XDG_CONFIG_HOME: folder, TMPDIR: temporaryFolder() };
});

const cairn = (...args: string[]) => runCairn(args, env);
const ok = async (...args: string[]) => {
  const done = await cairn(...args);
  expect([done.code, done.stderr]).toEqual([0, '']);
  return done.stdout;
};

/** Runs a command with something piped in. */
const piped = (input: string, ...args: string[]): Promise<CommandResult> => runCairn(args, env, input);

/** An editor that runs a line of shell over the file, which is $1 there. */
const editor = (script: string): Record<string, string> => {
  const path = join(temporaryFolder(), 'editor.sh');
  writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o700 });
  return { ...env, EDITOR: path };
};

test('[TASK-7, CLI-1] cairn docs puts, shows, lists versions, removes and restores', async () => {
  const file = join(folder, 'CLAUDE.md');
  writeFileSync(file, '# Rules\n\nÜben.\n');
  expect(await ok('docs', 'put', file, '--category', 'claude')).toContain('created');
  expect(await ok('docs', 'show', 'CLAUDE.md')).toBe('# Rules\n\nÜben.\n');
  writeFileSync(file, 'Second.');
  expect(await ok('docs', 'put', file, '--category', 'claude')).toContain('version 2');
  expect(await ok('docs', 'show', 'CLAUDE.md', '--version', '1')).toBe('# Rules\n\nÜben.\n');
  expect(await ok('docs', 'versions', 'CLAUDE.md')).toMatch(/^2 {2}\S+ {2}7 bytes {2}by \S.*\n1 {2}/);
  expect(await ok('docs', '--category', 'claude')).toContain('claude/CLAUDE.md');
  expect((await piped('piped', 'docs', 'put', '--title', 'in.txt', '--category', 'rules')).stderr).toContain(
    'category',
  );
  expect((await piped('piped', 'docs', 'put', '--title', 'in.txt', '--category', 'rules', '--new-category')).code).toBe(
    0,
  );
  expect(await ok('docs', 'show', 'in.txt')).toBe('piped');
  expect(await ok('docs', 'remove', 'in.txt')).toContain('trash');
  expect((await cairn('docs', 'show', 'in.txt')).code).toBe(1);
  await ok('docs', 'restore', 'in.txt');
  expect(JSON.parse(await ok('docs', 'show', 'in.txt', '--json'))).toMatchObject({ doc: { content: 'piped' } });
});

test('[TASK-5, CLI-1] cairn tasks --today means the day of the account, wherever the machine is', async () => {
  // 25 hours apart: never the same day.
  const [zone, elsewhere] = ['Pacific/Pago_Pago', 'Pacific/Kiritimati'];
  await ok('call', 'set_timezone', `--timezone=${zone}`);
  const today = new Intl.DateTimeFormat('en-CA', { timeZone: zone }).format(new Date());
  await ok('tasks', 'add', 'Look at the sunset', '--due', today);
  const listed = await runCairn(['tasks', '--today'], { ...env, TZ: elsewhere });
  expect([listed.code, listed.stdout]).toEqual([0, expect.stringContaining('Look at the sunset')]);
});

test('[TASK-7, CLI-1] an edit is saved over the version that was opened; over another one the text is kept', async () => {
  await piped('one\n', 'docs', 'put', '--title', 'edited.md');
  const saved = await runCairn(['docs', 'edit', 'edited.md'], editor('echo two >> "$1"'));
  expect([saved.code, saved.stdout]).toMatchObject([0, expect.stringContaining('version 2')]);
  expect(await ok('docs', 'show', 'edited.md')).toBe('one\ntwo\n');
  const same = await runCairn(['docs', 'edit', 'edited.md'], editor('true'));
  expect([same.code, same.stdout]).toEqual([0, 'unchanged\n']);
  const inBetween = `"${process.execPath}" "${CAIRN}" docs put --title edited.md < /dev/null && echo mine > "$1"`;
  const late = await runCairn(['docs', 'edit', 'edited.md'], editor(inBetween));
  expect(late.code).toBe(3);
  const kept = /your text is in (\S+)/.exec(late.stderr)?.[1] ?? '';
  expect(readFileSync(kept, 'utf8')).toBe('mine\n');
  const failed = await runCairn(['docs', 'edit', 'edited.md'], editor('exit 1'));
  expect([failed.code, failed.stderr]).toMatchObject([1, expect.stringContaining('nothing was saved')]);
  expect(existsSync(/is in (\S+)/.exec(failed.stderr)?.[1] ?? '')).toBe(true);
});

test('[DOC-2, CLI-1] cairn docs move renames a document and files it elsewhere, with its versions', async () => {
  await piped('one\n', 'docs', 'put', '--title', 'old.md');
  await piped('two\n', 'docs', 'put', '--title', 'old.md');
  expect(await ok('docs', 'move', 'old.md', 'new.md')).toContain('to cairn://docs/docs/new.md');
  expect(await ok('docs', 'move', 'new.md', 'skills/')).toContain('to cairn://docs/skills/new.md');
  expect(await ok('docs', 'show', 'new.md', '--category', 'skills', '--version', '1')).toBe('one\n');
  const gone = await runCairn(['docs', 'move', 'old.md', 'x.md'], env);
  expect([gone.code, gone.stderr]).toMatchObject([1, expect.stringContaining('dev doc not found')]);
});

test('[TASK-7, CLI-1] cairn papers puts, edits, publishes, removes and restores', async () => {
  const file = join(folder, 'cairns.md');
  writeFileSync(file, '# Cairns\n');
  const { paper } = JSON.parse(await ok('papers', 'put', file, '--json')) as { paper: { id: number; title: string } };
  expect(paper.title).toBe('cairns');
  const id = String(paper.id);
  expect(await ok('papers', 'show', id)).toBe('# Cairns\n');
  writeFileSync(file, '# More\n');
  expect(await ok('papers', 'put', file, '--id', id)).toContain('version 2');
  expect((await runCairn(['papers', 'edit', id], editor('echo end >> "$1"'))).code).toBe(0);
  expect(await ok('papers', 'show', id)).toBe('# More\nend\n');
  expect(await ok('papers', 'show', id, '--version', '1')).toBe('# Cairns\n');
  expect((await ok('papers', 'versions', id)).split('\n').map((line) => line.split(' ')[0])).toEqual([
    '3',
    '2',
    '1',
    '',
  ]);
  expect(await ok('papers', 'versions', id)).toMatch(/^3 {2}20\S+Z by \S.*, 11 bytes/);
  expect(JSON.parse(await ok('papers', 'versions', `#${id}`, '--json'))).toMatchObject({
    id: Number(id),
    versions: [{ version: 3 }, { version: 2 }, { version: 1 }],
  });
  expect((await cairn('papers', 'versions', '999')).code).toBe(1);
  expect(await ok('papers', 'publish', id)).toContain('published');
  expect(await ok('papers', '--published')).toContain(`#${id} cairns`);
  expect(await ok('papers', 'unpublish', id)).toContain('draft');
  expect(await ok('papers', '--published')).not.toContain(`#${id} `);
  await ok('papers', 'remove', id);
  expect((await cairn('papers', 'show', id)).code).toBe(1);
  await ok('papers', 'restore', id);
  expect(await ok('papers', 'show', id)).toBe('# More\nend\n');
});

test('[TASK-7, CLI-1] cairn handoff saves from a file or a pipe, shows, and lists versions', async () => {
  const file = join(folder, 'state.md');
  writeFileSync(file, 'All green.\n');
  await ok('handoff', 'save', 'cairn', 'release', file, '--time', '0930');
  expect((await piped('Tagged.\n', 'handoff', 'save', 'cairn', 'release', '--time', '0930')).code).toBe(0);
  expect(await ok('handoff', 'show', 'cairn', 'release')).toBe('Tagged.\n');
  expect(await ok('handoff', 'show', 'cairn', 'release', '--version', '1')).toBe('All green.\n');
  expect(await ok('handoff', 'versions', 'cairn', 'release')).toMatch(/^2 .* by \S.*\n1 /);
  expect(await ok('handoff', '--project', 'cairn')).toContain('release');
});

test('[PAPER-1, TASK-7, CLI-6] a kept version of a paper, dev doc or handoff is brought back by the command that a change names', async () => {
  const { paper } = JSON.parse((await piped('first\n', 'papers', 'put', '--title', 'Twice', '--json')).stdout) as {
    paper: { id: number };
  };
  const id = String(paper.id);
  const replaced = await piped('second\n', 'papers', 'put', '--id', id);
  // Its text is kept, so nothing says that it is not.
  expect(replaced.stdout).toContain(`\`cairn papers restore ${id} --version 1\` brings the previous text back`);
  expect(replaced.stdout).not.toContain('not kept');
  expect(await ok('papers', 'restore', id, '--version', '1')).toContain('version 3');
  expect(await ok('papers', 'show', id)).toBe('first\n');
  // The text that it was before is a version too.
  expect(await ok('papers', 'show', id, '--version', '2')).toBe('second\n');
  const two = await cairn('papers', 'restore', id, '99', '--version', '1');
  expect([two.code, two.stderr]).toEqual([2, expect.stringContaining('--version is for one paper')]);
  expect((await cairn('papers', 'restore', id, '--version', '99')).stderr).toContain('version 99 of this paper is not');
  await piped('first\n', 'docs', 'put', '--title', 'twice.md');
  const changed = await piped('second\n', 'docs', 'put', '--title', 'twice.md');
  expect(changed.stdout).toContain('`cairn docs restore TITLE --version 1` brings the previous text back');
  expect(await ok('docs', 'restore', 'twice.md', '--version', '1')).toContain('version 3');
  expect(await ok('docs', 'show', 'twice.md')).toBe('first\n');
  await piped('first\n', 'handoff', 'save', 'twice', 'state', '--time', '0800');
  const saved = await piped('second\n', 'handoff', 'save', 'twice', 'state', '--time', '0800');
  expect(saved.stdout).toContain('`cairn handoff restore PROJECT TOPIC --version 1` brings back');
  expect(await ok('handoff', 'restore', 'twice', 'state', '--version', '1')).toContain('version 3');
  expect(await ok('handoff', 'show', 'twice', 'state')).toBe('first\n');
  expect(JSON.parse(await ok('handoff', '--project', 'twice', '--json'))).toMatchObject({
    handoffs: [{ time: '0800' }],
  });
  expect((await cairn('handoff', 'restore', 'twice', 'state')).stderr).toContain('--version is required');
});

test('[CLI-6, FIND-3] cairn trash lists what was deleted, each with a command that brings it back', async () => {
  const { mcp_key } = await account(hub);
  const own = { ...env, CAIRN_KEY: mcp_key };
  const run = async (...args: string[]) => {
    const done = await runCairn(args, own, 'text\n');
    expect([args, done.code, done.stderr]).toEqual([args, 0, '']);
    return done.stdout;
  };
  expect(await run('trash')).toContain('Nothing was deleted');
  await run('tasks', 'add', 'Water the plants');
  await run('papers', 'put', '--title', 'On water');
  await run('docs', 'put', '--title', "it's mine.md", '--category', 'claude');
  await run('call', 'create_category', '--name=Garden');
  await run('vault', 'create', 'Our notes');
  const folder = temporaryFolder();
  for (const name of ['a rose.md', 'b.md', 'c.md']) writeFileSync(join(folder, name), `${name}\n`);
  await run('sync', '--folder', folder, '--vault', 'Our notes');
  await run('call', 'write', '--id=plan.md', '--content=plan');
  await run('call', 'remove', '--ids=["plan.md"]');
  rmSync(join(folder, 'a rose.md'));
  await run('sync', '--folder', folder);
  for (const kind of ['tasks', 'papers']) await run(kind, 'remove', '1');
  await run('docs', 'remove', "it's mine.md");
  await run('call', 'delete_category', '--id=1');
  const lines = (await run('trash')).trim().split('\n');
  expect(lines).toHaveLength(6);
  expect(lines.join('\n')).toMatch(/^cairn tasks restore 1 {2,}Water the plants, deleted 20/m);
  const { items } = JSON.parse(await run('trash', '--json')) as { items: { restore: string }[] };
  for (const { restore } of items) {
    // As a shell reads it.
    const script = `cairn() { "${process.execPath}" "${CAIRN}" "$@"; }; ${restore}`;
    const done = spawnSync('sh', ['-c', script], {
      env: { ...process.env, ...own },
      cwd: temporaryFolder(),
      encoding: 'utf8',
    });
    expect([restore, done.status, done.stderr.replace(/^run `cairn sync`.*\n/m, '')]).toEqual([restore, 0, '']);
  }
  expect(await run('trash')).toContain('Nothing was deleted');
});

test.each([
  [['docs', 'put'], 2, /--title is required/],
  [['docs', 'put', 'nowhere.md'], 1, /cannot read nowhere.md: there is no such file/],
  [['papers', 'show', 'three'], 2, /ID must be a whole number/],
  [['papers', '--published', '--drafts'], 2, /--published or --drafts, not both/],
  [['handoff', 'show', 'cairn'], 2, /handoff show needs TOPIC/],
  [['handoff', 'save', 'a', 'b', 'nowhere.md'], 1, /cannot read/],
  [['docs', 'show', 'missing.md'], 1, /dev doc not found/],
] as const)('[CLI-1] %j is refused: exit code %i', async (args, code, sentence) => {
  const done = await cairn(...args);
  expect([done.code, done.stdout]).toEqual([code, '']);
  expect(done.stderr).toMatch(sentence);
});

test('[CLI-1] a file that is not UTF-8 is refused', async () => {
  const file = join(folder, 'latin.txt');
  writeFileSync(file, Buffer.from([0x66, 0xfc, 0x72]));
  const done = await cairn('docs', 'put', file);
  expect([done.code, done.stderr]).toMatchObject([1, expect.stringContaining('is not UTF-8')]);
});
