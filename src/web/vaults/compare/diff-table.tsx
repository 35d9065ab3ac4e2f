/**
 * Renders two texts side by side: removed lines on the left, added lines on the right. A page can have thousands of
 * rows, so these are rendered in turns before the page is.
 */
import type { ComponentChildren, VNode } from 'preact';
import { RenderedRows, TableBody } from '../../rendering/rows.tsx';
import type { DiffCell, DiffRow, SideBySide } from './side-by-side.ts';
import { changedWords, type LinePart } from './words.ts';

/** The rows of a difference as HTML. */
export interface RenderedDiff {
  readonly hunks: readonly RenderedRows[];
  /** True when rows were cut off. */
  readonly isCut: boolean;
}

/** Renders the rows of a difference, in turns of the account. */
export async function renderDiff({ hunks, isCut }: SideBySide, accountId: string): Promise<RenderedDiff> {
  const rendered: RenderedRows[] = [];
  for (const { rows } of hunks) {
    rendered.push(await RenderedRows.of(rows, (row) => <Row row={row} />, accountId));
  }
  return { hunks: rendered, isCut };
}

interface DiffTableProps {
  readonly diff: RenderedDiff;
  readonly left: ComponentChildren;
  readonly right: ComponentChildren;
}

/** Labelled by the heading above it, which must have the id `differences`. */
export function DiffTable({ diff, left, right }: DiffTableProps): VNode {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset groups fields, and here are none.
    <div class="diff-scroll" tabindex={0} role="group" aria-labelledby="differences">
      <table class="diff">
        <colgroup>
          <col class="line-number" />
          <col />
          <col class="line-number" />
          <col />
        </colgroup>
        <thead>
          <tr>
            <th scope="col" colspan={2}>
              {left}
            </th>
            <th scope="col" colspan={2}>
              {right}
            </th>
          </tr>
        </thead>
        {diff.hunks.map((rows, index) => (
          <TableBody key={index} rows={rows} />
        ))}
      </table>
    </div>
  );
}

function Row({ row: { kind, left, right } }: { readonly row: DiffRow }): VNode {
  const isChanged = kind === 'changed';
  const isPair = isChanged && left !== undefined && right !== undefined;
  const [before, after] = (isPair ? changedWords(left.text, right.text) : undefined) ?? [];
  return (
    <tr class={kind}>
      <Cell cell={left} parts={before} mark={isChanged ? '−' : ''} class={isChanged ? 'removed' : 'plain'} />
      <Cell cell={right} parts={after} mark={isChanged ? '+' : ''} class={isChanged ? 'added' : 'plain'} />
    </tr>
  );
}

interface CellProps {
  readonly cell: DiffCell | undefined;
  /** Undefined: the line has no word in common with its counterpart. */
  readonly parts: readonly LinePart[] | undefined;
  /** Marks a changed line without relying on color. */
  readonly mark: string;
  readonly class: string;
}

function Cell({ cell, parts, mark, ...rest }: CellProps): VNode {
  if (cell === undefined) {
    return (
      <>
        <td class="nothing" />
        <td class="nothing" />
      </>
    );
  }
  return (
    <>
      <td class="line-number">{cell.line}</td>
      <td class={rest.class}>
        {mark === '' ? null : <span class="mark">{mark}</span>}
        {parts === undefined
          ? cell.text
          : parts.map(({ text, isChanged }, at) => (isChanged ? <b key={at}>{text}</b> : text))}
      </td>
    </>
  );
}
