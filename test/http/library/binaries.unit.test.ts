/** The binaries of the HTTP library are those that were tested: both builds are repackaged by strangers. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { noBuildSentence } from '../../../src/http/library/uws.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const MODULES = join(ROOT, 'node_modules');
const jsonOf = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as unknown;
/** SHA-256 by package and file. */
const PINNED = jsonOf(join(import.meta.dirname, 'binaries.json')) as Record<string, Record<string, string>>;

interface Locked {
  readonly name?: string;
  readonly version: string;
  readonly integrity?: string;
}
const { packages } = jsonOf(join(ROOT, 'package-lock.json')) as { readonly packages: Record<string, Locked> };
const builds = Object.entries(packages)
  .filter(([path]) => /^node_modules\/(@uwsjs\/|uWebSockets\.js$)/.test(path))
  .map(([path, { name = path.slice('node_modules/'.length), version, integrity }]) => ({
    path: join(ROOT, path),
    id: `${name}@${version}`,
    integrity,
  }));

const hashesIn = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.node'))
      .map((file) => [
        file.slice(file.lastIndexOf('/') + 1),
        createHash('sha256')
          .update(readFileSync(join(folder, file)))
          .digest('hex'),
      ]),
  );

test('[OPS-15] every build of the HTTP library that is locked is pinned, and no other', () => {
  expect(builds.map(({ id }) => id).sort()).toEqual(Object.keys(PINNED).sort());
  for (const { integrity } of builds) expect(integrity).toMatch(/^sha512-/);
});

test('[OPS-15] the binaries of the HTTP library that are installed here are the pinned ones', () => {
  const installed = builds.filter(({ path }) => existsSync(path));
  expect(installed.length).toBeGreaterThan(0);
  for (const { path, id } of installed) expect([id, hashesIn(path)]).toEqual([id, PINNED[id]]);
  // npm installs none but those that the lock file names.
  const folder = join(MODULES, '@uwsjs');
  const names = existsSync(folder) ? readdirSync(folder) : [];
  expect(names.filter((name) => !installed.some(({ path }) => path === join(folder, name)))).toEqual([]);
});

test.each([
  ['v24.21.0', '2.36', 'Node.js v24.21.0 on linux x64 with glibc 2.36: use Node.js'],
  ['v25.1.0', undefined, 'Node.js v25.1.0 on linux x64: use Node.js'],
])('[OPS-15] on Node.js %s with glibc %s the sentence names the machine and what to do', (version, glibc, part) => {
  const sentence = noBuildSentence(version, 'linux', 'x64', glibc);
  expect(sentence).toContain(part);
  expect(sentence).toContain('glibc 2.38 or later');
});
