/**
 * Merges texts three ways: changes of one side and equal changes are merged, contradicting changes are marked. Produces
 * the same result as `git merge-file`, including line ends and a missing final one. Pure.
 */
import { hash } from 'node:crypto';
import { splitLines } from './lines.ts';
import { type MergeRegion, mergeRegions, refineConflicts } from './merge-regions.ts';

/** What to do with a part that both sides changed differently: mark it, or choose one side. */
export type Favor = 'none' | 'ours' | 'theirs';

/** Content of a marked conflict: both sides (`merge`), or also the ancestor (`diff3`). */
export type ConflictStyle = 'merge' | 'diff3';

export interface MergeTexts {
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
}

export interface MergeOptions {
  readonly favor: Favor;
  readonly style: ConflictStyle;
  /** Names of the texts in the markers. */
  readonly labels: MergeTexts;
}

export interface MergedText {
  readonly content: string;
  /** Number of parts marked in the content. */
  readonly conflicts: number;
}

/** A merge as a job. */
export interface MergeInput {
  readonly texts: Omit<MergeTexts, 'base'> & { readonly base: string | undefined };
  readonly options: MergeOptions;
}

export interface MergeOutput extends MergedText {
  /** Lower-case hex. */
  readonly sha256: string;
}

type Lines = readonly string[];

interface Sides {
  /** Undefined when the ancestor is unknown. */
  readonly base: Lines | undefined;
  readonly ours: Lines;
  readonly theirs: Lines;
}

const MARKER_CHARS = 7;

/** Merges the texts and hashes the result. Without `base`, the ancestor is unknown. */
export function runMerge({ texts: { base, ours, theirs }, options }: MergeInput): MergeOutput {
  const merged =
    base === undefined ? mergeWhole({ ours, theirs }, options) : mergeTexts({ base, ours, theirs }, options);
  return { ...merged, sha256: hash('sha256', merged.content) };
}

export function mergeTexts(texts: MergeTexts, options: MergeOptions): MergedText {
  const settled = settle(texts);
  if (settled !== undefined) return settled;
  const [base, ours, theirs] = [splitLines(texts.base), splitLines(texts.ours), splitLines(texts.theirs)];
  const regions = mergeRegions(base, ours, theirs);
  // Conflicts are not split when the ancestor is shown: each must be as large as the part of the ancestor shown in it.
  const shown = options.style === 'diff3' ? regions : refineConflicts(regions, ours, theirs);
  return compose({ base, ours, theirs }, shown, options);
}

/** Merges two texts as a single conflict, without comparing lines: unknown ancestor or texts too large. */
export function mergeWhole(texts: Omit<MergeTexts, 'base'>, options: MergeOptions): MergedText {
  if (texts.ours === texts.theirs) return { content: texts.ours, conflicts: 0 };
  const sides = { base: undefined, ours: firstAndRest(texts.ours), theirs: firstAndRest(texts.theirs) };
  const region: MergeRegion = {
    take: 'conflict',
    base: 0,
    baseCount: 0,
    ours: 0,
    oursCount: sides.ours.length,
    theirs: 0,
    theirsCount: sides.theirs.length,
  };
  return compose(sides, [region], { ...options, style: 'merge' });
}

/**
 * Returns the result if no lines need comparing, because one side changed nothing or both sides are equal. Otherwise
 * undefined.
 */
function settle({ base, ours, theirs }: MergeTexts): MergedText | undefined {
  if (ours === theirs || base === theirs) return { content: ours, conflicts: 0 };
  return base === ours ? { content: theirs, conflicts: 0 } : undefined;
}

/** Splits a text into its first line and the rest, which is all that the markers need. */
function firstAndRest(text: string): Lines {
  const end = text.indexOf('\n') + 1;
  return [text.slice(0, end), text.slice(end)].filter((part) => part !== '');
}

function compose(sides: Sides, regions: readonly MergeRegion[], { favor, style, labels }: MergeOptions): MergedText {
  const parts: string[] = [];
  let conflicts = 0;
  let at = 0;
  for (const region of regions) {
    parts.push(...sides.ours.slice(at, region.ours));
    const take = region.take === 'conflict' && favor !== 'none' ? favor : region.take;
    if (take === 'conflict') {
      conflicts += 1;
      parts.push(...markConflict(sides, region, style, labels));
    } else parts.push(...partOf(sides, region, take));
    at = region.ours + region.oursCount;
  }
  parts.push(...sides.ours.slice(at));
  return { content: parts.join(''), conflicts };
}

function partOf(sides: Sides, region: MergeRegion, side: keyof MergeTexts): Lines {
  return sides[side]?.slice(region[side], region[side] + region[`${side}Count`]) ?? [];
}

/** Returns a region between markers. Each marker line ends like the lines around it. */
function markConflict(sides: Sides, region: MergeRegion, style: ConflictStyle, labels: MergeTexts): string[] {
  const lineEnd = isCrlf(sides, region) ? '\r\n' : '\n';
  const marker = (char: string, label: string) => `${char.repeat(MARKER_CHARS)}${label && ` ${label}`}${lineEnd}`;
  const part = (side: keyof MergeTexts) => ended(partOf(sides, region, side), lineEnd);
  return [
    marker('<', labels.ours),
    ...part('ours'),
    ...(style === 'diff3' ? [marker('|', labels.base), ...part('base')] : []),
    marker('=', ''),
    ...part('theirs'),
    marker('>', labels.theirs),
  ];
}

function ended(lines: Lines, lineEnd: string): Lines {
  const last = lines.at(-1);
  return last === undefined || last.endsWith('\n') ? lines : [...lines.slice(0, -1), last + lineEnd];
}

/**
 * True when markers end in CRLF, as measured on `git merge-file`. They end in LF if the line before the conflict does
 * so on either side. Otherwise the first line of the ancestor decides; without an ancestor, the two sides do.
 */
function isCrlf({ base, ours, theirs }: Sides, region: MergeRegion): boolean {
  const beforeConflict = [lineEndAt(ours, region.ours - 1), lineEndAt(theirs, region.theirs - 1)];
  if (beforeConflict.includes('\n')) return false;
  return (base === undefined ? beforeConflict : [lineEndAt(base, 0)]).includes('\r\n');
}

/**
 * Returns the line end at `place`. Uses the first line if `place` is negative, and the previous line if the last one is
 * unterminated.
 */
function lineEndAt(lines: Lines, place: number): '\n' | '\r\n' | undefined {
  const at = Math.max(place, 0);
  const line = [lines[at], lines[at - 1]].find((one) => one?.endsWith('\n'));
  if (line === undefined) return undefined;
  return line.endsWith('\r\n') ? '\r\n' : '\n';
}
