/** Which packages with binaries a Debian package for a machine has. */
import { expect, test } from 'vitest';
import { billOfMaterials } from '../../src/ops/package/bill-of-materials.ts';
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

test('[OPS-34] the list of parts has each package once, by its own name, with license and hash', () => {
  const locked = {
    '': one,
    'node_modules/@scope/part': { ...one, license: 'MIT', integrity: 'sha512-AAE=' },
    'node_modules/other/node_modules/@scope/part': { ...one, license: 'MIT', integrity: 'sha512-AAE=' },
    'node_modules/alias': { ...one, name: 'real', optional: true },
    'node_modules/tool': { ...one, dev: true },
    'node_modules/tool-too': { ...one, devOptional: true },
  };
  const bill = JSON.parse(billOfMaterials({ name: 'cairn', version: '1.0.0' }, locked)) as { components: unknown[] };
  expect(bill).toMatchObject({
    bomFormat: 'CycloneDX',
    metadata: { component: { 'bom-ref': 'cairn@1.0.0' } },
    components: [
      {
        name: '@scope/part',
        purl: 'pkg:npm/%40scope/part@1.0.0',
        scope: 'required',
        licenses: [{ expression: 'MIT' }],
        hashes: [{ alg: 'SHA-512', content: '0001' }],
      },
      { name: 'real', purl: 'pkg:npm/real@1.0.0', scope: 'optional' },
    ],
  });
  expect(bill.components).toHaveLength(2);
});
