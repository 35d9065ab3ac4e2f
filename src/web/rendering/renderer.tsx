/** Sends a text to a worker thread for rendering, and puts the HTML into a page. */
import type { VNode } from 'preact';
import { limits } from '../../limits/service.ts';
import type { LinkBase } from '../../pool/jobs.ts';
import type { Pool } from '../../pool/pool.ts';
import type { ShownPart } from './parts.ts';

/** Rendered HTML without active content. */
export class RenderedHtml {
  readonly html: string;

  constructor(html: string) {
    this.html = html;
  }
}

export class Renderer {
  readonly #pool: Pick<Pool, 'run'>;

  constructor(pool: Pick<Pool, 'run'>) {
    this.#pool = pool;
  }

  /** Renders Markdown; undefined: the text is too long or took too long. Throws Refusal `overloaded`. */
  async markdown(text: string, base: LinkBase | undefined, accountId: string): Promise<RenderedHtml | undefined> {
    if (text.length > limits.shownTextCharsMax) return undefined;
    const html = await this.#pool.run('renderMarkdown', { text, base }, { accountId });
    return html === undefined ? undefined : new RenderedHtml(html);
  }

  /** Renders the manual of Cairn, without a time limit. Throws Refusal `overloaded`. */
  async manualText(text: string, owner: string): Promise<RenderedHtml | undefined> {
    const html = await this.#pool.run('renderMarkdown', { text, base: undefined, isOwn: true }, { accountId: owner });
    return html === undefined ? undefined : new RenderedHtml(html);
  }

  /** Renders a part of a code in numbered lines, by file name; undefined: it took too long. Throws Refusal `overloaded`. */
  async code({ text, part, ...shown }: ShownPart, name: string, accountId: string): Promise<RenderedHtml | undefined> {
    const firstLine = part === 1 ? undefined : shown.firstLine;
    const html = await this.#pool.run('renderCode', { text, name, firstLine }, { accountId });
    return html === undefined ? undefined : new RenderedHtml(html);
  }
}

export function isMarkdown(name: string): boolean {
  return /\.(md|markdown|mdown|mkd)$/i.test(name);
}

export function Prose({ rendered }: { readonly rendered: RenderedHtml }): VNode {
  return <div class="prose" dir="auto" dangerouslySetInnerHTML={{ __html: rendered.html }} />;
}

/** Code in numbered lines, with a copy button if script is enabled. */
export function Code({ rendered, label }: { readonly rendered: RenderedHtml; readonly label: string }): VNode {
  return (
    <div class="code-block">
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset groups fields, and here are none. */}
      <pre class="content code" tabindex={0} role="group" aria-label={label}>
        <code dangerouslySetInnerHTML={{ __html: rendered.html }} />
      </pre>
      <button class="button small" type="button" data-copy hidden>
        Copy<span class="sr-only"> {label}</span>
      </button>
    </div>
  );
}
