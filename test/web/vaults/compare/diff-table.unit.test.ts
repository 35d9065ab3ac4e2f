/** The rows of a long difference are rendered in turns, and are the same as if at once. */
import { expect, test } from 'vitest';
import { turns } from '../../../../src/common/turns.ts';
import { type RenderedDiff, renderDiff } from '../../../../src/web/vaults/compare/diff-table.tsx';
import type { DiffRow } from '../../../../src/web/vaults/compare/side-by-side.ts';

const rowsOf = (count: number): DiffRow[] =>
  Array.from({ length: count }, (_, at) => ({
    kind: 'changed',
    left: { line: at + 1, text: `a <b>line</b> with the number ${at} & more` },
    right: { line: at + 1, text: `a line with the <i>number</i> ${at + 1} & less` },
  }));

test('[NET-15] a page that compares thousands of lines lets others go first', async () => {
  const order: string[] = [];
  const page = renderDiff({ hunks: [{ rows: rowsOf(20_000) }], isCut: false }, 'one').then(() => order.push('page'));
  const other = turns.next('another').then(() => order.push('small call'));
  await Promise.all([page, other]);
  expect(order).toEqual(['small call', 'page']);
});

test('[NET-15] every row is rendered once, in order, and escaped', async () => {
  const rows = rowsOf(25);
  const { hunks, isCut }: RenderedDiff = await renderDiff({ hunks: [{ rows }, { rows: [] }], isCut: true }, 'one');
  const [html = '', empty] = hunks.map((hunk) => hunk.html);
  expect([hunks.length, empty, isCut]).toEqual([2, '', true]);
  const numbers = [...html.matchAll(/<td class="line-number">(\d+)<\/td>/g)].map(([, line]) => Number(line));
  expect(numbers).toEqual(rows.flatMap((_, at) => [at + 1, at + 1]));
  expect(html).not.toContain('<i>');
});
