/**
 * Packs the commands into few files beside them: Node.js finds, reads and compiles one file in place of some hundred. Those
 * for users are packed apart, so that they load nothing of a hub. The threads of a hub load what they need as it is compiled.
 * Each part of a packed file begins with the name of its module, which traces in the log show (`common/log/log-text.ts`).
 */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

const PACKED = /^packed-.*\.js$/;
/** What loads the service, as `cairn.js` names it. */
const WHOLE = ['./commands.js', './every-command.js'];
/** Packages in JavaScript alone that every start of a hub loads. Others are loaded from where they are installed. */
const HUB_PACKAGES = [
  ...['zod', 'preact', 'preact-render-to-string', 'jose', 'otpauth', '@noble/ciphers', '@noble/hashes'],
  ...['@fastify/busboy', 'uqr', 'ignore', 'pino'],
  // What pino is made of.
  ...['pino-std-serializers', 'quick-format-unescaped', 'sonic-boom', 'atomic-sleep', 'on-exit-leak-free'],
  ...['thread-stream', 'safe-stable-stringify', '@pinojs/redact'],
];
const isOfHub = (id) => HUB_PACKAGES.some((name) => id.includes(`/node_modules/${name}/`));

/** The binary of the HTTP library, which not every machine can load. */
const isLibrary = (id) => /\/dist\/src\/http\/library\/(?:uws|settings)\.js$/.test(id);

/** A compiled module, and those of ours that it needs before it runs. */
function neededBy(file, found = new Set()) {
  if (found.has(file)) return found;
  found.add(file);
  for (const [, path] of readFileSync(file, 'utf8').matchAll(/ from '(\.\.?\/[^']+)';$/gm)) {
    neededBy(fileURLToPath(new URL(path, pathToFileURL(file))), found);
  }
  return found;
}

/** Leaves all packages but those of the list where they are. */
const packages = {
  name: 'packages',
  async resolveId(id, importer, options) {
    if (importer === undefined || /^[./]/.test(id)) return undefined;
    const found = await this.resolve(id, importer, { ...options, skipSelf: true });
    return found !== null && isOfHub(found.id) ? found : { id, external: true };
  },
};

/** Keeps the meaning of paths beside a module, which is packed into a file of another folder. */
const ownPaths = (folder) => ({
  name: 'own-paths',
  transform(code, id) {
    if (!code.includes('import.meta.url')) return undefined;
    const own = JSON.stringify(relative(folder, id));
    return { code: code.replaceAll('import.meta.url', `new URL(${own}, import.meta.url).href`), map: null };
  },
});

/** V8 keeps a text with one character beyond Latin-1 in twice the memory. Raw templates would show the difference. */
const escaped = (code) =>
  code.replace(/[\u0100-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

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
  const bundle = await rolldown({
    input,
    platform: 'node',
    external: (id) => WHOLE.includes(id),
    plugins: [ownPaths(folder)],
  });
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
  await packHub(folder);
}

/** Packs the commands that load the service, and the service. */
async function packHub(folder) {
  const hub = neededBy(join(folder, '../main.js'));
  const library = neededBy(join(folder, '../http/library/uws.js'));
  // Their sentences and helps come before errors of native libraries, so these files load none.
  const commands = new Set();
  for (const name of ['every-command.js', 'manual.js', 'completion.js']) neededBy(join(folder, name), commands);
  for (const name of readdirSync(join(folder, 'operator'), { recursive: true })) {
    if (name.endsWith('.js')) neededBy(join(folder, 'operator', name), commands);
  }
  for (const file of library) if (!isLibrary(file)) commands.add(file);
  // Of these, what `serve` needs: it reads and compiles nothing of the other commands.
  const start = neededBy(join(folder, 'operator/serve.js'), neededBy(join(folder, 'every-command.js')));
  for (const file of commands) if (hub.has(file) || library.has(file)) start.add(file);
  // Nor does a command for users, which the list of all commands loads, need the service.
  const users = new Set();
  for (const name of readdirSync(join(folder, 'user'), { recursive: true })) {
    if (name.endsWith('.js')) neededBy(join(folder, 'user', name), users);
  }
  for (const file of users) if (hub.has(file)) start.add(file);
  const bundle = await rolldown({
    input: WHOLE.map((name) => join(folder, name)),
    platform: 'node',
    plugins: [packages, ownPaths(folder)],
    // What one module imports early and another when needed is early.
    checks: { ineffectiveDynamicImport: false },
  });
  const { output } = await bundle.generate({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'packed-hub-[name].js',
    codeSplitting: {
      groups: [
        { name: 'start', test: (id) => start.has(id) || isOfHub(id), priority: 4 },
        { name: 'library', test: isLibrary, priority: 3 },
        { name: 'service', test: (id) => hub.has(id), priority: 2 },
        { name: 'commands', test: (id) => commands.has(id), priority: 1 },
        { name: 'client', test: /\/dist\/src\/(?:client|cli\/user)\//, priority: 0 },
      ],
    },
  });
  await bundle.close();
  for (const { fileName, code } of output) if (code !== undefined) writeFileSync(join(folder, fileName), escaped(code));
}
