/**
 * Packs the commands for users: run.js and what it imports, into dist/src/command/. Loading 170 small files takes twice as
 * long as running a command. Commands for operators stay as they are: they load native libraries and workers by their paths.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { rolldown } from 'rolldown';

/** Packed with the commands. Other packages are loaded from node_modules. */
const PACKED_PACKAGES = /^zod(\/|$)/;

/** Loaded from where they are: commands for operators, and what holds the umask that the process began with. */
const LEFT = /\/(operator\/.+|process)\.js$/;

/** `root`: the project. `words`: the first words of the commands for users. */
export async function packCommands(root, words) {
  const from = join(root, 'dist/src/cli');
  const folder = join(root, 'dist/src/command');
  rmSync(folder, { recursive: true, force: true });
  const bundle = await rolldown({
    input: join(from, 'typed.js'),
    platform: 'node',
    plugins: [
      {
        name: 'what-is-left',
        resolveId(id, importer) {
          const isOfCommands = importer !== undefined && id.startsWith('.') && LEFT.test(id);
          const path = isOfCommands ? relative(folder, resolve(dirname(importer), id)) : '';
          return path.startsWith('../cli/') ? { id: path, external: true } : null;
        },
      },
    ],
    external: (id) => id.startsWith('../cli/') || (/^[@a-z]/.test(id) && !PACKED_PACKAGES.test(id)),
  });
  // import.meta.url of a packed file is at the same depth as that of src/common.
  await bundle.write({ dir: folder, format: 'esm', chunkFileNames: '[name].js', comments: { legal: true } });
  await bundle.close();
  writeFileSync(join(folder, 'LICENSE.zod'), readFileSync(join(root, 'node_modules/zod/LICENSE'), 'utf8'));
  writeFileSync(join(folder, 'words.txt'), words.join('\n'));
}
