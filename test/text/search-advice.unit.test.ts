/** What a search says that found nothing. */
import { expect, test } from 'vitest';
import { emptyAdvice, leftOutAdvice } from '../../src/text/search-advice.ts';

const EVERY = 'tasks, documents, files and names of backups were searched';
const nothing = { total: 0, counts: {}, missing: [], without: [], complete: true };

test.each([
  ['?!', nothing, undefined, 'A search needs a letter or a digit. Type a word, or its beginning.'],
  [
    'fir',
    { ...nothing, complete: false, missing: ['fir'] },
    undefined,
    'There may be more: your account is still being indexed, or a phrase has too much text to read. Search again in a moment, or with more words.',
  ],
  ['fir', { ...nothing, total: 2 }, undefined, 'There are no more than 2 results. Search again from the first.'],
  [
    'fir',
    { ...nothing, missing: ['fir'] },
    undefined,
    `Nothing has “fir”: ${EVERY}. Check the spelling, or try other words.`,
  ],
  [
    'fir elm oak',
    { ...nothing, missing: ['fir', 'elm'] },
    'files',
    'Nothing has “fir” and “elm”: files were searched. Check the spelling, or leave them out.',
  ],
  [
    ' fir oak ',
    { ...nothing, missing: ['fir', 'oak'] },
    undefined,
    `Nothing has “fir” and “oak”: ${EVERY}. Check the spelling, or try other words.`,
  ],
  [
    'fir',
    { ...nothing, counts: { task: 2 } },
    'files',
    'There is nothing among the files, but 2 elsewhere: search every kind.',
  ],
  [
    'fir elm',
    nothing,
    undefined,
    `Each word is found, but nothing has all of them: ${EVERY}. Leave one out, or put OR between them.`,
  ],
  [
    'rm -rf',
    { ...nothing, without: ['rf'] },
    undefined,
    `Nothing else has all of the words: ${EVERY}. What has “rf” is left out, by the hyphen. To find it, put it in quotes.`,
  ],
] as const)('[WEB-11] %j with %j in %s: %s', (query, found, kind, said) => {
  expect(emptyAdvice(query, found, kind)).toBe(said);
});

test('[WEB-11] a search that leaves nothing out says nothing of it', () => {
  expect(leftOutAdvice([])).toBeUndefined();
});
