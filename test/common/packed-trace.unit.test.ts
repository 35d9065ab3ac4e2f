/** Names of modules in traces through packed files. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { withModules } from '../../src/common/log/log-text.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test('a trace names the module of each place in a packed file', () => {
  const file = join(temporaryFolder(), 'packed-hub.js');
  writeFileSync(
    file,
    'import "x";\n// dist/src/one.js\nfirst();\n// not a name\n// node_modules/two/two.mjs\nsecond();\n',
  );
  const url = pathToFileURL(file).href;
  const at = (line: number) => `at fn (${url}:${line}:7)`;
  expect(withModules([1, 3, 4, 6].map(at).join('\n'))).toBe(
    [
      at(1),
      `at fn (dist/src/one.js, ${url}:3:7)`,
      `at fn (dist/src/one.js, ${url}:4:7)`,
      `at fn (node_modules/two/two.mjs, ${url}:6:7)`,
    ].join('\n'),
  );
});

test('a trace through a packed file that is gone, or through no packed file, stays as it is', () => {
  const trace = 'Error: x\n    at fn (file:///nowhere/packed-hub.js:3:7)\n    at node:internal/main:1:2';
  expect(withModules(trace)).toBe(trace);
});
