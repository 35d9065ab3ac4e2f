/**
 * Checks which paths a vault accepts, and decides when two of them are the same. Repairs only the Unicode form (NFC): a
 * path that could mislead or leave a folder is rejected, with a sentence on what is wrong. What only Windows cannot hold is
 * accepted, and left out there. Pure.
 */
import { invalidField } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import { foldCase } from '../../text/fold-case.ts';
import { compileGlob, type Glob, matchesGlob } from './glob.ts';

/** A checked path. */
export interface VaultPath {
  /** As shown, in NFC. */
  readonly path: string;
  /** As compared: equal for paths that differ only in case or Unicode form. */
  readonly folded: string;
}

/** Protected in any folder, unless the vault has its own list. */
const DEFAULT_PROTECTED: readonly string[] = [
  'CLAUDE.md',
  'AGENTS.md',
  'GEMINI.md',
  '.cursorrules',
  '.cursor/**',
  '.claude/**',
  '.codex/**',
  '.mcp.json',
  '.github/**',
  '.vscode/**',
];

/** Control and format characters (including bidi and zero-width), line separators, blank letters, noncharacters. */
const HIDDEN =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}]|\p{Default_Ignorable_Code_Point}(?<!\p{Variation_Selector})/u;
/**
 * Letters of scripts whose spelling needs joiners: Arabic (Persian, Urdu …), Syriac, and those of India and Sri Lanka.
 */
const WORD =
  '[\\p{scx=Arab}\\p{scx=Syrc}\\p{scx=Deva}\\p{scx=Beng}\\p{scx=Guru}\\p{scx=Gujr}\\p{scx=Orya}\\p{scx=Taml}\\p{scx=Telu}\\p{scx=Knda}\\p{scx=Mlym}\\p{scx=Sinh}]';
/**
 * Zero-width joiners with a meaning: within a word of these scripts (RFC 5892, appendix A), or between parts of one
 * emoji (UTS 51).
 */
const JOINED = new RegExp(
  `(?<=${WORD})[\\u200c\\u200d](?=${WORD})|(?<=\\p{ExtPict}[\\ufe0f\\u{1f3fb}-\\u{1f3ff}]?)\\u200d(?=\\p{ExtPict})`,
  'gu',
);
/** Sorts after every path: a noncharacter, which no path contains. */
export const AFTER_PATHS = '\u{10ffff}';
/** Longest path repeated in an error. */
const SHOWN_CHARS_MAX = 200;
const PLAIN = /^[A-Za-z0-9_./ -]+$/;
/** Also with an ending that Windows drops, and as a stream of that folder (CVE-2019-1352). */
const GIT = /^(\.git|git~\d+)[. ]*(:.*)?$/;

/** Checks a path sent by a client. Throws Refusal `invalid_fields` when it is invalid. */
export function checkPath(given: string, field = 'path'): VaultPath {
  const refuse = (why: string) => invalidField(field, `${field} ${why}`);
  if (given === '') throw refuse('must not be empty');
  // Fast path: most paths contain only these characters.
  const isPlain = PLAIN.test(given);
  if (!isPlain && !given.isWellFormed()) throw refuse('contains half of a surrogate pair; send well-formed Unicode');
  const path = isPlain ? given : given.normalize('NFC');
  const folded = foldCase(path);
  // The folded form is the key, and folding makes a few letters longer.
  if (Math.max(Buffer.byteLength(path), Buffer.byteLength(folded)) > limits.pathBytesMax) {
    throw refuse(`is longer than ${limits.pathBytesMax} bytes in UTF-8, case folded or not; shorten it`);
  }
  if (path.startsWith('/')) {
    throw refuse(`is absolute; send it relative to the vault, without a leading /${meant(path)}`);
  }
  const wrong = (isPlain ? undefined : wrongLetter(path)) ?? firstWrong(path.split('/'));
  if (wrong !== undefined) throw refuse(wrong + meant(path));
  return { path, folded };
}

/** Checks the beginning of paths, which may be empty and may end anywhere. Throws Refusal `invalid_fields`. */
export function checkPrefix(given: string): string {
  if (/^\.?\/|^\.$/.test(given)) {
    const rest = given.replace(/^\.?\/*/, '');
    const fix = rest === '' ? 'omit it for all files' : `send it relative to the vault${meant(given)}`;
    throw invalidField('prefix', `prefix never matches; ${fix}`);
  }
  return given;
}

/** Suggests a valid path with the same names, when only separators and dots are wrong. */
function meant(path: string): string {
  const plain = path
    .replaceAll('\\', '/')
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/');
  if (plain === '' || path.length > SHOWN_CHARS_MAX) return '';
  return (wrongLetter(plain) ?? firstWrong(plain.split('/'))) === undefined ? `: ${plain}` : '';
}

/** True for text with control, bidi or zero-width characters, joiners within words and emoji excepted. */
export function hasHiddenLetter(text: string): boolean {
  return HIDDEN.test(text.replace(JOINED, ''));
}

function wrongLetter(path: string): string | undefined {
  if (path.includes('\\')) return 'contains a backslash; separate folders with /';
  return hasHiddenLetter(path) ? 'contains a control, bidi or zero-width character; remove it' : undefined;
}

function firstWrong(parts: readonly string[]): string | undefined {
  for (const part of parts) {
    const wrong = wrongPart(part, foldCase(part.normalize('NFKC')));
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

/**
 * Returns what is wrong with one part of a path; undefined when it is valid. `compared`: in the form in which other systems may read it.
 */
function wrongPart(part: string, compared: string): string | undefined {
  if (part === '') return 'has an empty part; write each / once and none at the end';
  if (Buffer.byteLength(part) > limits.pathPartBytesMax) {
    return `has a part longer than ${limits.pathPartBytesMax} bytes in UTF-8; shorten it`;
  }
  if (/^[. ]+$/.test(part)) return 'has a part of dots or spaces only, such as . or ..; send the plain path';
  return GIT.test(compared) ? 'goes through .git, which belongs to git; leave it out' : undefined;
}

/** The folded paths of the folders containing a path, the nearest first. */
export function foldersOf(folded: string): string[] {
  const found: string[] = [];
  for (let at = folded.lastIndexOf('/'); at > 0; at = folded.lastIndexOf('/', at - 1)) found.push(folded.slice(0, at));
  return found;
}

const defaultGlobs = DEFAULT_PROTECTED.map(compileGlob);

/** Returns a check of folded paths against a list of globs; null: the default list. */
export function protectedCheck(globs: readonly string[] | null): (folded: string) => boolean {
  const compiled: readonly Glob[] = globs === null ? defaultGlobs : globs.map(compileGlob);
  return (folded) => compiled.some((glob) => matchesGlob(glob, folded));
}
