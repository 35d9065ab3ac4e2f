/** Builds the text of a result with streamed records: as many records as fit, read from the beginning of the stream. */
import { type AnyRun, beginningOf } from '../http/reply/byte-run.ts';
import { limits } from '../limits/service.ts';
import { goesAsLines } from './listing.ts';
import type { LinesWish } from './tool.ts';
import { cutBytes } from './words.ts';

/** Escapes make content longer in JSON. If these bytes contain less text than fits, the text is only shorter. */
const READ_BYTES = 2 * limits.toolTextBytesMax;

const REST = '… the text ends here; ask for fewer, or for one alone, to see the rest';

/**
 * The headline, then the text of each record from `describe`. Only the headline when the records are sent as lines,
 * which have no text. Reads at most 128 KiB of the stream.
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

/** The complete records, and the last one with its content cut. */
function recordsOf<T>(text: string, isWhole: boolean): T[] {
  const lines = text.split('\n');
  const last = lines.pop() ?? '';
  const records = lines.map((line) => JSON.parse(line) as T);
  const cut = isWhole ? undefined : cutRecord<T>(last);
  return cut === undefined ? records : [...records, cut];
}

/** A record cut in its last member, the content; undefined when it is cut before that. */
function cutRecord<T>(line: string): T | undefined {
  const at = line.indexOf('"content":"');
  if (at < 0) return undefined;
  // Drops an escape or character cut in half: an escape has six characters, a surrogate pair is two escapes.
  for (let end = line.length; end > line.length - 13; end -= 1) {
    try {
      return JSON.parse(`${line.slice(0, end).replace(/\uFFFD+$/u, '')}"}`) as T;
    } catch {
      // Try again, one character shorter.
    }
  }
  return undefined;
}
