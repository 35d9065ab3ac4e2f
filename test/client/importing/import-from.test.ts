/** `cairn import --from`, as a person who leaves another program types it. */
import { createWriteStream, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { beforeAll, expect, test } from 'vitest';
import { ZipFile } from 'yazl';
import { limits } from '../../../src/limits/service.ts';
import { runCairn } from '../../support/hub.ts';
import { account } from '../../support/mirror.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub();
let env: Record<string, string>;
let folder: string;

beforeAll(async () => {
  const { mcp_key } = await account(hub);
  folder = temporaryFolder();
  env = { CAIRN_SERVER: hub.url, CAIRN_KEY: mcp_key, XDG_CONFIG_HOME: folder };
});

const cairn = (...args: string[]) => runCairn(args, env);
/** The content of a file in a vault. */
const shown = async (vault: string, path: string) => {
  const listed = JSON.parse((await cairn('vault', 'list', '--json')).stdout) as { vaults: Record<string, string>[] };
  const id = listed.vaults.find(({ name }) => name === vault)?.['vault_id'];
  const pulled = JSON.parse(
    (await cairn('call', 'sync_pull', `--vault_id=${id}`, `--paths=${JSON.stringify([path])}`, '--json')).stdout,
  ) as { files: { content: string }[] };
  return pulled.files[0]?.content;
};

async function zipped(name: string, files: Readonly<Record<string, string | Buffer>>): Promise<string> {
  const zip = new ZipFile();
  for (const [path, bytes] of Object.entries(files)) zip.addBuffer(Buffer.from(bytes), path);
  zip.end();
  const file = join(folder, name);
  await finished(zip.outputStream.pipe(createWriteStream(file)));
  return file;
}

const CSV = 'TYPE,CONTENT,DESCRIPTION,PRIORITY,INDENT,AUTHOR,RESPONSIBLE,DATE,DATE_LANG,TIMEZONE\n';

test('[CLI-4] a backup of Todoist becomes tasks with categories; a second import adds nothing', async () => {
  const file = await zipped('todoist.zip', {
    'Home [123].csv': `${CSV}task,Water the plants,,1,1,,,2026-12-01,en,\n`,
    'Work.csv': `${CSV}task,Write the report,,4,1,,,,,\n`,
  });
  expect((await cairn('import', file, '--from', 'todoist', '--dry-run')).stdout).toContain('2 tasks to import');
  const first = await cairn('import', file, '--from', 'todoist');
  expect([first.code, first.stderr, first.stdout]).toEqual([0, '', expect.stringContaining('imported 2 tasks')]);
  const { tasks } = JSON.parse((await cairn('tasks', '--json')).stdout) as { tasks: Record<string, unknown>[] };
  expect(tasks).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ content: 'Water the plants', due_date: '2026-12-01', is_important: true }),
    ]),
  );
  const again = JSON.parse((await cairn('import', file, '--from', 'todoist', '--json')).stdout) as unknown;
  expect(again).toEqual({ created: 0, unchanged: 2, notices: [] });
});

test('[CLI-4] tasks that are there are found beyond the first page of their category', async () => {
  const { mcp_key } = await account(hub);
  const own = { ...env, CAIRN_KEY: mcp_key };
  const contents = Array.from({ length: 600 }, (_, at) => `Chapter ${at + 1}`);
  for (let at = 0; at < contents.length; at += limits.tasksAtOnceMax) {
    const tasks = contents.slice(at, at + limits.tasksAtOnceMax).map((content) => ({ content, category: 'Book' }));
    expect((await runCairn(['call', 'add_tasks', `--tasks=${JSON.stringify(tasks)}`], own)).stderr).toBe('');
  }
  const file = join(folder, 'Book.csv');
  writeFileSync(file, `${CSV}${[...contents, 'Epilogue'].map((one) => `task,${one},,1,1,,,,,\n`).join('')}`);
  const done = await runCairn(['import', file, '--from', 'todoist', '--json'], own);
  expect(JSON.parse(done.stdout)).toEqual({ created: 1, unchanged: 600, notices: [] });
});

test('[CLI-4] an export of Notion becomes files with readable names, parts inside the archive too', async () => {
  const id = 'a'.repeat(32);
  const part = await zipped('part.zip', { [`Inner ${id}.md`]: '# Inner\n' });
  const file = await zipped('Export.zip', {
    [`Home ${id}.md`]: `See [plan](Home%20${id}/Plan%20${id}.md)\n`,
    [`Home ${id}/Plan ${id}.md`]: '# Plan\n',
    'ExportBlock-Part-1.zip': readFileSync(part),
  });
  const done = await cairn('import', file, '--from', 'notion', '--vault', 'notion');
  expect([done.code, done.stderr, done.stdout]).toEqual([0, '', expect.stringContaining('imported 3 files')]);
  expect(await shown('notion', 'Home.md')).toBe('See [plan](Home/Plan.md)\n');
  expect(await shown('notion', 'Inner.md')).toBe('# Inner\n');
});

test('[CLI-4, SYN-3] a folder of notes becomes a vault; what the vault has is never overwritten', async () => {
  const notes = join(folder, 'Obsidian');
  mkdirSync(join(notes, '.obsidian'), { recursive: true });
  writeFileSync(join(notes, '.obsidian/app.json'), '{}');
  writeFileSync(join(notes, 'today.md'), '# Today\n');
  writeFileSync(join(notes, 'photo.png'), Buffer.from([0x89, 0x50, 0xff, 0x00]));
  symlinkSync('/etc/hostname', join(notes, 'link.md'));
  const done = await cairn('import', notes, '--from', 'obsidian', '--vault', 'notes');
  expect(done.stdout).toContain('imported 2 files');
  expect(done.stderr).toContain('.obsidian is left out');
  expect(done.stderr).toContain('link.md is left out');
  writeFileSync(join(notes, 'today.md'), '# Changed\n');
  writeFileSync(join(notes, 'new.md'), '# New\n');
  const again = await cairn('import', notes, '--from', 'markdown', '--vault', 'notes');
  expect([again.code, again.stdout]).toEqual([1, expect.stringContaining('imported 1 file; 1 were there already')]);
  expect(again.stderr).toContain('today.md is left out: the vault has a file of this name with other content');
  expect(await shown('notes', 'today.md')).toBe('# Today\n');
});

test.each([
  [['import', 'x', '--from', 'evernote'], /--from must be one of todoist, notion, obsidian, markdown/],
  [['import', 'missing.zip', '--from', 'notion'], /missing\.zip cannot be read as a ZIP archive/],
  [['import', 'missing', '--from', 'obsidian'], /missing cannot be read/],
])('[CLI-4] %j says what is wrong', async (args, sentence) => {
  const done = await cairn(...args);
  expect(done.code).not.toBe(0);
  expect(done.stderr).toMatch(sentence);
});
