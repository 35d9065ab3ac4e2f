/**
 * Owns a three-way merge of texts: what the sides changed alike or apart is merged, what they changed differently is
 * marked. Gives what `git merge-file` gives, line ends and a missing last one included. Pure.
 */
import { hash } from 'node:crypto';
import type { MergeInput, MergeOutput } from './job-types.ts';
import { splitLines } from './lines.ts';
import { type MergeRegion, mergeRegions, refineConflicts } from './merge-regions.ts';

/** What becomes of a part that both sides changed differently: marked, or settled for one side. */
export type Favor = 'none' | 'ours' | 'theirs';

/** How a conflict is shown: its two sides, or also what the ancestor had. */
export type ConflictStyle = 'merge' | 'diff3';

export interface MergeTexts {
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
}

export interface MergeOptions {
  readonly favor: Favor;
  readonly style: ConflictStyle;
  /** What the markers call the texts. */
  readonly labels: MergeTexts;
}

export interface MergedText {
  readonly content: string;
  /** Parts that are marked in the content. */
  readonly conflicts: number;
}

type Lines = readonly string[];

interface Sides {
  /** Undefined: there is no known ancestor. */
  readonly base: Lines | undefined;
  readonly ours: Lines;
  readonly theirs: Lines;
}

const MARKER_CHARS = 7;

/** Merges, and hashes what comes of it; without a base the ancestor is not known. */
export function runMerge({ texts: { base, ours, theirs }, options }: MergeInput): MergeOutput {
  const merged =
    base === undefined ? mergeWhole({ ours, theirs }, options) : mergeTexts({ base, ours, theirs }, options);
  return { ...merged, sha256: hash('sha256', merged.content) };
}

/** Merges what `ours` and `theirs` made of `base`. */
export function mergeTexts(texts: MergeTexts, options: MergeOptions): MergedText {
  const settled = settle(texts);
  if (settled !== undefined) return settled;
  const [base, ours, theirs] = [splitLines(texts.base), splitLines(texts.ours), splitLines(texts.theirs)];
  const regions = mergeRegions(base, ours, theirs);
  // Where the ancestor is shown, a conflict stays as large as what it shows.
  const shown = options.style === 'diff3' ? regions : refineConflicts(regions, ours, theirs);
  return compose({ base, ours, theirs }, shown, options);
}

/** Two texts that are not compared by lines, for want of an ancestor or for their size: the whole is one conflict. */
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

/** The merge that needs no look at lines: a side that changed nothing, or sides that are equal. */
function settle({ base, ours, theirs }: MergeTexts): MergedText | undefined {
  if (ours === theirs || base === theirs) return { content: ours, conflicts: 0 };
  return base === ours ? { content: theirs, conflicts: 0 } : undefined;
}

/** The first line and the rest: as much as markers need to know of a text. */
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

/** A region with its markers, each on a line that ends as the lines around it do. */
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
 * Whether markers end in CRLF, as measured on `git merge-file`: unless the line before the conflict ends in LF on either
 * side, the first line of the ancestor decides. Without an ancestor the sides do.
 */
function isCrlf({ base, ours, theirs }: Sides, region: MergeRegion): boolean {
  const beforeConflict = [lineEndAt(ours, region.ours - 1), lineEndAt(theirs, region.theirs - 1)];
  if (beforeConflict.includes('\n')) return false;
  return (base === undefined ? beforeConflict : [lineEndAt(base, 0)]).includes('\r\n');
}

/** How the line at a place ends, or the nearest one if there is none: the first line, or the one before an unended last one. */
function lineEndAt(lines: Lines, place: number): '\n' | '\r\n' | undefined {
  const at = Math.max(place, 0);
  const line = [lines[at], lines[at - 1]].find((one) => one?.endsWith('\n'));
  if (line === undefined) return undefined;
  return line.endsWith('\r\n') ? '\r\n' : '\n';
}
