/** Comparisons in two columns, and texts that go through a form: nothing is lost or moved, whatever they hold. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromForm, hasConflictMarks, newlineOf, textContentOf } from '../../../../src/text/text-content.ts';
import { unifiedDiff } from '../../../../src/text/unified-diff.ts';
import { sideBySide } from '../../../../src/web/vaults/compare/side-by-side.ts';
import { seed } from '../../../support/seed.ts';

const ALL_LINES = 10_000;

const diffOf = (before: string, after: string, contextLines = ALL_LINES) =>
  unifiedDiff({ before, after, beforeName: 'a', afterName: 'b', contextLines });

const linesArbitrary = fc
  .array(fc.constantFrom('', 'a', 'b', '-c', '+d', ' e', '@@ -1 +1 @@', '--- x', '\\ No newline', '…'))
  .map((lines) => lines.map((line) => `${line}\n`).join(''));

test('[WEB-1] the two columns hold both texts, line by line, each with its number', () => {
  fc.assert(
    fc.property(linesArbitrary, linesArbitrary, fc.nat(3), (before, after, context) => {
      const [left, right] = [before.split('\n').slice(0, -1), after.split('\n').slice(0, -1)];
      if (before !== after) {
        const rows = sideBySide(diffOf(before, after), ALL_LINES).hunks.flatMap((hunk) => hunk.rows);
        expect(rows.flatMap((row) => row.left?.text ?? [])).toEqual(left);
        expect(rows.flatMap((row) => row.right?.text ?? [])).toEqual(right);
        expect(rows.every((row) => row.kind === 'changed' || row.left?.text === row.right?.text)).toBe(true);
      }
      for (const { rows } of sideBySide(diffOf(before, after, context), ALL_LINES).hunks) {
        for (const row of rows) {
          if (row.left !== undefined) expect(left[row.left.line - 1]).toBe(row.left.text);
          if (row.right !== undefined) expect(right[row.right.line - 1]).toBe(row.right.text);
        }
      }
    }),
    { seed },
  );
});

test('[WEB-1, LIM-2] a long comparison is cut at the rows that are shown, and says so', () => {
  const lines = (word: string) => Array.from({ length: 100 }, (_, index) => `${word} ${index}\n`).join('');
  const whole = sideBySide(diffOf(lines('a'), lines('b')), 1000);
  expect([whole.isCut, whole.hunks[0]?.rows.length]).toEqual([false, 100]);
  const cut = sideBySide(diffOf(lines('a'), lines('b')), 10);
  expect([cut.isCut, cut.hunks.flatMap(({ rows }) => rows).length]).toEqual([true, 10]);
  expect(sideBySide('Files a and b differ and are too large to compare by lines\n', 10)).toEqual({
    hunks: [],
    isCut: false,
  });
});

test('[WEB-1] a text comes back from a form with the line ends that it had', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme' }).filter((line) => !/[\r\n]/.test(line))), (lines) => {
      for (const end of ['\n', '\r\n']) {
        const text = lines.join(end);
        const sent = text.replace(/\r\n|\n/g, '\r\n');
        expect(fromForm(sent, newlineOf(text))).toBe(text);
      }
    }),
    { seed },
  );
});

test.each([
  ['<<<<<<< yours\na\n=======\nb\n>>>>>>> hub\n', true],
  ['<<<<<<< yours\r\na\r\n=======\r\nb\r\n>>>>>>> hub\r\n', true],
  ['Title\n=======\n\nText\n', false],
  ['a <<<<<<< b\n>>>>>>>> c\n', false],
  ['', false],
])('[WEB-1] marks of a merge are told from text that looks like them: %j', (text, has) => {
  expect(hasConflictMarks(text)).toBe(has);
});

test('[WEB-1] text is what is UTF-8 without a NUL, a byte order mark kept', () => {
  expect(textContentOf(Buffer.from('\ufeffgrüß\u0007'))).toBe('\ufeffgrüß\u0007');
  expect(textContentOf(Uint8Array.of(0xc3, 0x28))).toBeUndefined();
  expect(textContentOf(Uint8Array.of(0x61, 0x00))).toBeUndefined();
});
