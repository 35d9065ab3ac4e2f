/** Globs against a slow and plain reading of them, and what the worst of them costs. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileGlob, matchesGlob } from '../../../src/sync/log/glob.ts';
import { listFilter } from '../../../src/sync/pull/list-filter.ts';
import { seed } from '../../support/seed.ts';

/** By definition: what each star may take is tried. */
function matchesText(pattern: string, text: string): boolean {
  const [first, rest] = [pattern[0], pattern.slice(1)];
  if (first === undefined) return text === '';
  if (first === '*') return matchesText(rest, text) || (text !== '' && matchesText(pattern, text.slice(1)));
  return text !== '' && (first === '?' || first === text[0]) && matchesText(rest, text.slice(1));
}

test('[NET-12, SYN-11] a part of a glob matches what its definition says', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 9 }).map((chars) => chars.join(''));
  const pattern = fc
    .array(fc.constantFrom('a', 'b', '*', '*', '?'), { minLength: 1, maxLength: 7 })
    .map((chars) => chars.join(''));
  fc.assert(
    fc.property(pattern, text, (glob, name) => {
      fc.pre(glob !== '**' && name !== '');
      expect([glob, name, matchesGlob(compileGlob(`/${glob}`), name)]).toEqual([glob, name, matchesText(glob, name)]);
    }),
    { seed, numRuns: 5000 },
  );
});

test('[NET-12] the worst glob over the longest path costs no more than pattern times path', () => {
  const path = Array.from({ length: 4 }, () => 'a'.repeat(255)).join('/');
  for (const glob of [`**/${'*a'.repeat(95)}b`, `${'?*'.repeat(95)}b`, `${'**/*a*a/'.repeat(24)}b`, '*'.repeat(200)]) {
    const work = { chars: 0 };
    listFilter(glob, work)(path);
    expect(work.chars).toBeGreaterThan(0);
    expect(work.chars).toBeLessThanOrEqual(2 * (glob.length + 10) * path.length);
  }
});
