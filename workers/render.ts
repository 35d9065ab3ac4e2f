/** Renders Markdown and code as HTML, off the main thread and within a time limit. */
import type { CodeInput, MarkdownInput } from '../src/pool/jobs.ts';
import { codeHtml } from '../src/web/rendering/code.ts';
import { markdownHtml } from '../src/web/rendering/markdown.ts';
import { withinTime } from '../src/web/rendering/time-limit.ts';

export function renderMarkdown(input: MarkdownInput): string | undefined {
  return input.isOwn === true ? markdownHtml(input) : withinTime(() => markdownHtml(input));
}

export function renderCode(input: CodeInput): string | undefined {
  return withinTime(() => codeHtml(input));
}
