/** Holds the table of ASVS against the tests: each title that it quotes is the title of a test, and each row has an answer. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const TESTS = fileURLToPath(new URL('.', import.meta.url));
const table = readFileSync(join(TESTS, 'ASVS.md'), 'utf8');

test('the titles that the table of ASVS quotes are titles of tests', () => {
  const sources = readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => readFileSync(join(TESTS, name), 'utf8'));
  const quoted = [...table.matchAll(/"(\[[A-Z]+-\d+[^"]*)"/g)].map(([, title = '']) => title);
  expect(quoted.length).toBeGreaterThan(20);
  expect(quoted.filter((title) => !sources.some((text) => text.includes(title)))).toEqual([]);
});

test('each row of the table of ASVS says whether it holds and why', () => {
  const rows = table.split('\n').filter((line) => /^\| \d/.test(line));
  expect(rows.length).toBeGreaterThan(40);
  expect(rows.filter((row) => !/^\| \d+\.\d+\.\d+ \| (yes|no) \| .{5,} \|$/.test(row))).toEqual([]);
});
