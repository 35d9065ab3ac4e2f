/** What a text is after an edit, and what an edit that does not match is told. */
import { expect, test } from 'vitest';
import { applyEdit, type EditRequest } from '../../src/agents/things/edit.ts';
import { Refusal } from '../../src/common/fault.ts';

const NOTE = '# Plan\n\nOne.\n\n## Later\n\nTwo.\n\n## Never\nThree.\n';

const edited: readonly (readonly [string, string, EditRequest, string, number])[] = [
  ['old becomes new', 'a b c\n', { old: 'b', new: 'x' }, 'a x c\n', 1],
  ['an empty new deletes', 'a b c\n', { old: ' b', new: '' }, 'a c\n', 1],
  ['all places', 'a b a\n', { old: 'a', new: 'x', all: true }, 'x b x\n', 1],
  ['the line of the change', 'a\nb\nc\n', { old: 'c', new: 'd' }, 'a\nb\nd\n', 3],
  ['old across lines', 'a\nb\nc\n', { old: 'a\nb', new: 'x' }, 'x\nc\n', 1],
  ['line ends of the text stay', 'a\r\nb\r\n', { old: 'a\nb', new: 'c\nd' }, 'c\r\nd\r\n', 1],
  ['a dollar sign is one', 'a\n', { old: 'a', new: '$&$1' }, '$&$1\n', 1],
  ['append ends the last line first', 'a', { append: 'b' }, 'a\nb\n', 2],
  ['append to nothing', '', { append: 'b\n' }, 'b\n', 1],
  ['a section', NOTE, { section: 'later', text: 'New.' }, NOTE.replace('Two.', 'New.'), 5],
  [
    'a section that repeats its heading',
    NOTE,
    { section: 'Later', text: '## Later\n\nNew.\n' },
    NOTE.replace('Two.', 'New.'),
    5,
  ],
  ['a section without blank lines', NOTE, { section: '## Never', text: 'New.' }, NOTE.replace('Three.', 'New.'), 9],
  ['a section with those below it', NOTE, { section: 'Plan', text: 'All.' }, '# Plan\n\nAll.\n', 1],
  ['an emptied section', NOTE, { section: 'Later', text: '' }, NOTE.replace('Two.\n\n', ''), 5],
  ['append to a section', NOTE, { section: 'Later', append: 'More.' }, NOTE.replace('Two.\n', 'Two.\nMore.\n'), 5],
  ['append to an empty section', '# A\n# B\n', { section: 'A', append: 'x' }, '# A\n\nx\n\n# B\n', 1],
  [
    'a mark in code is no heading',
    '# A\n```\n# B\n```\n# B\nx\n',
    { section: 'B', text: 'y' },
    '# A\n```\n# B\n```\n# B\ny\n',
    5,
  ],
];

test.each(edited)('[FIND-3] %s', (_what, text, request, after, line) => {
  expect(applyEdit(text, request)).toMatchObject({ text: after, line });
});

test.each<[EditRequest, readonly string[] | undefined]>([
  [{ section: 'Plan', text: 'All.' }, ['## Later', '## Never']],
  [{ section: 'Plan', text: 'All.\n\n# Never\nFour.\n' }, ['## Later']],
  [{ section: 'Plan', text: '' }, ['## Later', '## Never']],
  [{ section: 'Later', text: 'New.' }, undefined],
  [{ section: 'Plan', append: 'More.' }, undefined],
])('[FIND-3] what went with the body of a section is named: %j', (request, gone) => {
  expect(applyEdit(NOTE, request).gone).toEqual(gone);
});

function refusalOf(text: string, request: EditRequest): Record<string, readonly string[]> {
  try {
    applyEdit(text, request);
  } catch (error) {
    if (error instanceof Refusal && error.fault.kind === 'invalid_fields') return error.fault.fields;
    throw error;
  }
  throw new Error('not refused');
}

const refused: readonly (readonly [string, string, EditRequest, string, RegExp])[] = [
  [
    'what is not there',
    'alpha beta\ngamma delta\n',
    { old: 'gamma detla', new: 'x' },
    'old',
    /now has:\n2: gamma delta/,
  ],
  [
    'several lines that are not there',
    'a one\nb two\nc three\n',
    { old: 'b two\nc four', new: 'x' },
    'old',
    /2: b two\n3: c three/,
  ],
  ['a mistyped word', 'first\nrequirements\n', { old: 'requirments', new: 'x' }, 'old', /2: requirements/],
  ['nothing like it', 'a\n', { old: 'zzz yyy', new: 'x' }, 'old', /nothing is like it/],
  ['what is there twice', 'a\nb\na\n', { old: 'a', new: 'x' }, 'old', /2 times, at lines 1, 3/],
  ['an empty old', 'a\n', { old: '', new: 'x' }, 'old', /must not be empty/],
  ['old without new', 'a\n', { old: 'a' }, 'new', /new is required/],
  ['new without old', 'a\n', { new: 'a' }, 'old', /old is required/],
  ['nothing', 'a\n', {}, 'old', /send one of/],
  ['two ways at once', 'a\n', { old: 'a', new: 'b', append: 'c' }, 'old', /send one of/],
  ['an unknown heading', NOTE, { section: 'Latr', text: 'x' }, 'section', /did you mean "Later"/],
  ['a heading that is there twice', '# A\n# A\n', { section: 'A', text: 'x' }, 'section', /at lines 1, 2/],
  ['nothing to append', 'a', { append: '' }, 'append', /append must not be empty/],
  ['nothing to append to a section', NOTE, { section: 'Later', append: ' \n' }, 'append', /append must not be empty/],
  ['a section without a text', NOTE, { section: 'Later' }, 'text', /text .* or append/],
];

test.each(refused)('[FIND-3] %s is refused with what is there now', (_what, text, request, field, says) => {
  const fields = refusalOf(text, request);
  expect(Object.keys(fields)).toEqual([field]);
  expect(fields[field]?.join()).toMatch(says);
});
