/** The lock file: what `npm ci` installs is what was locked, byte for byte. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface Locked {
  readonly integrity?: string;
  readonly link?: boolean;
}

const { packages } = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')) as {
  readonly packages: Readonly<Record<string, Locked>>;
};
const locked = Object.entries(packages).filter(([path, { link }]) => path !== '' && link !== true);

test('[OPS-33] every package has a SHA-512 in the lock file, also those for other systems', () => {
  expect(locked.length).toBeGreaterThan(400);
  const without = locked.filter(([, { integrity }]) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? ''));
  expect(without.map(([path]) => path)).toEqual([]);
});
