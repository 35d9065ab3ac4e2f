/** Look-up in a file of breached passwords, in each of the forms that it is downloaded in. */
import { hash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkBreachedFile, isBreached } from '../../../src/accounts/sign-in/breached-passwords.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const sha1 = (password: string) => hash('sha1', password, 'hex').toUpperCase();

function fileOf(text: string): string {
  const file = join(temporaryFolder(), 'breached.txt');
  writeFileSync(file, text);
  return file;
}

const listed = (count: number) => Array.from({ length: count }, (_, n) => `password ${n}`);

/** Lines of passwords, sorted by hash; each has another length. */
const linesOf = (passwords: readonly string[], count: (n: number) => string) =>
  passwords
    .map(sha1)
    .toSorted()
    .map((line, n) => `${line}${count(n)}`);

test.each([
  ['as downloaded', 1000, (n: number) => `:${3 ** (n % 18)}`, '\r\n', true],
  ['with plain line ends', 1000, (n: number) => `:${n}`, '\n', true],
  ['without counts', 257, () => '', '\n', true],
  ['without an end of the last line', 100, () => ':1', '\n', false],
  ['of one line', 1, () => ':1', '\n', true],
  ['of two lines', 2, () => ':1', '\r\n', false],
])('[KEY-9] a list %s: each password of it is found, and no other', (_, length, count, end, isEnded) => {
  const passwords = listed(length);
  const file = fileOf(linesOf(passwords, count).join(end) + (isEnded ? end : ''));
  checkBreachedFile(file);
  expect(passwords.filter((password) => !isBreached(file, password))).toEqual([]);
  const others = Array.from({ length: 500 }, (_ignored, n) => `other ${n}`);
  expect(others.filter((password) => isBreached(file, password))).toEqual([]);
});

test('[KEY-9] hashes in lower case are found', () => {
  const file = fileOf(`${sha1('password 1').toLowerCase()}:7\n`);
  expect([isBreached(file, 'password 1'), isBreached(file, 'password 2')]).toEqual([true, false]);
});

test.each([
  ['an empty file', ''],
  ['passwords', 'password\nsecret\n'],
  ['hashes of NTLM', `${'0'.repeat(32)}:1\n`],
  ['a line without an end', 'A'.repeat(1000)],
])('[KEY-9] %s is refused at the start', (_, text) => {
  expect(() => checkBreachedFile(fileOf(text))).toThrow('not a sorted list of SHA-1 hashes');
});

test('[KEY-9] a file that is missing, or a folder, cannot be read', () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'x'));
  expect(() => checkBreachedFile(join(folder, 'none'))).toThrow('ENOENT');
  expect(() => isBreached(join(folder, 'x'), 'password')).toThrow('EISDIR');
});
