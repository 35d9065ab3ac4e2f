/** Decides what a text is after an edit; an edit that does not match says what is there now. Pure. */
import { invalidField } from '../../common/fault.ts';
import { oneLine } from '../../gateway/words.ts';
import { splitLines } from '../../text/lines.ts';
import { headedSections, sectionOf } from './portion.ts';

interface Replacement {
  readonly old?: string | undefined;
  readonly new?: string | undefined;
  readonly all?: boolean | undefined;
}

export interface EditRequest extends Replacement {
  /** Several replacements, one after another: all of them, or none. */
  readonly edits?: readonly Replacement[] | undefined;
  readonly section?: string | undefined;
  readonly text?: string | undefined;
  readonly append?: string | undefined;
}

export interface EditedText {
  readonly text: string;
  /** Places that were changed. */
  readonly changes: number;
  /** First changed line, from 1. */
  readonly line: number;
  /** What that line is now, where a part of a text was replaced. */
  readonly now?: string;
  /** Headings below a section that went with its body. */
  readonly gone?: readonly string[];
}

/** Throws Refusal `invalid_fields` when the edit does not match the text, with the nearest place of it. */
export function applyEdit(text: string, edit: EditRequest): EditedText {
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const native = (given: string) => (newline === '\n' ? given : given.replace(/\r?\n/g, '\r\n'));
  const isPart = edit.section !== undefined || edit.append !== undefined || edit.text !== undefined;
  if (edit.edits !== undefined) {
    if (isPart || edit.old !== undefined || edit.new !== undefined) throw oneWay();
    return inTurn(text, edit.edits, native);
  }
  if (edit.old !== undefined) {
    if (isPart) throw oneWay();
    return shown(replaced(text, edit, native));
  }
  if (edit.new !== undefined) throw invalidField('old', 'old is required with new: the exact text to replace');
  const isInSection = edit.section !== undefined;
  if (edit.append === '' || (isInSection && edit.append?.trim() === ''))
    throw invalidField('append', 'append must not be empty: send the text to add');
  if (edit.section !== undefined) {
    if ((edit.text === undefined) === (edit.append === undefined)) {
      throw invalidField('text', 'section needs either text (its new body) or append (added at its end)');
    }
    return inSection(text, edit.section, newline, {
      body: edit.text === undefined ? undefined : native(edit.text),
      more: edit.append === undefined ? undefined : native(edit.append),
    });
  }
  if (edit.append === undefined) throw oneWay();
  const before = text === '' || text.endsWith('\n') ? text : text + newline;
  return { text: ended(before + native(edit.append), newline), changes: 1, line: splitLines(before).length + 1 };
}

function oneWay() {
  return invalidField('old', 'send one of: old and new; edits; section and text; section and append; append');
}

function ended(text: string, newline: string): string {
  return text === '' || text.endsWith('\n') ? text : text + newline;
}

/** Several replacements, each made in what the one before left. Throws Refusal with the number of the first that fails. */
function inTurn(text: string, edits: readonly Replacement[], native: (given: string) => string): EditedText {
  let made: EditedText = { text, changes: 0, line: Number.MAX_SAFE_INTEGER };
  for (const [index, edit] of edits.entries()) {
    const from = `edits[${index}]`;
    const next = replaced(made.text, edit, native, (message) =>
      invalidField(from, `${from}: ${message}; none of them was made`),
    );
    made = { text: next.text, changes: made.changes + next.changes, line: Math.min(made.line, next.line) };
  }
  return shown(made);
}

/** Adds the first changed line as it is now: the caller need not read it again. */
function shown(made: EditedText): EditedText {
  const line = splitLines(made.text)[made.line - 1]?.trim() ?? '';
  return { ...made, now: oneLine(line, SHOWN_CHARS) };
}

const SHOWN_CHARS = 160;

function replaced(
  text: string,
  edit: Replacement,
  native: (given: string) => string,
  refusal = (message: string, field = 'old') => invalidField(field, message),
): EditedText {
  if (edit.old === undefined) throw refusal('old is required: the exact text to replace');
  if (edit.new === undefined) throw refusal('new is required with old; an empty one deletes the text', 'new');
  const [old, fresh, all] = [native(edit.old), native(edit.new), edit.all === true];
  if (old === '') throw refusal('old must not be empty; append adds text, write replaces all of it');
  const places: number[] = [];
  for (let at = text.indexOf(old); at >= 0; at = text.indexOf(old, at + old.length)) places.push(at);
  const [first] = places;
  if (first === undefined) throw refusal(unmatched(text, old));
  if (places.length > 1 && !all) {
    const lines = places.slice(0, 20).map((at) => lineAt(text, at));
    throw refusal(
      `old is there ${places.length} times, at lines ${lines.join(', ')}; send more of the text around it, or all: true`,
    );
  }
  return { text: text.split(old).join(fresh), changes: places.length, line: lineAt(text, first) };
}

function inSection(
  text: string,
  heading: string,
  newline: string,
  { body, more }: { readonly body: string | undefined; readonly more: string | undefined },
): EditedText {
  const lines = splitLines(text);
  const section = sectionOf(lines, heading, 'section');
  const before = ended(lines.slice(0, section.from + 1).join(''), newline);
  const inside = lines.slice(section.from + 1, section.to).join('');
  const after = lines.slice(section.to).join('');
  const isBare = inside.trim() === '';
  // Blank lines around the body stay as they are.
  const lead = isBare ? newline : (/^(?:[ \t]*\r?\n)+/.exec(inside)?.[0] ?? '');
  const tail = after === '' ? '' : isBare ? newline : (/(?<=\n)(?:[ \t]*\r?\n)+$/.exec(inside)?.[0] ?? '');
  const kept = isBare ? '' : ended(trimLines(inside), newline);
  const made = body === undefined ? kept + trimLines(more ?? '') : trimLines(withoutHeading(body, heading));
  const whole = made === '' ? before + tail : before + lead + ended(made, newline) + tail;
  const edited = { text: whole + after, changes: 1, line: section.from + 1 };
  const gone = body === undefined ? [] : headingsWithout(lines.slice(section.from + 1, section.to), splitLines(body));
  return gone.length === 0 ? edited : { ...edited, gone };
}

/** Headings that other lines do not have. */
function headingsWithout(lines: readonly string[], others: readonly string[]): string[] {
  const kept = new Set(headedSections(others).map(({ heading }) => heading));
  return headedSections(lines).flatMap(({ heading, level }) =>
    kept.has(heading) ? [] : [`${'#'.repeat(level)} ${heading}`],
  );
}

/** Without blank lines at either end. */
function trimLines(text: string): string {
  return text.replace(/^(?:[ \t]*\r?\n)+/, '').trimEnd();
}

/** A body that repeats its heading is taken without it. */
function withoutHeading(body: string, heading: string): string {
  const [first = '', ...rest] = splitLines(body);
  const name = heading
    .replace(/^#+\s*/, '')
    .trim()
    .toLowerCase();
  const isHeading =
    /^#{1,6}\s/.test(first) &&
    first
      .replace(/^#+\s*/, '')
      .trim()
      .toLowerCase() === name;
  return isHeading ? rest.join('') : body;
}

function lineAt(text: string, at: number): number {
  let line = 1;
  for (let feed = text.indexOf('\n'); feed >= 0 && feed < at; feed = text.indexOf('\n', feed + 1)) line += 1;
  return line;
}

/** Lines of a text compared with a text that was not found, at most. */
const COMPARED_LINES_MAX = 50_000;
const SHOWN_LINES_MAX = 12;
/** Lines compared by characters, and characters of each. */
const LIKENED_LINES_MAX = 5000;
const LIKENED_CHARS_MAX = 200;

/** The sentence for a text that was not found: the place that is most like it, with numbers of lines. */
function unmatched(text: string, old: string): string {
  const place = nearestPlace(splitLines(text), splitLines(old));
  if (place === undefined) return 'old is not in the text, and nothing is like it; read it again';
  const { from, lines } = place;
  const shown = lines
    .slice(0, SHOWN_LINES_MAX)
    .map((line, index) => `${from + index + 1}: ${line.replace(/\r?\n$/, '')}`);
  return `old is not in the text; the nearest place now has:\n${shown.join('\n')}`;
}

/** Where most of the wanted lines stand in order, counted by equal lines, then by words in common. */
function nearestPlace(lines: readonly string[], wanted: readonly string[]) {
  const words = wanted.map(wordsOf);
  const all = words.reduce((sum, one) => sum + one.size, 0);
  if (all === 0) return undefined;
  let best = { from: 0, score: 0 };
  const has = lines.slice(0, COMPARED_LINES_MAX).map(wordsOf);
  const compared = Math.min(wanted.length, SHOWN_LINES_MAX);
  for (let from = 0; from < has.length; from += 1) {
    let score = 0;
    for (let index = 0; index < compared; index += 1) {
      const [here, there] = [has[from + index], words[index]];
      if (here === undefined || there === undefined) continue;
      let common = 0;
      for (const word of there) if (here.has(word)) common += 1;
      const isEqual = common > 0 && (lines[from + index] ?? '').trim() === (wanted[index] ?? '').trim();
      score += common + (isEqual ? 2 : 0);
    }
    if (score > best.score) best = { from, score };
  }
  if (best.score === 0) best = likeliestLine(lines, wanted);
  if (best.score === 0) return undefined;
  return { from: best.from, lines: lines.slice(best.from, best.from + Math.max(wanted.length, 1)) };
}

/** The line with most pairs of characters in common with the first wanted one: a word that was mistyped. */
function likeliestLine(lines: readonly string[], wanted: readonly string[]): { from: number; score: number } {
  const pairs = pairsOf(wanted.find((line) => line.trim() !== '') ?? '');
  let best = { from: 0, score: 0 };
  for (const [from, line] of lines.slice(0, LIKENED_LINES_MAX).entries()) {
    let common = 0;
    for (const pair of pairsOf(line)) if (pairs.has(pair)) common += 1;
    if (common * 2 >= pairs.size && common > best.score) best = { from, score: common };
  }
  return best;
}

function pairsOf(line: string): Set<string> {
  const flat = line.toLowerCase().trim().slice(0, LIKENED_CHARS_MAX);
  return new Set(Array.from({ length: Math.max(0, flat.length - 1) }, (_, at) => flat.slice(at, at + 2)));
}

function wordsOf(line: string): Set<string> {
  return new Set(line.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []);
}
