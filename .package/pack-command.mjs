/**
 * Packs the command and its commands for users into few files beside it: Node.js finds and reads one file in place of fifty.
 * What runs a hub stays as it is compiled. The packed files are as deep as what they are made of, so that paths beside
 * a module keep their meaning.
 */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

const PACKED = /^packed-.*\.js$/;
/** What loads the service, as `cairn.js` names it. */
const WHOLE = ['./commands.js', './every-command.js'];

/** A compiled module, and those of ours that it needs before it runs. */
function neededBy(file, found = new Set()) {
  if (found.has(file)) return found;
  found.add(file);
  for (const [, path] of readFileSync(file, 'utf8').matchAll(/ from '(\.\.?\/[^']+)';$/gm)) {
    neededBy(fileURLToPath(new URL(path, pathToFileURL(file))), found);
  }
  return found;
}

/** Packs `dist/src/cli/cairn.js` of a project whose sources are compiled, in place. */
export async function packCommand(root) {
  const folder = join(root, 'dist/src/cli');
  const input = join(folder, 'cairn.js');
  for (const name of readdirSync(folder)) if (PACKED.test(name)) rmSync(join(folder, name));
  if (!existsSync(join(folder, 'run.js'))) return;
  const first = neededBy(input);
  // What waits at its top for a file must not be needed by that file.
  first.delete(input);
  // Every command runs so, and a status is asked for often, by prompts: it needs nothing that speaks to a hub.
  for (const name of ['run.js', 'user/sync-status.js']) neededBy(join(folder, name), first);
  const client = new Set(['user/tasks.js'].flatMap((name) => [...neededBy(join(folder, name))]));
  // The commands of sync share many small rooms; what backups need as well stays apart.
  const backups = neededBy(join(folder, 'user/mirror/commands.js'));
  const below = ['folders', 'vault'].flatMap((room) =>
    readdirSync(join(folder, 'user', room)).map((name) => `user/${room}/${name}`),
  );
  const syncFiles = ['user/sync.js', ...below];
  const sync = new Set(
    syncFiles.filter((name) => name.endsWith('.js')).flatMap((name) => [...neededBy(join(folder, name))]),
  );
  for (const file of backups) sync.delete(file);
  const bundle = await rolldown({ input, platform: 'node', external: (id) => WHOLE.includes(id) });
  await bundle.write({
    dir: folder,
    format: 'esm',
    entryFileNames: 'cairn.js',
    chunkFileNames: 'packed-[name].js',
    codeSplitting: {
      groups: [
        { name: 'first', test: (id) => first.has(id), priority: 2 },
        { name: 'client', test: (id) => client.has(id) || /\/node_modules\/zod\//.test(id), priority: 1 },
        { name: 'folders', test: (id) => sync.has(id), priority: 0 },
      ],
    },
  });
  await bundle.close();
}
