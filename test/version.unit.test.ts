/** Whatever tells the version tells the same one. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { newestNews } from '../src/common/manual.ts';
import { version } from '../src/common/version.ts';

const textOf = (path: string) => readFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), 'utf8');

test('[OPS-34] package, lock file, plugins, notes and manual tell one version', () => {
  const lock = JSON.parse(textOf('package-lock.json')) as {
    readonly version: string;
    readonly packages: Readonly<Record<string, { readonly version: string }>>;
  };
  const plugins = ['claude-code/.claude-plugin/plugin.json', 'gemini/gemini-extension.json'].map(
    (name) => (JSON.parse(textOf(`src/manual/deploy/agents/${name}`)) as { readonly version: string }).version,
  );
  const news = /^## (\S+) \(\d{4}-\d\d-\d\d\)$/m.exec(newestNews())?.[1];
  const shown = /^Cairn (\S+) is running at/m.exec(textOf('src/manual/operating.md'))?.[1];
  const all = [lock.version, lock.packages['']?.version, ...plugins, news, shown];
  expect(all).toEqual(all.map(() => version));
});
