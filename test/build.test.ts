/** `npm run build` compiles when a source has changed or a built file is not what it was, and only then. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { temporaryFolder } from './support/temporary-folder.ts';

const repository = fileURLToPath(new URL('..', import.meta.url));

/** A small project that is built as this one is. */
function smallProject(): string {
  const root = temporaryFolder();
  for (const folder of ['src/cli', 'src/web/assets']) mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, 'src/cli/cairn.ts'), "import { word } from '../word.ts';\nexport const said = word;\n");
  writeFileSync(join(root, 'src/word.ts'), "export const word = 'one';\n");
  writeFileSync(join(root, 'src/web/assets/page.css'), 'p {}\n');
  cpSync(join(repository, '.package'), join(root, '.package'), { recursive: true });
  for (const file of ['tsconfig.json', 'package.json', 'package-lock.json'])
    cpSync(join(repository, file), join(root, file));
  symlinkSync(join(repository, 'node_modules'), join(root, 'node_modules'));
  return root;
}

test('a file that is missing from dist/, or has another size, is built again', () => {
  const root = smallProject();
  const word = join(root, 'dist/src/word.js');
  const build = () => execFileSync(process.execPath, [join(root, '.package/build.mjs')]);
  build();
  const builtMs = statSync(word).mtimeMs;
  build();
  expect(statSync(word).mtimeMs).toBe(builtMs);
  rmSync(word);
  build();
  expect(readFileSync(word, 'utf8')).toContain('one');
  writeFileSync(word, '');
  build();
  expect(readFileSync(word, 'utf8')).toContain('one');
  rmSync(join(root, 'dist/src/web/assets/page.css'));
  build();
  expect(existsSync(join(root, 'dist/src/web/assets/page.css'))).toBe(true);
  writeFileSync(join(root, 'src/word.ts'), "export const word = 'two';\n");
  build();
  expect(readFileSync(word, 'utf8')).toContain('two');
});

test('a build with a type error fails and writes nothing, so that what runs is what was built last', () => {
  const root = smallProject();
  const build = () => execFileSync(process.execPath, [join(root, '.package/build.mjs')], { stdio: 'pipe' });
  build();
  writeFileSync(join(root, 'src/word.ts'), "export const word: number = 'two';\n");
  expect(build).toThrow();
  expect(build).toThrow();
  expect(readFileSync(join(root, 'dist/src/word.js'), 'utf8')).toContain('one');
});
