/** Which packages with binaries a Debian package for a machine has. */
import { expect, test } from 'vitest';
import { nativePackages } from '../../src/ops/package/native-packages.ts';

const one = { version: '1.0.0', integrity: 'sha512-x' };
const PACKAGES = {
  '': one,
  'node_modules/plain': one,
  'node_modules/linux-x64': { ...one, os: ['linux'], cpu: ['x64'] },
  'node_modules/linux-x64-gnu': { ...one, os: ['linux'], cpu: ['x64'], libc: ['glibc'] },
  'node_modules/linux-x64-one-word': { ...one, os: ['linux'], cpu: ['x64'], libc: 'glibc' },
  'node_modules/linux-x64-musl': { ...one, os: ['linux'], cpu: ['x64'], libc: ['musl'] },
  'node_modules/linux-arm64': { ...one, os: ['linux'], cpu: ['arm64'] },
  'node_modules/darwin-x64': { ...one, os: ['darwin'], cpu: ['x64'] },
  'node_modules/tool-linux-x64': { ...one, os: ['linux'], cpu: ['x64'], dev: true },
};

test.each([
  ['x64', ['linux-x64', 'linux-x64-gnu', 'linux-x64-one-word'], ['linux-x64-musl', 'linux-arm64', 'darwin-x64']],
  ['arm64', ['linux-arm64'], ['linux-x64', 'linux-x64-gnu', 'linux-x64-one-word', 'linux-x64-musl', 'darwin-x64']],
])('[OPS-34] a Linux on %s has the binaries for it, and none of a tool', (cpu, needed, foreign) => {
  const found = nativePackages(PACKAGES, cpu);
  expect(found.needed.map(([path]) => path)).toEqual(needed.map((name) => `node_modules/${name}`));
  expect(found.foreign).toEqual(foreign.map((name) => `node_modules/${name}`));
});
