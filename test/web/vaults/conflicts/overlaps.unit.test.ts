/** The overlapping places of a merge, read from its text with markers. */
import { expect, test } from 'vitest';
import { overlapsIn } from '../../../../src/web/vaults/conflicts/overlaps.ts';

const ID = 'k1';
const place = (mine: string, base: string, theirs: string, end = '\n') =>
  [`<<<<<<< ${ID}`, mine, '||||||| base', base, '=======', theirs, `>>>>>>> ${ID}`, ''].join(end);

test.each([
  ['no place', 'one\ntwo\n', []],
  ['one place', `one\n\n${place('m', 'b', 't')}two`, [{ after: 'one', mine: ['m'], base: ['b'], theirs: ['t'] }]],
  ['CR LF', place('m', 'b', 't', '\r\n'), [{ after: undefined, mine: ['m'], base: ['b'], theirs: ['t'] }]],
  [
    'two places, and markers that are part of the text',
    `<<<<<<< other\n${place('m', 'b', 't\n>>>>>>> other')}${place('=======', 'b', '||||||| base')}`,
    [
      { after: '<<<<<<< other', mine: ['m'], base: ['b'], theirs: ['t', '>>>>>>> other'] },
      { after: '>>>>>>> other', mine: ['======='], base: ['b'], theirs: ['||||||| base'] },
    ],
  ],
])('[WEB-20] %s', (_name, text, places) => {
  expect(overlapsIn(text, ID)).toEqual(places);
});
