/** Which paths a vault accepts, case by case, and what each refusal says. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../../src/limits/service.ts';
import { checkPath, checkPrefix, foldersOf, protectedCheck } from '../../../src/sync/log/paths.ts';

/** What is said about a path; undefined: nothing. */
function saidOf(run: () => unknown): string | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

test.each<[given: string, path: string, folded: string]>([
  ['a', 'a', 'a'],
  ['A/b C.md', 'A/b C.md', 'a/b c.md'],
  ['e\u0301', 'é', 'é'],
  ['É', 'É', 'é'],
  ['Straße', 'Straße', 'strasse'],
  ['.hidden', '.hidden', '.hidden'],
  ['a..b', 'a..b', 'a..b'],
  ['...a', '...a', '...a'],
  [' a', ' a', ' a'],
  ['.github', '.github', '.github'],
  ['git', 'git', 'git'],
  ['git~', 'git~', 'git~'],
  ['a.git', 'a.git', 'a.git'],
  ['console', 'console', 'console'],
  ['com', 'com', 'com'],
  ['com10', 'com10', 'com10'],
  ['x.con', 'x.con', 'x.con'],
  ['10:30.md', '10:30.md', '10:30.md'],
  ['C:/a?*"<|>', 'C:/a?*"<|>', 'c:/a?*"<|>'],
  ['Makefile.', 'Makefile.', 'makefile.'],
  ['a /b ', 'a /b ', 'a /b '],
  ['CON.txt', 'CON.txt', 'con.txt'],
  ['a.git:', 'a.git:', 'a.git:'],
  ['👩\u200d🚀.md', '👩\u200d🚀.md', '👩🚀.md'],
  ['می\u200cخواهم', 'می\u200cخواهم', 'میخواهم'],
])('[SYN-15] %j is accepted as %j, compared as %j', (given, path, folded) => {
  expect(checkPath(given)).toEqual({ path, folded });
});

describe('[SYN-15] a path is refused', () => {
  test.each<[given: string, why: string]>([
    ['', 'must not be empty'],
    ['a\ud800', 'half of a surrogate pair'],
    ['/a', 'is absolute; send it relative to the vault, without a leading /: a'],
    ['/', 'is absolute; send it relative to the vault, without a leading /'],
    ['/../a', 'is absolute; send it relative to the vault, without a leading /'],
    ['a//b', 'has an empty part; write each / once and none at the end: a/b'],
    ['a/', 'has an empty part; write each / once and none at the end: a'],
    ['./a', 'has a part of dots or spaces only, such as . or ..; send the plain path: a'],
    ['a/../b', 'has a part of dots or spaces only, such as . or ..; send the plain path'],
    ['..', 'has a part of dots or spaces only, such as . or ..; send the plain path'],
    ['a\\b', 'contains a backslash; separate folders with /: a/b'],
    ['a\u0000b', 'contains a control, bidi or zero-width character'],
    ['a\u202eb', 'contains a control, bidi or zero-width character'],
    ['a\u200db', 'contains a control, bidi or zero-width character'],
    ['می\u200c', 'contains a control, bidi or zero-width character'],
    ['a\u3164', 'contains a control, bidi or zero-width character'],
    [' ', 'has a part of dots or spaces only'],
    ['a/.. /b', 'has a part of dots or spaces only'],
    ['...', 'has a part of dots or spaces only'],
    ['.git', 'goes through .git'],
    ['a/.GIT/config', 'goes through .git'],
    ['git~1', 'goes through .git'],
    ['GIT~12/x', 'goes through .git'],
    ['．git', 'goes through .git'],
    ['.git.', 'goes through .git'],
    ['.git /x', 'goes through .git'],
    ['.git. ./x', 'goes through .git'],
    ['.git::$INDEX_ALLOCATION/x', 'goes through .git'],
    ['a/GIT~1:x', 'goes through .git'],
  ])('%j: %s', (given, why) => {
    const said = saidOf(() => checkPath(given));
    expect(said).toContain(`path ${why}`.slice('path '.length));
    // A suggestion comes at the end, and there is none unless it is named above.
    if (!why.includes(': ')) expect(said?.endsWith(`: ${given}`)).toBe(false);
    if (
      why.startsWith('is absolute') ||
      why.startsWith('has an') ||
      why.startsWith('has a part of dots or spaces only,')
    ) {
      expect(said?.endsWith(why)).toBe(true);
    }
  });

  test('a suggestion is not longer than what can be read', () => {
    const part = 'a'.repeat(197);
    expect(saidOf(() => checkPath(`/${part}/b`))).toContain(`: ${part}/b`);
    expect(saidOf(() => checkPath(`/${part}/bc`))).not.toContain(part);
  });
});

describe('[SYN-15, LIM-2] lengths in bytes of UTF-8', () => {
  const [whole, part] = [limits.pathBytesMax, limits.pathPartBytesMax];
  const parts = (bytes: number) => 'a/'.repeat(bytes / 2 - 1) + (bytes % 2 === 0 ? 'aa' : 'aaa');
  test.each<[title: string, path: string, wrong: string | undefined]>([
    ['the longest path', parts(whole), undefined],
    ['one byte more', parts(whole + 1), `is longer than ${whole} bytes`],
    ['the longest path, folded', `${'ŉ/'.repeat(100)}a`, undefined],
    ['a path that is too long when folded', `${'ŉ/'.repeat(300)}a`, `is longer than ${whole} bytes`],
    ['the longest part', 'a'.repeat(part), undefined],
    ['one byte more of a part', 'a'.repeat(part + 1), `has a part longer than ${part} bytes`],
    ['a part of longer letters', 'é'.repeat((part - 1) / 2), undefined],
    ['one letter more', 'é'.repeat((part + 1) / 2), `has a part longer than ${part} bytes`],
  ])('%s', (_, path, wrong) => {
    const said = saidOf(() => checkPath(path));
    if (wrong === undefined) expect(said).toBeUndefined();
    else expect(said).toContain(wrong);
  });
});

test.each<[given: string, said: string | undefined]>([
  ['', undefined],
  ['a', undefined],
  ['a/b', undefined],
  ['.g', undefined],
  ['..', undefined],
  ['/', 'omit it for all files'],
  ['.', 'omit it for all files'],
  ['./', 'omit it for all files'],
  ['/a', 'send it relative to the vault: a'],
  ['.//a/', 'send it relative to the vault: a'],
])('[SYN-11] the prefix %j is answered with %j', (given, said) => {
  const found = saidOf(() => expect(checkPrefix(given)).toBe(given));
  if (said === undefined) expect(found).toBeUndefined();
  else expect(found).toContain(`prefix never matches; ${said}`);
});

test.each<[folded: string, folders: string[]]>([
  ['a', []],
  ['a/b', ['a']],
  ['a/b/c', ['a/b', 'a']],
  ['ab/cd/ef/g', ['ab/cd/ef', 'ab/cd', 'ab']],
])('[SYN-15] the folders of %s are %j', (folded, folders) => {
  expect(foldersOf(folded)).toEqual(folders);
});

test.each<[globs: string[] | null, folded: string, isProtected: boolean]>([
  [null, 'claude.md', true],
  [null, 'readme.md', false],
  [[], 'claude.md', false],
  [['*.md'], 'a/readme.md', true],
  [['*.txt', '/top'], 'top', true],
  [['*.txt', '/top'], 'a/top', false],
])('[SYN-16] the list %j protects %s: %s', (globs, folded, isProtected) => {
  expect(protectedCheck(globs)(folded)).toBe(isProtected);
});
