/** Paths and globs as pure rules: which spellings are one, and what a pattern matches. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileGlob, matchesGlob } from '../../../src/sync/log/glob.ts';
import { checkPath, foldersOf, protectedCheck } from '../../../src/sync/log/paths.ts';
import { foldCase } from '../../../src/text/fold-case.ts';
import { runs, seed } from '../../support/seed.ts';

const options = { seed, numRuns: runs(500) };

test(`[SYN-15] checking is stable, and folding tells no two spellings of a path apart (seed ${seed})`, () => {
  const part = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
  const path = fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('/'));
  fc.assert(
    fc.property(path, (given) => {
      let checked: ReturnType<typeof checkPath>;
      try {
        checked = checkPath(given);
      } catch {
        return;
      }
      expect(checkPath(checked.path)).toEqual(checked);
      expect(checkPath(given.normalize('NFD'))).toEqual(checked);
      expect(foldCase(checked.folded)).toBe(checked.folded);
      for (const twin of [given.toUpperCase(), given.toLowerCase()]) {
        expect(foldCase(twin.normalize('NFC'))).toBe(checked.folded);
      }
      expect(foldersOf(checked.folded)).toEqual(foldersOf(checked.path).map(foldCase));
    }),
    options,
  );
});

test('[SYN-15] folding a letter twice is folding it once, in whichever case it began', () => {
  const isOneForm = (text: string) => {
    const folded = foldCase(text);
    return [folded, text.toUpperCase(), text.toLowerCase()].every((twin) => foldCase(twin) === folded);
  };
  // Line ends keep the letters apart: nothing composes with one, and none has a case.
  const size = 1024;
  for (let first = 0; first <= 0x10ffff; first += size) {
    const points = Array.from({ length: size }, (_, at) => first + at).filter((at) => at < 0xd800 || at > 0xdfff);
    const letters = points.map((point) => String.fromCodePoint(point));
    if (isOneForm(letters.join('\n'))) continue;
    expect(letters.filter((letter) => !isOneForm(letter))).toEqual([]);
    throw new Error(`letters from U+${first.toString(16)} fold to one form alone, and not beside others`);
  }
});

test('[SYN-16] the default list holds in any folder, in any case', () => {
  const check = (path: string) => protectedCheck(null)(checkPath(path).folded);
  const yes = [
    'CLAUDE.md',
    'claude.md',
    'a/b/AGENTS.md',
    'GEMINI.md',
    '.cursorrules',
    'x/.cursor/rules/a.mdc',
    '.claude/settings.json',
    '.codex/a/b',
    'sub/.mcp.json',
    '.github/workflows/ci.yml',
    '.vscode/tasks.json',
  ];
  const no = ['CLAUDE.md.bak', 'a.claude/x', 'claude', '.cursor', 'docs/agents.mdx', 'README.md', '.github-x/y'];
  expect(yes.filter((path) => !check(path))).toEqual([]);
  expect(no.filter(check)).toEqual([]);
});

test('[SYN-16] globs: stars within a part and over parts, question marks, and a leading slash for the root', () => {
  const cases: [string, string, boolean][] = [
    ['*.md', 'a/b.MD', true],
    ['*.md', 'a.mdx', false],
    ['/top.txt', 'top.txt', true],
    ['/top.txt', 'a/top.txt', false],
    ['a/*/c', 'x/a/b/c', true],
    ['a/*/c', 'a/b/b/c', false],
    ['a/**/c', 'a/c', true],
    ['a/**/c', 'a/1/2/c', true],
    ['a/**', 'a', false],
    ['a/**', 'a/b/c', true],
    ['a/**/**', 'a', false],
    ['a/**//**', 'a', false],
    ['a/**/**', 'a/b', true],
    ['**/**', 'a', true],
    ['f?le', 'file', true],
    ['f?le', 'fle', false],
    ['?', '😀', true],
    ['**', 'anything/at/all', true],
    ['*a*b*c', 'xaybzc', true],
    ['*a*b*c', 'xaybz', false],
    ['{a,b}', 'a', false],
    ['[ab]', 'a', false],
  ];
  for (const [glob, path, expected] of cases)
    expect([glob, path, matchesGlob(compileGlob(glob), foldCase(path))]).toEqual([glob, path, expected]);
});

test('[SYN-16] a glob that holds up a backtracking matcher holds up nobody here', () => {
  const glob = compileGlob(`${'*a'.repeat(90)}b`);
  const deep = compileGlob(`${'**/a/'.repeat(30)}b`);
  expect(matchesGlob(glob, 'a'.repeat(255))).toBe(false);
  expect(matchesGlob(deep, 'a/'.repeat(500).slice(0, -1))).toBe(false);
});

/** What a glob means, written down as simply as possible: every way is tried. Takes exponential time. */
function meansMatch(glob: string, path: string): boolean {
  const parts = glob.split('/').filter((part, at, all) => part !== '' && !(part === '**' && all[at - 1] === '**'));
  const anchored = glob.startsWith('/') ? parts : ['**', ...parts];
  const part = (pattern: string, text: string): boolean => {
    if (pattern === '') return text === '';
    if (pattern.startsWith('*')) return part(pattern.slice(1), text) || (text !== '' && part(pattern, text.slice(1)));
    return text !== '' && (pattern[0] === '?' || pattern[0] === text[0]) && part(pattern.slice(1), text.slice(1));
  };
  const whole = (globs: string[], texts: string[]): boolean => {
    const [first, ...rest] = globs;
    if (first === undefined) return texts.length === 0;
    if (first !== '**') return texts.length > 0 && part(first, texts[0] ?? '') && whole(rest, texts.slice(1));
    // At the end it stands for at least one part, unless it is the whole glob.
    if (rest.length === 0) return texts.length > 0 || anchored.length === 1;
    return whole(rest, texts) || (texts.length > 0 && whole(globs, texts.slice(1)));
  };
  return whole(anchored, path.split('/'));
}

test(`[SYN-16] any glob matches what its meaning says (seed ${seed})`, () => {
  const globPart = fc.oneof(
    fc.constant('**'),
    fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), minLength: 1, maxLength: 4 }),
  );
  const globs = fc
    .tuple(fc.boolean(), fc.array(globPart, { minLength: 1, maxLength: 4 }))
    .map(([fromRoot, parts]) => (fromRoot ? '/' : '') + parts.join('/'));
  const paths = fc
    .array(fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 })
    .map((parts) => parts.join('/'));
  let matched = 0;
  fc.assert(
    fc.property(globs, paths, (glob, path) => {
      const matches = matchesGlob(compileGlob(glob), path);
      matched += Number(matches);
      expect([glob, path, matches]).toEqual([glob, path, meansMatch(glob, path)]);
    }),
    options,
  );
  expect(matched).toBeGreaterThan(options.numRuns / 20);
});
