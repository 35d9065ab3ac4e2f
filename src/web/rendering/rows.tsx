/**
 * Renders many table rows in turns, before the page that contains them: a page is otherwise rendered at once. An account
 * renders the rows of one page after another: what is rendered and not yet sent is what garbage collection copies, and
 * that stops everybody.
 */
import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { OneEach } from '../../common/fair/one-each.ts';
import { turns } from '../../common/turns.ts';

/** So many are joined to one text: until then each row is a tree of small ones. */
const ROWS_JOINED = 20;

const rendering = new OneEach();

/** Rows as HTML; made only here, by the renderer that escapes every text. */
export class RenderedRows {
  readonly html: string;

  private constructor(html: string) {
    this.html = html;
  }

  /** Renders each item with `row`, in turns of the account. */
  static of<T>(items: readonly T[], row: (item: T) => VNode, accountId: string): Promise<RenderedRows> {
    return rendering.run(accountId, async () => {
      const pieces: string[] = [];
      let piece: string[] = [];
      for (const item of items) {
        if (turns.isOver) await turns.next(accountId);
        if (piece.push(renderToString(row(item))) < ROWS_JOINED) continue;
        pieces.push(piece.join(''));
        piece = [];
      }
      return new RenderedRows([...pieces, ...piece].join(''));
    });
  }
}

export function TableBody({ rows }: { readonly rows: RenderedRows }): VNode {
  return <tbody dangerouslySetInnerHTML={{ __html: rows.html }} />;
}
