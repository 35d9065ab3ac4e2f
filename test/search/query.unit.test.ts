/** What is read from a query: words, phrases, what is left out, AND and OR. */
import { expect, test } from 'vitest';
import { leavesOutOnly, leftOutOf, readSearch } from '../../src/search/query.ts';

const read = (query: string, isSentence?: boolean) => {
  const { wanted, ...rest } = readSearch(query, isSentence);
  return { ...rest, wanted: wanted.map(({ shown, isExact }) => (isExact === true ? `"${shown}"` : shown)) };
};
const nothing = { wanted: [], phrases: [], without: [], withoutPhrases: [], isAny: false };

test.each([
  ['a b', { wanted: ['a', 'b'] }],
  ['"a b" c', { wanted: ['"a b"', 'c'], phrases: [['a', 'b']] }],
  ['say:"a b"', { wanted: ['"a b"', 'say'], phrases: [['a', 'b']] }],
  ['"to be or not to be"', { wanted: ['"to be or not to be"'], phrases: [['to', 'be', 'or', 'not', 'to', 'be']] }],
  [
    'a -b -c-d -"e f"',
    {
      wanted: ['a'],
      without: ['b'],
      withoutPhrases: [
        ['c', 'd'],
        ['e', 'f'],
      ],
    },
  ],
  ['a-b c - d --e', { wanted: ['a', 'b', 'c', 'd', 'e'] }],
  ['a AND b', { wanted: ['a', 'b'] }],
  ['a OR "b c"', { wanted: ['"b c"', 'a'], phrases: [['b', 'c']], isAny: true }],
  ['"a OR b"', { wanted: ['"a or b"'], phrases: [['a', 'or', 'b']] }],
  ['OR a', { wanted: ['or', 'a'] }],
  ['a OR', { wanted: ['a', 'or'] }],
  ['5" nails', { wanted: ['5', 'nails'] }],
  ['""', {}],
  ['"—" a', { wanted: ['a'] }],
  ['-"—" a', { wanted: ['a'] }],
  ['-Café', { without: ['cafe'] }],
  ['-猫', { withoutPhrases: [['猫']] }],
  ['"東京の天気 v2"', { wanted: ['"東京の天気 v2"'], phrases: [['東京', '京の', 'の天', '天気', 'v2']] }],
])('[FIND-4] %s', (query, expected) => {
  expect(read(query)).toEqual({ ...nothing, ...expected });
});

test('[FIND-6] in a question neither quotes nor hyphens mean anything', () => {
  expect(read('is it "a b" OR -c', true)).toEqual({ ...nothing, wanted: ['is', 'it', 'a', 'b', 'or', 'c'] });
});

test('[FIND-4] what only leaves out finds nothing', () => {
  expect(['-a', '-"a b"', 'a -b', '', '-'].map((query) => leavesOutOnly(readSearch(query)))).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});

test('[FIND-4] what is left out is told once, phrases in quotes', () => {
  const told = (query: string) => leftOutOf(readSearch(query));
  expect(told('a -b -B -"c d" -c-d -京 --e -')).toEqual(['b', '"c d"', '"京"']);
  expect(told('a "-b"')).toEqual([]);
});
