/** What belongs at the end of a line that is being typed, and what is offered of what a hub lists. */
import { expect, test } from 'vitest';
import type { Command } from '../../src/cli/command.ts';
import { folderOfPath, offerLines, offersOf, stepsOf } from '../../src/cli/suggest/offers.ts';
import { typedPlace } from '../../src/cli/suggest/place.ts';

const command: Command = {
  name: 'sync restore',
  summary: '',
  operands: ['[FILE]'],
  options: [
    { name: 'vault', value: 'NAME', required: false },
    { name: 'at', value: 'TIME', required: false },
  ],
  flags: ['dry-run'],
  completes: { vault: 'vault', FILE: 'kept file' },
  examples: [],
  run: async () => 0,
};

test.each([
  ['an operand', [], 'no', { completes: 'kept file', options: {}, operands: [] }],
  ['the value of an option', ['--vault'], '', { completes: 'vault', options: {}, operands: [] }],
  ['a value that begins with a dash', ['--vault'], '-', { completes: 'vault', options: {}, operands: [] }],
  [
    'an operand after options',
    ['--vault', 'n', '--dry-run'],
    '',
    { completes: 'kept file', options: { vault: 'n' }, operands: [] },
  ],
  ['an option', [], '--va', undefined],
  ['a value that nobody knows', ['--at'], '', undefined],
  ['a second operand', ['a.md'], '', undefined],
])('[CLI-1] %s is completed as what it is', (_title, rest, typed, place) => {
  expect(typedPlace({ command, rest }, typed)).toEqual(place);
});

test('[CLI-1, CLI-3] what cannot be typed as one line is not offered; notes are one line', () => {
  const rows = ['a', 'b\nc', 'a', '', '\u001b[31m', 'd'];
  expect(
    offersOf(
      rows,
      (row) => row,
      (row) => (row === 'd' ? ` two\nlines\tand ${'x'.repeat(99)}` : ''),
    ),
  ).toEqual([{ value: 'a' }, { value: 'd', note: expect.stringMatching(/^two lines and x{40,}$/) }]);
  expect(offerLines([{ value: '1', note: 'one' }, { value: '2' }], false)).toBe('words\n1\tone\n2');
  expect(offerLines([], true)).toBe('paths');
});

test('[CLI-1] paths are offered a folder at a time', () => {
  const paths = ['notes/a.md', 'notes/deep/b.md', 'notes/deep/c.md'];
  expect(stepsOf(paths, '')).toEqual([{ value: 'notes/' }]);
  expect(stepsOf(paths, 'notes/')).toEqual([{ value: 'notes/a.md' }, { value: 'notes/deep/' }]);
  expect([folderOfPath('notes/de'), folderOfPath('no')]).toEqual(['notes/', '']);
});
