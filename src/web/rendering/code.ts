/** Converts source code to HTML: highlighted by highlight.js, with one element per line. Pure. */
import hljs from 'highlight.js/lib/common';
import { limits } from '../../limits/service.ts';
import type { CodeInput } from '../../pool/jobs.ts';

/** The only tags allowed in highlighted code. */
const SPAN = /<span class="(?:hljs-|language-)[\w -]+">|<\/span>/g;

/** Returns the lines of the code, with ids numbered from 1, or from the first line of a part. */
export function codeHtml({ text, name, firstLine }: CodeInput): string {
  const html = highlighted(text, languageOf(name)) ?? escapeHtml(text);
  return linesOf(html)
    .map((line, index) => {
      const number = (firstLine ?? 1) + index;
      // A style sheet counts from 1; a part says its numbers.
      const shown = firstLine === undefined ? '' : ` data-line="${number}"`;
      return `<span class="line" id="L${number}"${shown}>${line}</span>`;
    })
    .join('\n');
}

/** Highlighted HTML of the code; undefined: unknown language, or the code is too long. */
export function highlighted(code: string, language: string): string | undefined {
  if (code.length > limits.highlightCharsMax || hljs.getLanguage(language) === undefined) return undefined;
  const { value } = hljs.highlight(code, { language, ignoreIllegals: true });
  // highlight.js escapes its input. If it ever fails to, the code is shown without highlighting.
  return value.replace(SPAN, '').includes('<') ? undefined : value;
}

/** The language of a file: its extension, or its name if it has none. */
function languageOf(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1).toLowerCase();
}

/** Splits highlighted code into lines: a span across lines is closed at each line end and reopened. */
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
  // A newline at the end does not start another line.
  return lines.length > 1 && lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
