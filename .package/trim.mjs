/**
 * Runs after npm install. Two libraries come with binaries for machines and versions of Node.js other than this one, the
 * HTTP library alone with 130 MB of them. Removes those that cannot be loaded here, and, from dependencies that only this
 * package uses, type declarations, sources, source maps and styles. Without it (npm install --ignore-scripts) everything
 * works and takes more space.
 *
 * usage: node .package/trim.mjs [--arch=ARCH] [VERSION…]
 * ARCH: of another machine than this one, as Node.js calls it. VERSION: NODE_MODULE_VERSION to keep as well, 115 for
 * Node.js 20, 127 for 22.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { arch: { type: 'string', default: process.arch } },
});
const { arch } = values;
const kept = [process.versions.modules, ...positionals];
const isGlibc = process.report.getReport().header.glibcVersionRuntime !== undefined;
const { platform } = process;
/** A checkout may be run with several versions of Node.js; its install changes nothing. */
const isCheckout =
  process.env.npm_lifecycle_event === 'postinstall' && existsSync(new URL('../tsconfig.json', import.meta.url));

/** Folder of a package as this one finds it. */
const folderOf = (name) => dirname(fileURLToPath(import.meta.resolve(name)));

/** Removes the files of a folder that are a binary for somewhere else. */
function clean(folder, isForeign) {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) if (isForeign(name)) rmSync(join(folder, name));
}

/** What a program never loads: declarations and sources in TypeScript, source maps, styles for pages of others. */
const UNLOADED = /\.(ts|mts|cts|map|s?css)$/;

/** Removes such files below a folder. */
function trim(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) trim(path);
    else if (entry.isFile() && UNLOADED.test(entry.name)) rmSync(path);
  }
}

try {
  if (isCheckout) process.exit();
  const http = folderOf('uWebSockets.js');
  const isForeignHttp = (name) => {
    const [, system, machine, version] = /^uws_([a-z0-9]+)_([a-z0-9]+)_(\d+)\.node$/.exec(name) ?? [];
    return version !== undefined && !(system === platform && machine === arch && kept.includes(version));
  };
  for (const folder of [http, join(http, 'bin')]) clean(folder, isForeignHttp);
  // The one for every version of Node.js (napi) stays.
  const isForeignStore = (name) => {
    const [, version, libc] = /^node\.(?:abi(\d+)|napi)\.(glibc|musl)\.node$/.exec(name) ?? [];
    return libc !== undefined && ((libc === 'musl') === isGlibc || (version !== undefined && !kept.includes(version)));
  };
  const store = folderOf('lmdb');
  for (const modules of [resolve(store, '..'), resolve(store, 'node_modules')]) {
    clean(join(modules, '@lmdb', `lmdb-${platform}-${arch}`), isForeignStore);
  }
  // Beside the package they belong to others too, whose compiler reads them.
  const own = fileURLToPath(new URL('../node_modules', import.meta.url));
  if (existsSync(own) && !existsSync(new URL('../tsconfig.json', import.meta.url))) trim(own);
} catch (error) {
  // The install is whole either way; it only takes more space.
  process.stderr.write(`cairn: binaries for other machines were left in place (${error.message})\n`);
}
