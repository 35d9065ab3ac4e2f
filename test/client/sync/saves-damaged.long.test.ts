/** What is left of a kept save that is damaged, or of which nobody knows the name, becomes a copy that a person finds. */
import { readdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sha256Of } from '../../../src/client/sync/folder/file.ts';
import type { FolderPath } from '../../../src/client/sync/folder/path.ts';
import { Saves } from '../../../src/client/sync/folder/saves.ts';
import { startHub } from '../../support/hub.ts';
import { account } from '../../support/mirror.ts';
import { syncedFolder } from '../../support/synced-folder.ts';

test('[SYN-25] a kept save that is damaged, or of which the note is lost, becomes a copy beside the files', async () => {
  const hub = await startHub();
  const { mcp_key: key } = await account(hub);
  const a = syncedFolder(hub, key, 'notes');
  a.write('x.md', 'second\n');
  await a.sync();
  const bytes = Buffer.from('first\n');
  const content = { bytes, sha256: sha256Of(bytes), executable: undefined, modifiedMs: Date.now() };
  const { name } = new Saves(a.at('.cairn')).keep('x.md' as FolderPath, content, null);
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
