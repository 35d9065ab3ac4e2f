/** Builds the short texts returned by tools with their structured results. Pure. */
import { limits } from '../limits/service.ts';

/** `1 task`, `2 tasks`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** A headline and a line for each item, as many as fit into a text. */
export function headed<T>(headline: string, items: readonly T[], describe: (item: T) => string): string {
  if (items.length === 0) return headline;
  const lines = [`${headline}:`];
  let bytesLeft = limits.toolTextBytesMax - Buffer.byteLength(headline);
  for (const item of items) {
    const line = describe(item);
    bytesLeft -= Buffer.byteLength(line) + 1;
    if (bytesLeft < 0) {
      const shown = lines.length - 1;
      const asked = shown === 0 ? '' : `; ask for at most ${shown} at once to see each`;
      lines.push(`… and ${items.length - shown} more${asked}`);
      break;
    }
    lines.push(line);
  }
  return lines.join('\n');
}

/** A text on one line of at most `charsMax` characters. */
export function oneLine(text: string, charsMax: number): string {
  const flat = text.trim().replace(/\s+/gu, ' ');
  // Drops half of a surrogate pair at the cut.
  return flat.length > charsMax ? `${flat.slice(0, charsMax - 1).replace(/\p{Cs}$/u, '')}…` : flat;
}

/** A headline and a content below it: complete up to 64 KiB, else its beginning and where to find all of it. */
export function withContent(headline: string, content: string, resource?: string): string {
  const bytes = Buffer.byteLength(content);
  if (bytes <= limits.toolTextBytesMax) return `${headline}\n\n${content}`;
  const beginning = cutBytes(content, limits.toolTextBytesMax);
  return `${headline}\n\n${beginning}\n\n${restIn(bytes - Buffer.byteLength(beginning), resource)}`;
}

/** The line after a cut content. `resource`: URI of a resource with the complete content. */
function restIn(bytes: number, resource?: string): string {
  const where =
    resource === undefined
      ? 'with detail: true structuredContent has all of it'
      : `read with id ${resource} to continue`;
  return `… and ${plural(bytes, 'more byte')}; ${where}`;
}

/** The longest beginning of a text within `bytesMax` bytes of UTF-8. */
export function cutBytes(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text.slice(0, bytesMax));
  if (bytes.length <= bytesMax) return text.slice(0, bytesMax).replace(/\p{Cs}$/u, '');
  let end = bytesMax;
  // A byte of the form 10xxxxxx continues a character (RFC 3629).
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}
