/**
 * Owns how a Markdown text becomes HTML that holds nothing active: markdown-it writes HTML (CommonMark, tables,
 * strikethrough), parse5 reads it as a browser would, our own pass sets links, images and headings right, and
 * hast-util-sanitize keeps what its list allows. Pure.
 */
import { fromHtml } from 'hast-util-from-html';
import { sanitize } from 'hast-util-sanitize';
import { toHtml } from 'hast-util-to-html';
import MarkdownIt from 'markdown-it';
import type { MarkdownInput } from '../../pool/jobs.ts';
import { highlighted } from './code.ts';
import { ALLOWED } from './schema.ts';
import { settle } from './tree.ts';

const markdown = new MarkdownIt({
  // HTML of the author's is read too, and goes through the same sieve.
  html: true,
  linkify: true,
  highlight: (code, language) => highlighted(code, language) ?? '',
});
// Whatever an author wrote as a link or an image is looked at in the tree.
markdown.validateLink = () => true;

export function markdownHtml({ text, base }: MarkdownInput): string {
  const { body, front } = frontMatter(text);
  const tree = fromHtml(markdown.render(body), { fragment: true });
  settle(tree, base);
  const html = toHtml(sanitize(tree, ALLOWED));
  return front === undefined
    ? html
    : `<pre class="front-matter" tabindex="0"><code>${escaped(front)}</code></pre>${html}`;
}

/** The YAML between lines of three hyphens that many notes begin with, which Markdown would take for a heading. */
function frontMatter(text: string): { readonly front: string | undefined; readonly body: string } {
  const found = /^---\r?\n((?:(?!---\r?$).*\r?\n){0,200}?)---[ \t]*(?:\r?\n|$)/.exec(text);
  return found === null
    ? { front: undefined, body: text }
    : { front: found[1] ?? '', body: text.slice(found[0].length) };
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
