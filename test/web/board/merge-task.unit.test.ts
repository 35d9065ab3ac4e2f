/** The table of merges of a task's form with a change that came first. */
import { expect, test } from 'vitest';
import { mergeTask, readOpened } from '../../../src/web/board/merge-task.ts';

const OPENED = { content: 'one\ntwo\nthree\nfour\nfive', due_date: null, is_important: false };

test.each([
  ['nothing of mine: theirs stays', {}, { due_date: '2030-01-01' }, { due_date: '2030-01-01' }],
  ['mine only', { is_important: true }, {}, { is_important: true }],
  [
    'different fields',
    { content: 'other' },
    { due_date: '2030-01-01' },
    { content: 'other', due_date: '2030-01-01', is_important: false },
  ],
  ['the same change by both', { due_date: '2030-01-01' }, { due_date: '2030-01-01' }, { due_date: '2030-01-01' }],
  [
    'different lines of the text',
    { content: 'ONE\ntwo\nthree\nfour\nfive' },
    { content: 'one\ntwo\nthree\nfour\nFIVE' },
    { content: 'ONE\ntwo\nthree\nfour\nFIVE' },
  ],
  ['the same line of the text', { content: 'ONE\ntwo\nthree\nfour\nfive' }, { content: '1\ntwo' }, undefined],
  ['the same field', { due_date: '2030-01-01' }, { due_date: '2031-01-01' }, undefined],
  ['emptied by me, set by them', { due_date: '2030-01-01', is_important: true }, { due_date: '2029-01-01' }, undefined],
])('[WEB-20] %s', (_name, mine, theirs, wanted) => {
  const merged = mergeTask(OPENED, { ...OPENED, ...mine }, { ...OPENED, ...theirs });
  expect(merged).toEqual(wanted === undefined ? undefined : { ...OPENED, ...wanted });
});

test('[WEB-20] a form that does not say what it was opened with is not merged', () => {
  expect([null, '', '[]', 'null', '3', '{'].map(readOpened)).toEqual(Array.from({ length: 6 }, () => undefined));
  expect(readOpened('{"content":"a"}')).toEqual({ content: 'a' });
});
