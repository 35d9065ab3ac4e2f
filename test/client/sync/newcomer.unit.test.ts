/** What a newcomer rarely wants on a hub, and the rules that leave it out. */
import ignore from 'ignore';
import { expect, test } from 'vitest';
import { ignoreRuleFor, largeKinds, ruleOfMadeAgain, withRules } from '../../../src/client/sync/plan/newcomer.ts';

const MIB = 2 ** 20;

test.each<[string, string[], string | undefined]>([
  ['app/node_modules', [], 'node_modules/'],
  ['__pycache__', [], '__pycache__/'],
  ['core/target', ['Cargo.toml'], '/core/target/'],
  ['core/target', ['aims.md'], undefined],
  ['build', ['package.json'], '/build/'],
  ['build', [], undefined],
  ['a [b]/dist', ['setup.py'], '/a \\[b\\]/dist/'],
  ['constructor', ['package.json'], undefined],
  ['notes', ['package.json'], undefined],
])('[SYN-29] the folder %s beside %j is left out by %j', (path, beside, rule) => {
  expect(ruleOfMadeAgain(path, new Set(beside))).toBe(rule);
});

test('[SYN-29] kinds of large files are named from 100 MiB on, the largest first', () => {
  const many = (end: string, count: number, bytes: number) =>
    Array.from({ length: count }, (_, at) => ({ path: `${end}/f${at}.${end}`, bytes }));
  const files = [
    ...many('mp4', 30, 5 * MIB),
    ...many('raw', 20, 9 * MIB),
    ...many('md', 1000, MIB - 1),
    ...many('pdf', 9, 9 * MIB),
    { path: 'no-end', bytes: 900 * MIB },
    { path: '.hidden', bytes: 900 * MIB },
  ];
  expect(largeKinds(files)).toEqual([
    { rule: '*.raw', files: 20, bytes: 180 * MIB },
    { rule: '*.mp4', files: 30, bytes: 150 * MIB },
  ]);
});

test.each([['a.md'], ['a/b c'], ['#a'], ['!a'], ['a*b?[c]'], ['back\\slash'], ['ends with a space ']])(
  '[SYN-29] the rule for %j leaves out that path alone',
  (path) => {
    const rules = ignore().add(ignoreRuleFor(path, false));
    expect([path, `x/${path}`, `${path}x`, 'axbyc'].map((one) => rules.ignores(one))).toEqual([
      true,
      false,
      false,
      false,
    ]);
    const below = ignore().add(ignoreRuleFor(path, true));
    expect([`${path}/`, `${path}/x`, path].map((one) => below.ignores(one))).toEqual([true, true, false]);
  },
);

test('[SYN-29] rules are added below what a file says', () => {
  expect(withRules('', ['/a'])).toBe('/a\n');
  expect(withRules('x\n', ['/a', 'b/'])).toBe('x\n/a\nb/\n');
  expect(withRules('x', ['/a'])).toBe('x\n/a\n');
});
