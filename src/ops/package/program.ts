/** The program of a Debian package: an npm package with exactly the dependencies that it pins, for any machine. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Locked, nativePackages } from './native-packages.ts';

/** Debian's name of a machine, and what Node.js calls it. */
export const CPUS = { amd64: 'x64', arm64: 'arm64' } as const;
export type Machine = keyof typeof CPUS;

/** NODE_MODULE_VERSION of Node.js 20 and 22, of which the older build of the HTTP library has binaries. */
const NODE_VERSIONS = ['115', '127'];

/** Runs a program and returns what it printed. Throws if it fails. */
export const runs = (program: string, args: readonly string[], cwd?: string): string =>
  execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], ...(cwd && { cwd }) }).trim();

/** Unpacks an npm package into an empty folder, without its dependencies. */
export function unpack(npmPackage: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  runs('tar', ['-xzf', npmPackage, '-C', folder, '--strip-components=1', '--no-same-owner']);
}

/** What an unpacked package pins, by the folder where it is installed. */
export const lockedPackages = (program: string): Readonly<Record<string, Locked>> =>
  (JSON.parse(readFileSync(join(program, 'npm-shrinkwrap.json'), 'utf8')) as { packages: Record<string, Locked> })
    .packages;

/** Installs the dependencies of an unpacked package, with the binaries for this machine. */
export const installDependencies = (program: string): string =>
  runs('npm', ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'], program);

/**
 * Exchanges the binaries of an installed program for those of a machine, as they are pinned, and removes what only the
 * installation needs. Throws if the registry has another content for a pinned version.
 */
export function fitTo(program: string, machine: Machine): void {
  const cpu = CPUS[machine];
  const packages = lockedPackages(program);
  const { needed, foreign } = nativePackages(packages, cpu);
  for (const path of foreign) rmSync(join(program, path), { recursive: true, force: true });
  addPinned(program, needed);
  runs(process.execPath, ['.package/trim.mjs', `--arch=${cpu}`, ...NODE_VERSIONS], program);
  for (const name of ['.package', 'npm-shrinkwrap.json', 'node_modules/.package-lock.json']) {
    rmSync(join(program, name), { recursive: true, force: true });
  }
  runs('chmod', ['-R', 'u=rwX,go=rX', program]);
}

/** Downloads packages of exactly the pinned content into folders below a program. Throws if the registry has another. */
export function addPinned(program: string, wanted: readonly (readonly [path: string, Locked])[]): void {
  const packages = wanted.filter(([path]) => !existsSync(join(program, path)));
  if (packages.length === 0) return;
  const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const names = packages.map(([path, { version }]) => `${nameOf(path)}@${version}`);
  const packed = JSON.parse(runs('npm', ['pack', '--json', '--silent', ...names], program)) as {
    readonly id: string;
    readonly filename: string;
    readonly integrity: string;
  }[];
  for (const [index, [path, { integrity }]] of packages.entries()) {
    const one = packed.find(({ id }) => id === names[index]);
    if (one?.integrity !== integrity) throw new Error(`${names[index]} is not the package that package-lock.json pins`);
    mkdirSync(join(program, path), { recursive: true });
    runs('tar', ['-xzf', one.filename, '-C', path, '--strip-components=1', '--no-same-owner'], program);
    rmSync(join(program, one.filename));
  }
}
