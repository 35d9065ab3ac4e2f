/** Owns how source code becomes HTML: highlight.js colours it, and each line stands in an element of its own. Pure. */
import hljs from 'highlight.js/lib/common';
import { limits } from '../../limits/service.ts';
import type { CodeInput } from '../../pool/jobs.ts';

/** All that highlighted code may hold beside text. */
const SPAN = /<span class="(?:hljs-|language-)[\w -]+">|<\/span>/g;

/** Code as lines, numbered from 1 by their ids. */
export function codeHtml({ text, name }: CodeInput): string {
  const html = highlighted(text, languageOf(name)) ?? escapeHtml(text);
  return linesOf(html)
    .map((line, index) => `<span class="line" id="L${index + 1}">${line}</span>`)
    .join('\n');
}

/** HTML of a code in a language; undefined: there is no such language, or the code is too long. */
export function highlighted(code: string, language: string): string | undefined {
  if (code.length > limits.highlightCharsMax || hljs.getLanguage(language) === undefined) return undefined;
  const { value } = hljs.highlight(code, { language, ignoreIllegals: true });
  // It escapes what it is given; should it ever not, the code is shown plain.
  return value.replace(SPAN, '').includes('<') ? undefined : value;
}

/** The language of a file: its ending, or its name where it has none. */
function languageOf(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1).toLowerCase();
}

/** The lines of highlighted code: a span that goes over several is closed at each end and opened again. */
function linesOf(html: string): string[] {
  const open: string[] = [];
  const lines = html.split('\n').map((line) => {
    const begun = open.join('');
    for (const [tag] of line.matchAll(SPAN)) {
      if (tag === '</span>') open.pop();
      else open.push(tag);
    }
    return `${begun}${line}${'</span>'.repeat(open.length)}`;
  });
  // A newline at the end begins no line.
  return lines.length > 1 && lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
