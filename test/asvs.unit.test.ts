/** Holds the table of ASVS against the tests: each title that it quotes is the title of a test, and each row has an answer. */
import { getCiphers, getHashes } from 'node:crypto';
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

test('the table of ASVS has each requirement of levels 1 and 2 once, in their order, and no other', () => {
  const official = readFileSync(join(TESTS, 'asvs/requirements.csv'), 'utf8').trimEnd().split('\n').slice(1);
  const read = official.map((line) => /^"(\d+\.\d+\.\d+)","([12])","Verify .+"$/.exec(line)?.slice(1) ?? [line]);
  const ofLevel = (level: string) => read.filter(([, found]) => found === level).length;
  expect([read.length, ofLevel('1'), ofLevel('2')]).toEqual([253, 70, 183]);
  const ids = [...table.matchAll(/^\| (\d+\.\d+\.\d+) \|/gm)].map(([, id]) => id);
  expect(ids).toEqual(read.map(([id]) => id));
});

test('each row of the table of ASVS says whether it holds and why', () => {
  const rows = table.split('\n').filter((line) => /^\| \d/.test(line));
  expect(rows.length).toBeGreaterThan(40);
  expect(rows.filter((row) => !/^\| \d+\.\d+\.\d+ \| (yes|no) \| .{5,} \|$/.test(row))).toEqual([]);
});

test('the inventory of algorithms in the manual names each one that the source asks Node.js for', () => {
  const root = join(TESTS, '..');
  const manual = readFileSync(join(root, 'src/manual/security.md'), 'utf8');
  const inventory = /^## Algorithms\n(.*?)^## /ms.exec(manual)?.[1] ?? '';
  const plain = (text: string) => text.toLowerCase().replaceAll('-', '');
  const calls = /\b(?:createHash|createHmac|hash|create(?:Dec|C)ipheriv|hkdfSync|algorithm:)\(?\s*'([\w-]+)'/g;
  const known = [...getHashes(), ...getCiphers()].map((name) => name.toLowerCase());
  const isAlgorithm = (name: string) => known.includes(name.toLowerCase());
  const used = new Set<string>();
  for (const folder of ['src', 'workers']) {
    for (const name of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
      if (!/\.tsx?$/.test(name)) continue;
      const text = readFileSync(join(root, folder, name), 'utf8');
      if (!text.includes("'node:crypto'") && !text.includes("'otpauth'")) continue;
      for (const [, algorithm = ''] of text.matchAll(calls)) if (isAlgorithm(algorithm)) used.add(plain(algorithm));
    }
  }
  expect([...used].toSorted()).toEqual(['aes256cbc', 'aes256gcm', 'sha1', 'sha256']);
  expect([...used].filter((algorithm) => !plain(inventory).includes(algorithm))).toEqual([]);
});
