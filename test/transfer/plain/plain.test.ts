/** cairn export --plain: what an account has, as files that a person opens without Cairn. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Hub, startHub } from '../../support/hub.ts';
import { account, get, sha256 } from '../../support/mirror.ts';
import { listAll } from '../../support/mirror-state.ts';
import { fill, type Owner, toolsOf } from '../../support/portable.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const TEST_MS = 120_000;

let hub: Hub;
let owner: Owner;
let token: string;
let folder: string;
beforeAll(async () => {
  hub = await startHub();
  owner = await account(hub);
  ({ token } = await fill(hub, owner, [1, 65_537]));
  const tool = toolsOf(hub, owner);
  await tool('create_task', { content: '=HYPERLINK("http://example.org")' });
  await tool('create_dev_doc', { title: 'a: b/c?', category: 'docs', content: 'named for people' });
  await tool('create_dev_doc', { title: 'settings', category: 'docs', content: '{}', content_type: 'json' });
  folder = join(temporaryFolder(), 'mine');
  const done = await hub.cli('export', '--email', owner.email, '--plain', folder);
  expect({ code: done.code, stderr: done.stderr }).toEqual({ code: 0, stderr: '' });
  expect(done.stdout).toContain('README.md');
}, TEST_MS);
afterAll(() => hub.kill());

const textOf = (path: string): string => readFileSync(join(folder, path), 'utf8');
const filesIn = (at: string): string[] =>
  readdirSync(join(folder, at), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(join(folder, at).length + 1))
    .sort();
const rowsOf = (path: string) => parse(textOf(path), { columns: true }) as Record<string, string>[];

test('[OPS-13] a plain export has every live task as a row of a table and as a to-do of a calendar', async () => {
  const { tasks } = await toolsOf(hub, owner)<{ tasks: { id: number; content: string }[] }>('list_tasks', {
    limit: 500,
    detail: true,
  });
  const rows = rowsOf('tasks.csv');
  expect(new Set(rows.map(({ id }) => Number(id)))).toEqual(new Set(tasks.map(({ id }) => id)));
  expect(rows).toHaveLength(tasks.length);
  expect(rows.find(({ id }) => id === '2')).toMatchObject({
    task: 'due 😀\n"quoted"',
    status: 'todo',
    category: 'Grüße',
    due_date: '2026-12-01',
    important: 'true',
  });
  expect(rows.map(({ task }) => task)).toContain('\'=HYPERLINK("http://example.org")');
  const calendar = textOf('tasks.ics').replaceAll('\r\n ', '');
  expect(calendar.match(/BEGIN:VTODO/gu)).toHaveLength(tasks.length);
  for (const line of calendar.split('\r\n').slice(0, -1)) expect(line).toMatch(/^[A-Z-]+(;[A-Z]+=[A-Z]+)?:/u);
  expect(calendar).toContain('SUMMARY:due 😀\r\nDESCRIPTION:"quoted"\r\nDUE;VALUE=DATE:20261201');
});

test('[OPS-13] a plain export has the current text of every document under its title', () => {
  expect(filesIn('papers')).toEqual(['On cairns.md', 'Published.md']);
  expect(textOf('papers/On cairns.md')).toBe('second 😀');
  expect(rowsOf('papers.csv').map(({ file, category }) => [file, category])).toEqual([
    ['papers/On cairns.md', 'Grüße'],
    ['papers/Published.md', ''],
  ]);
  expect(filesIn('notes')).toEqual(['claude/CLAUDE.md', 'docs/a b c.md', 'docs/settings.json', 'mine/own.md']);
  const rules = textOf('notes/claude/CLAUDE.md');
  expect([rules.startsWith('# Rules\n'), rules.endsWith(`😀\n${'x'.repeat(70_000)}`)]).toEqual([true, true]);
  expect(filesIn('handoffs')).toEqual(['Cairn/2026-11-20 0930 Überblick.md', 'Cairn/2026-11-20 Überblick.md']);
  expect(textOf('handoffs/Cairn/2026-11-20 Überblick.md')).toBe('third\n'.repeat(100));
});

test('[OPS-13] a plain export has the files of the vaults as they are, and open conflicts beside them', () => {
  expect(filesIn('files')).toEqual([
    'primary/big.txt',
    'primary/image.bin',
    'primary/new/name.md',
    'primary/notes/Grüße.md',
    'second/other.md',
  ]);
  expect(textOf('files/primary/notes/Grüße.md')).toBe('one\n');
  expect(textOf('files/primary/big.txt')).toBe(`${'long line\n'.repeat(20_000)}end`);
  expect(statSync(join(folder, 'files/primary/image.bin'))).toMatchObject({ size: 100_000, mode: 0o100700 });
  expect(filesIn('conflicts')).toEqual(['primary/big, Telefon 😀.txt', 'primary/notes › Grüße, Telefon 😀.md']);
  expect(textOf('conflicts/primary/notes › Grüße, Telefon 😀.md')).toBe('mine');
});

test('[OPS-13] a plain export has the backups as they were uploaded', async () => {
  const rows = rowsOf('backups.csv');
  const blobs = await listAll(hub, { token });
  expect(new Set(rows.map(({ sha256: hash }) => hash))).toEqual(new Set(blobs.map(({ sha256: hash }) => hash)));
  expect(rows).toHaveLength(blobs.length);
  for (const { file = '', sha256: hash, commit, bytes } of rows) {
    const content = readFileSync(join(folder, file));
    expect([sha256(content), content.length]).toEqual([hash, Number(bytes)]);
    const stored = await get(hub, { token }, `/${commit}/download?sha256=${hash}`);
    if (stored.status === 200) expect(stored.bytes.equals(content)).toBe(true);
  }
});

test('[OPS-13] only its owner reads a plain export, it holds no secret and leaves nothing beside it', () => {
  const hidden = [owner.mcp_key, owner.account_id, token];
  for (const path of filesIn('')) {
    expect(statSync(join(folder, path)).mode & 0o077).toBe(0);
    for (const one of hidden)
      expect({ path, found: readFileSync(join(folder, path)).includes(one) }).toEqual({ path, found: false });
  }
  expect(readdirSync(dirname(folder))).toEqual(['mine']);
  expect(textOf('README.md')).toContain(owner.email);
});

test('[OPS-13] a plain export overwrites nothing, and an unknown email leaves nothing', async () => {
  const twice = await hub.cli('export', '--email', owner.email, '--plain', folder);
  expect(twice).toMatchObject({ code: 1, stderr: expect.stringContaining('exists already') });
  const nobody = join(temporaryFolder(), 'nobody');
  const unknown = await hub.cli('export', '--email', 'nobody@example.org', '--plain', nobody);
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('no account has this email') });
  expect([existsSync(nobody), readdirSync(dirname(nobody))]).toEqual([false, []]);
});
