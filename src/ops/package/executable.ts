/** Builds a single executable: Node.js, with the program and its dependencies in it (SEA). It needs nothing of the machine. */
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';
import type { Locked } from './native-packages.ts';
import { addPinned, CPUS, fitTo, type Machine, runs } from './program.ts';

const CHECKOUT = new URL('../../../../', import.meta.url);
const BEGINNING = fileURLToPath(new URL('.package/executable.cjs', CHECKOUT));
/** Puts a part into an ELF file. Node.js does it itself from 25.5. */
const INJECT = fileURLToPath(import.meta.resolve('postject/dist/cli.js'));
/** By which Node.js finds out that it carries a program; its documentation gives it. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
/**
 * The one whose build of the HTTP library runs on every Linux with glibc, as its release is packed for npm: exactly these
 * bytes.
 */
const NODE_VERSION = '22.23.3';
const NODE_INTEGRITY = {
  x64: 'sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==',
  arm64: 'sha512-l3DAHZreylo+p9QXDtsOrjG2JXJqVzYXnAGmIQNOUNARcMppTO2cmewVQP+36tjJnSE+dzpMNtgW+c3oiDvXtA==',
} as const;
type Cpu = keyof typeof NODE_INTEGRITY;

/** What such a program never loads: builds for other versions of Node.js than its own. */
const OTHER_NODES = ['node_modules/@uwsjs/linux-x64-24', 'node_modules/@uwsjs/linux-x64-26'];

/**
 * Writes the executable for a machine into a folder and returns its path. `program`: the unpacked npm package with its
 * dependencies, which stays as it is; Node.js is downloaded beside it, once. `name`: of the file, without the machine.
 */
export function makeExecutable(program: string, folder: string, machine: Machine, name: string): string {
  const cpu = CPUS[machine];
  // Beside the program, because its files are linked.
  const work = mkdtempSync(`${program}-executable-${machine}-`);
  try {
    const own = join(work, 'program');
    runs('cp', ['--archive', '--link', program, own]);
    fitTo(own, machine);
    for (const path of OTHER_NODES) rmSync(join(own, path), { recursive: true, force: true });
    rmSync(join(own, 'node_modules/uWebSockets.js/dist/bin', `uws_linux_${cpu}_115.node`), { force: true });
    writeFileSync(join(own, 'begin.cjs'), "import('./dist/src/cli/cairn.js');\n");
    const nodes = join(dirname(program), 'nodes');
    // Each version of Node.js has a form of its own for what it carries, so the one that reads it writes it.
    const blob = carriedBy(own, work, nodeOf(process.arch === 'arm64' ? 'arm64' : 'x64', nodes));
    const path = join(folder, `${name}-linux-${cpu}`);
    runs('cp', [nodeOf(cpu, nodes), path]);
    chmodSync(path, 0o755);
    runs(process.execPath, [INJECT, path, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', FUSE]);
    return path;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Makes the part that Node.js carries: the beginning, and all files of a program. Returns its path. `node`: what writes it. */
function carriedBy(program: string, work: string, node: string): string {
  const files = readdirSync(program, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
  const contents = files.map((file) => readFileSync(file));
  const index = files.map((file, at) => [relative(program, file), contents[at]?.byteLength]);
  const bytes = Buffer.concat(contents);
  const put = (name: string, data: string | Uint8Array): string => {
    writeFileSync(join(work, name), data);
    return join(work, name);
  };
  const params = { [constants.BROTLI_PARAM_QUALITY]: 6, [constants.BROTLI_PARAM_LGWIN]: 24 };
  const output = join(work, 'blob');
  const assets = {
    id: put('id', createHash('sha256').update(JSON.stringify(index)).update(bytes).digest('hex').slice(0, 16)),
    index: put('index', JSON.stringify(index)),
    files: put('files', brotliCompressSync(bytes, { params })),
  };
  const recipe = { main: BEGINNING, output, assets, disableExperimentalSEAWarning: true };
  runs(node, ['--experimental-sea-config', put('recipe.json', JSON.stringify(recipe))]);
  return output;
}

/** The program of Node.js for a machine, downloaded into a folder unless it is there. */
function nodeOf(cpu: Cpu, folder: string): string {
  const path = `node_modules/node-linux-${cpu}`;
  const locked: Locked = { version: NODE_VERSION, integrity: NODE_INTEGRITY[cpu] };
  mkdirSync(join(folder, 'node_modules'), { recursive: true });
  addPinned(folder, [[path, locked]]);
  return join(folder, path, 'bin/node');
}
