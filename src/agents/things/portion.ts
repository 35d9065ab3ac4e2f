/** Chooses a part of a text by lines, by heading, or as much as fits into one answer. Pure. */
import { invalidField } from '../../common/fault.ts';
import { splitLines } from '../../text/lines.ts';
import { nearest } from '../../text/nearest.ts';

export interface TextPartRequest {
  /** `40`, `40-80` or `40-`. */
  readonly lines?: string | undefined;
  readonly heading?: string | undefined;
  /** `next` of an earlier portion. */
  readonly cursor?: string | undefined;
}

export interface TextPart {
  readonly text: string;
  /** First and last line, from 1; both 0 for an empty text. */
  readonly from: number;
  readonly to: number;
  readonly total: number;
  /** Where to go on; undefined when everything asked for is here. */
  readonly next: string | undefined;
}

/** A section: its lines from the heading on, `to` exclusive, counted from 0. */
export interface TextSection {
  readonly heading: string;
  readonly level: number;
  readonly from: number;
  readonly to: number;
}

/** What `lines` has to be; completes a sentence. */
export const LINES_FORM = 'must be like "40", "40-80" or "40-", counted from 1';

/** Throws Refusal `invalid_fields` for lines or a heading that the text does not have. */
export function textPartOf(text: string, request: TextPartRequest, bytesMax: number): TextPart {
  const lines = splitLines(text);
  const asked = spanOf(lines, request);
  const start = request.cursor === undefined ? { line: asked.from, char: 0 } : readCursor(request.cursor, lines.length);
  const taken: string[] = [];
  let bytes = 0;
  for (let at = start.line; at < asked.to; at += 1) {
    const skipped = at === start.line ? start.char : 0;
    const line = (lines[at] ?? '').slice(skipped);
    const size = Buffer.byteLength(line);
    if (bytes + size > bytesMax) {
      const room = bytesMax - bytes;
      // A line is cut only when it alone is more than an answer holds.
      if (taken.length > 0 || size <= bytesMax) return part(taken, start.line, at, lines.length, `${at + 1}`);
      const cut = beginningOf(line, room);
      return part([cut], start.line, at + 1, lines.length, `${at + 1}+${skipped + cut.length}`);
    }
    taken.push(line);
    bytes += size;
  }
  return part(taken, start.line, asked.to, lines.length, undefined);
}

function part(taken: readonly string[], from: number, to: number, total: number, next: string | undefined): TextPart {
  return { text: taken.join(''), from: total === 0 ? 0 : from + 1, to, total, next };
}

/** The longest beginning within a number of bytes, which does not end inside a character. */
function beginningOf(line: string, bytesMax: number): string {
  const { read } = new TextEncoder().encodeInto(line, new Uint8Array(bytesMax));
  return line.slice(0, read);
}

function spanOf(lines: readonly string[], { lines: asked, heading }: TextPartRequest): { from: number; to: number } {
  if (heading !== undefined) {
    if (asked !== undefined) throw invalidField('lines', 'send lines or heading, not both');
    return sectionOf(lines, heading);
  }
  if (asked === undefined) return { from: 0, to: lines.length };
  const found = /^(\d{1,9})(-(\d{1,9})?)?$/.exec(asked.trim());
  const first = Number(found?.[1]);
  const last = found?.[2] === undefined ? first : found[3] === undefined ? lines.length : Number(found[3]);
  if (found === null || first < 1 || (last < first && first <= lines.length)) {
    throw invalidField('lines', `lines ${LINES_FORM}`);
  }
  if (first > lines.length) throw invalidField('lines', `lines begins at ${first}; there are ${lines.length} lines`);
  return { from: first - 1, to: Math.min(last, lines.length) };
}

function readCursor(cursor: string, count: number): { line: number; char: number } {
  const found = /^(\d{1,9})(?:\+(\d{1,9}))?$/.exec(cursor);
  const line = Number(found?.[1]) - 1;
  if (found === null || line < 0 || line >= count) {
    throw invalidField('cursor', 'cursor must come from an earlier answer of this tool; omit it for the beginning');
  }
  return { line, char: Number(found[2] ?? 0) };
}

/** The section with this heading, in any case and with or without its marks. Throws Refusal `invalid_fields` (`field`). */
export function sectionOf(lines: readonly string[], heading: string, field = 'heading'): TextSection {
  const sections = headedSections(lines);
  const wanted = plain(heading);
  const found = sections.filter((one) => plain(one.heading) === wanted);
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  if (only !== undefined) {
    const places = found.map(({ from }) => from + 1).join(', ');
    throw invalidField(
      field,
      `${found.length} headings are ${JSON.stringify(heading)}, at lines ${places}; use lines or old and new`,
    );
  }
  const near = nearest(
    wanted,
    sections.map((one) => plain(one.heading)),
  );
  const guess = sections.find((one) => plain(one.heading) === near);
  const listed = sections.slice(0, 30).map((one) => `${'#'.repeat(one.level)} ${one.heading} (line ${one.from + 1})`);
  const has = listed.length === 0 ? 'it has no headings' : `it has:\n${listed.join('\n')}`;
  const meant = guess === undefined ? '' : `; did you mean ${JSON.stringify(guess.heading)}?`;
  throw invalidField(
    field,
    `no heading ${JSON.stringify(heading)}${meant} ${meant === '' ? '; ' : ''}${has}`.replace(' ; ', '; '),
  );
}

function plain(heading: string): string {
  return heading
    .replace(/^#+\s*/, '')
    .replace(/\s*#*$/, '')
    .trim()
    .toLowerCase();
}

/** The sections of a Markdown text; marks inside fenced code are none. */
export function headedSections(lines: readonly string[]): TextSection[] {
  const heads: { heading: string; level: number; from: number }[] = [];
  let fence: string | undefined;
  lines.forEach((line, from) => {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence === undefined) fence = mark;
    else if (mark !== undefined && mark[0] === fence[0] && mark.length >= fence.length) fence = undefined;
    const found = fence === undefined ? /^ {0,3}(#{1,6})\s+(.*?)\s*$/.exec(line) : null;
    if (found !== null)
      heads.push({ heading: (found[2] ?? '').replace(/\s+#+$/, ''), level: found[1]?.length ?? 1, from });
  });
  return heads.map((head, index) => {
    const end = heads.slice(index + 1).find(({ level }) => level <= head.level)?.from;
    return { ...head, to: end ?? lines.length };
  });
}
