/** Kept saves that cannot be sent: damaged ones, those of which nobody knows the name, and those that the hub refuses. */
import { readdirSync, writeFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { sha256Of } from '../../../src/client/sync/folder/file.ts';
import { Saves } from '../../../src/client/sync/folder/saves.ts';
import { startHub } from '../../support/hub.ts';
import { keepSave } from '../../support/keep-save.ts';
import { account } from '../../support/mirror.ts';
import { syncedFolder, until } from '../../support/synced-folder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

test('[SYN-25] a kept save that is damaged, or of which the note is lost, becomes a copy beside the files', async () => {
  const hub = await startHub();
  const { mcp_key: key } = await account(hub);
  const a = syncedFolder(hub, key, 'notes');
  a.write('x.md', 'second\n');
  await a.sync();
  const name = keepSave(a, { path: 'x.md', text: 'first\n', base: null });
  a.write(`.cairn/saves/${name}`, 'fir');
  writeFileSync(a.at('.cairn/saves/1-without-a-note'), 'of an unknown file\n');
  const { stdout } = await a.sync();
  expect(stdout).toMatch(/x\.md.*an earlier save of it is damaged/);
  const copies = readdirSync(a.folder).filter((one) => one.includes('(conflict '));
  expect(copies.map((one) => a.read(one)).sort()).toEqual(['fir', 'of an unknown file\n']);
  expect(a.read('x.md')).toBe('second\n');
  expect(readdirSync(a.at('.cairn/saves'))).toEqual([]);
  expect(await a.sync()).toMatchObject({ code: 0, stdout: 'up to date\n' });
  await hub.stop();
});

test('[SYN-25] a save of a file that the hub refused stays until the hub takes it, unless the file still has its bytes', async () => {
  const hub = await startHub();
  const { mcp_key: key, email } = await account(hub);
  const folder = temporaryFolder();
  const full = syncedFolder(hub, key, 'notes', folder);
  full.write('x.md', 'zero\n');
  await full.sync();
  const { stdout: made } = await hub.cli('key', 'create', '--email', email, '--name', 'r', '--read-only', '--json');
  const reads = syncedFolder(hub, (JSON.parse(made) as { mcp_key: string }).mcp_key, 'notes', folder);
  const watch = reads.watch();
  onTestFinished(async () => {
    await watch.kill();
  });
  await until(() => watch.output().includes('watching'), watch.output);
  const kept = () => new Saves(reads.at('.cairn')).list().map((save) => save.read()?.bytes.toString());
  const texts = ['second\n', 'third\n', 'fourth\n'];
  for (const [at, text] of texts.entries()) {
    reads.write('x.md', text);
    await until(() => kept().length > at, watch.output);
    await until(() => watch.output().includes('may only read'), watch.output);
  }
  await watch.stop();
  expect((await reads.sync()).stderr).toContain('Earlier saves of it wait in .cairn/saves');
  expect(readdirSync(folder).filter((name) => name.startsWith('x'))).toEqual(['x.md']);
  expect(kept()).toEqual(texts);
  await full.sync();
  const { stdout } = await full.sync('history', 'x.md', '--json');
  for (const text of texts) expect(stdout).toContain(sha256Of(Buffer.from(text)));
  expect(readdirSync(full.at('.cairn/saves'))).toEqual([]);
  await hub.stop();
});
