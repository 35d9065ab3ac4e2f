/** Owns the text of a result whose records are streamed: as many of them as a text takes, read from the beginning of the stream. */
import { type AnyRun, beginningOf } from '../http/reply/byte-run.ts';
import { limits } from '../limits/service.ts';
import { goesAsLines } from './listing.ts';
import type { LinesWish } from './tool.ts';
import { cutBytes } from './words.ts';

/** Escapes make a content longer in JSON; a beginning that holds less text than fits is no loss but of text. */
const READ_BYTES = 2 * limits.toolTextBytesMax;

const REST = '… the text ends here; structuredContent has the rest. Ask for fewer, or for one alone, to see it here';

/**
 * The headline, then each record as `describe` words it. Only the headline where the records go as lines: no text is sent
 * with those. It reads at most 128 KiB, however long the stream is.
 */
export function recordsText<T>(
  headline: string,
  lines: AnyRun,
  wish: LinesWish,
  describe: (record: T) => string,
  rest = REST,
): string {
  if (lines.bytes === 0 || goesAsLines(wish, lines.bytes)) return headline;
  const read = beginningOf(lines, READ_BYTES);
  const text = recordsOf<T>(read.toString('utf8'), read.length === lines.bytes)
    .map(describe)
    .join('\n');
  const shown = cutBytes(text, limits.toolTextBytesMax);
  const isAll = read.length === lines.bytes && shown.length === text.length;
  return [...(headline === '' ? [] : [headline]), shown, ...(isAll ? [] : ['', rest])].join('\n');
}

/** The whole lines, and what of the content of the last one is there. */
function recordsOf<T>(text: string, isWhole: boolean): T[] {
  const lines = text.split('\n');
  const last = lines.pop() ?? '';
  const records = lines.map((line) => JSON.parse(line) as T);
  const cut = isWhole ? undefined : cutRecord<T>(last);
  return cut === undefined ? records : [...records, cut];
}

/** A record whose last member, the content, was cut; undefined: not even that has begun. */
function cutRecord<T>(line: string): T | undefined {
  const at = line.indexOf('"content":"');
  if (at < 0) return undefined;
  // A cut through an escape or a character is mended by leaving it out: an escape takes six characters, a pair two of them.
  for (let end = line.length; end > line.length - 13; end -= 1) {
    try {
      return JSON.parse(`${line.slice(0, end).replace(/\uFFFD+$/u, '')}"}`) as T;
    } catch {
      // The next cut is one character earlier.
    }
  }
  return undefined;
}
