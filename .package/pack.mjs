/**
 * Packs the commands for users: run.js and what it imports, into dist/src/command/. Loading 170 small files takes twice as
 * long as running a command. Commands for operators stay as they are: they load native libraries and workers by their paths.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

/** Packed with the commands. Other packages are loaded from node_modules. */
const PACKED_PACKAGES = /^zod(\/|$)/;

/** `root`: the project. `words`: the first words of the commands for users. */
export async function packCommands(root, words) {
  const folder = join(root, 'dist/src/command');
  rmSync(folder, { recursive: true, force: true });
  const bundle = await rolldown({
    input: join(root, 'dist/src/cli/run.js'),
    platform: 'node',
    external: (id) => /\/operator\//.test(id) || (/^[@a-z]/.test(id) && !PACKED_PACKAGES.test(id)),
  });
  // import.meta.url of a packed file is at the same depth as that of src/common.
  await bundle.write({ dir: folder, format: 'esm', chunkFileNames: '[name].js', comments: { legal: true } });
  await bundle.close();
  const licence = readFileSync(join(root, 'node_modules/zod/LICENSE'), 'utf8');
  writeFileSync(join(folder, 'LICENSE.zod'), licence);
  writeFileSync(join(folder, 'words.txt'), words.join('\n'));
}
