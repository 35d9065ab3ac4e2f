/**
 * Converts Markdown to HTML without active content: markdown-it writes HTML (CommonMark, tables, strikethrough), parse5
 * parses it like a browser, our own pass fixes links, images and headings, and hast-util-sanitize keeps only what its
 * schema allows. Pure.
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
  // HTML in the text is parsed too, and sanitized like the rest.
  html: true,
  linkify: true,
  highlight: (code, language) => highlighted(code, language) ?? '',
});
// Links and images are checked later, in the tree.
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

/** Splits off YAML front matter between lines of three hyphens, which Markdown would parse as a heading. */
function frontMatter(text: string): { readonly front: string | undefined; readonly body: string } {
  const found = /^---\r?\n((?:(?!---\r?$).*\r?\n){0,200}?)---[ \t]*(?:\r?\n|$)/.exec(text);
  return found === null
    ? { front: undefined, body: text }
    : { front: found[1] ?? '', body: text.slice(found[0].length) };
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
