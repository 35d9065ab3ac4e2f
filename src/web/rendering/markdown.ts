/**
 * Converts Markdown to HTML without active content: markdown-it writes HTML (CommonMark, tables, strikethrough), parse5
 * parses it like a browser, our own pass fixes links, images and headings, and hast-util-sanitize keeps only what its
 * schema allows. Pure.
 */
import type { Root } from 'hast';
import { fromParse5 } from 'hast-util-from-parse5';
import { type Schema, sanitize } from 'hast-util-sanitize';
import { toHtml } from 'hast-util-to-html';
import MarkdownIt from 'markdown-it';
import { parseFragment } from 'parse5';
import type { MarkdownInput } from '../../pool/jobs.ts';
import { highlighted } from './code.ts';
import { settleTree } from './tree.ts';

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
  const tree = treeOf(markdown.render(body));
  settleTree(tree, base);
  const html = toHtml(sanitize(tree, ALLOWED));
  return front === undefined
    ? html
    : `<pre class="front-matter" tabindex="0"><code>${escaped(front)}</code></pre>${html}`;
}

/** Parses HTML as a browser without scripts does. The nodes do not say where in the text they were: that would be half of the work. */
function treeOf(html: string): Root {
  return fromParse5(parseFragment(html, { scriptingEnabled: false })) as Root;
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

const HEADINGS = ['h2', 'h3', 'h4', 'h5', 'h6'];
const BLOCKS = ['p', 'div', 'blockquote', 'pre', 'hr', 'br', 'ul', 'ol', 'li', 'dl', 'dt', 'dd', 'details', 'summary'];
const TABLE = ['table', 'thead', 'tbody', 'tfoot', 'tr', 'th', 'td'];
const WORDS = ['a', 'b', 'code', 'del', 'em', 'i', 'img', 'input', 'ins', 'kbd', 'mark', 'q', 's', 'samp', 'small'];
const MORE_WORDS = ['span', 'strong', 'sub', 'sup', 'u', 'var'];
/** For scrolling blocks, which must be reachable by keyboard. */
const SCROLLS: [string, string | number][] = [
  ['tabIndex', 0],
  ['role', 'group'],
];

/** The elements and attributes allowed in a rendered text. Others are removed; most keep their text. */
const ALLOWED: Schema = {
  tagNames: [...HEADINGS, ...BLOCKS, ...TABLE, ...WORDS, ...MORE_WORDS],
  attributes: {
    a: ['href', 'title', ['rel', 'noopener', 'noreferrer', 'nofollow'], ['className', 'remote-image']],
    code: [['className', /^language-[\w+#.-]{1,40}$/]],
    details: ['open'],
    div: [['className', 'table-scroll'], ...SCROLLS, 'ariaLabel'],
    // `settleTree` in `tree.ts` sets the id of each heading and removes all other ids.
    ...Object.fromEntries(HEADINGS.map((name) => [name, [['id', /^h-/]]])),
    img: ['src', 'alt', 'title', ['loading', 'lazy']],
    input: [['type', 'checkbox'], ['disabled', true], 'checked', 'ariaLabel'],
    li: ['value', ['className', 'task']],
    ol: ['start', 'reversed'],
    pre: [...SCROLLS, 'ariaLabel'],
    span: [['className', /^hljs-[\w-]{1,40}$|^(function|class|inherited)_{1,2}$|^language-\w{1,40}$/]],
    td: ['align', 'colSpan', 'rowSpan'],
    th: ['align', 'colSpan', 'rowSpan', ['scope', 'col', 'row']],
  },
  required: { input: { type: 'checkbox', disabled: true } },
  ancestors: Object.fromEntries(['thead', 'tbody', 'tfoot', 'tr', 'th', 'td'].map((name) => [name, ['table']])),
  strip: ['script', 'style', 'template', 'noscript', 'iframe', 'object', 'embed', 'svg', 'math', 'title', 'textarea'],
  protocols: { href: ['http', 'https', 'mailto'] },
  clobber: [],
  allowComments: false,
  allowDoctypes: false,
};
