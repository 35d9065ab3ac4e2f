/** The lock file: what `npm ci` installs on the machines that run a hub is what was locked, byte for byte. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface Locked {
  readonly integrity?: string;
  readonly link?: boolean;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
}

const { packages } = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')) as {
  readonly packages: Readonly<Record<string, Locked>>;
};
const locked = Object.entries(packages).filter(([path, { link }]) => path !== '' && link !== true);

/** True for a package that npm may install on Linux with glibc, on x64 or arm64. */
function isForLinux(path: string, { os = ['linux'], cpu = ['x64', 'arm64'], libc = [] }: Locked): boolean {
  const isMusl = libc.includes('musl') || path.endsWith('-musl');
  return os.includes('linux') && cpu.some((one) => one === 'x64' || one === 'arm64') && !isMusl;
}

test('[OPS-33] every package that npm installs on Linux has a SHA-512 in the lock file', () => {
  expect(locked.length).toBeGreaterThan(400);
  const without = locked.filter(([, { integrity }]) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? ''));
  expect(without.filter((entry) => isForLinux(...entry)).map(([path]) => path)).toEqual([]);
  // The others are binaries for one system each, and nothing needs them.
  expect(without.filter(([, { optional, os }]) => optional !== true || os?.length !== 1)).toEqual([]);
});
