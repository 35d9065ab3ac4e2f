/** Renders many table rows in turns, before the page that contains them: a page is otherwise rendered at once. */
import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { turns } from '../../common/turns.ts';

/** Few enough for a fraction of a turn. */
const ROWS_AT_ONCE = 10;

/** Rows as HTML; made only here, by the renderer that escapes every text. */
export class RenderedRows {
  readonly html: string;

  private constructor(html: string) {
    this.html = html;
  }

  /** Renders each item with `row`, in turns of the account. */
  static async of<T>(items: readonly T[], row: (item: T) => VNode, accountId: string): Promise<RenderedRows> {
    let html = '';
    for (const [at, item] of items.entries()) {
      if (at % ROWS_AT_ONCE === 0 && turns.isOver) await turns.next(accountId);
      html += renderToString(row(item));
    }
    return new RenderedRows(html);
  }
}

export function TableBody({ rows }: { readonly rows: RenderedRows }): VNode {
  return <tbody dangerouslySetInnerHTML={{ __html: rows.html }} />;
}
