import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PlainFolder } from '../../../src/transfer/plain/folder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

test('[OPS-13] a name that the disk cannot hold is left out in words, and the others are written', async () => {
  const root = temporaryFolder();
  const folder = new PlainFolder(root, () => undefined);
  const long = `${'n'.repeat(300)}.md`;
  await folder.write(long, ['long']);
  await folder.write('a.md', ['short']);
  await folder.write('a.md/b.md', ['below a file']);
  await folder.write('a.md', ['twice']);
  expect(folder.leftOut).toEqual([
    `${long}: its name cannot be used on this disk (ENAMETOOLONG)`,
    'a.md/b.md: its name cannot be used on this disk (EEXIST)',
    'a.md: its name cannot be used on this disk (EEXIST)',
  ]);
  expect([folder.files, folder.bytes, readdirSync(root)]).toEqual([1, 5, ['a.md']]);
});
