/** Lists the elements and attributes allowed in a rendered text. Others are removed; most keep their text. */
import type { Schema } from 'hast-util-sanitize';

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

export const ALLOWED: Schema = {
  tagNames: [...HEADINGS, ...BLOCKS, ...TABLE, ...WORDS, ...MORE_WORDS],
  attributes: {
    a: ['href', 'title', ['rel', 'noopener', 'noreferrer', 'nofollow'], ['className', 'remote-image']],
    code: [['className', /^language-[\w+#.-]{1,40}$/]],
    details: ['open'],
    div: [['className', 'table-scroll'], ...SCROLLS, 'ariaLabel'],
    // `settle` in `tree.ts` sets the id of each heading and removes all other ids.
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
