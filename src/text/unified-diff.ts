/** Writes a difference in the unified format, which `git diff` writes and `patch` reads. Pure. */
import { diffLines, type LineChange } from './line-diff.ts';
import { splitLines } from './lines.ts';

export interface DiffRequest {
  readonly before: string;
  readonly after: string;
  /** Names of the texts in the header. */
  readonly beforeName: string;
  readonly afterName: string;
  readonly contextLines: number;
}

type Lines = readonly string[];

/** Returns the difference as a unified diff, or an empty string when there is none. */
export function unifiedDiff({ before, after, beforeName, afterName, contextLines }: DiffRequest): string {
  if (before === after) return '';
  const [left, right] = [splitLines(before), splitLines(after)];
  const hunks = groupChanges(diffLines(left, right), contextLines).map((group) =>
    hunk(left, right, group, contextLines),
  );
  return [`--- ${beforeName}\n+++ ${afterName}\n`, ...hunks.flat()].join('');
}

/** Groups changes into hunks. Changes whose context would touch share a hunk. */
function groupChanges(changes: readonly LineChange[], contextLines: number): LineChange[][] {
  const groups: LineChange[][] = [];
  let end = Number.NEGATIVE_INFINITY;
  for (const change of changes) {
    const isNear = change.left - end <= 2 * contextLines;
    if (isNear) groups.at(-1)?.push(change);
    else groups.push([change]);
    end = change.left + change.leftCount;
  }
  return groups;
}

function hunk(left: Lines, right: Lines, group: readonly LineChange[], contextLines: number): string[] {
  const [first, last] = [group[0], group.at(-1)];
  if (first === undefined || last === undefined) throw new Error('a hunk has no change');
  const above = Math.min(first.left, contextLines);
  const below = Math.min(left.length - last.left - last.leftCount, contextLines);
  const [leftStart, rightStart] = [first.left - above, first.right - above];
  const leftRange = range(leftStart, last.left + last.leftCount + below - leftStart);
  const rightRange = range(rightStart, last.right + last.rightCount + below - rightStart);
  const parts = [`@@ -${leftRange} +${rightRange} @@\n`];
  let at = leftStart;
  for (const { left: from, leftCount, right: to, rightCount } of group) {
    write(parts, ' ', left, at, from);
    write(parts, '-', left, from, from + leftCount);
    write(parts, '+', right, to, to + rightCount);
    at = from + leftCount;
  }
  write(parts, ' ', left, at, at + below);
  return parts;
}

/** Formats a range of lines, counted from 1. An empty range names the line before it. */
function range(start: number, count: number): string {
  if (count === 1) return String(start + 1);
  return `${count === 0 ? start : start + 1},${count}`;
}

function write(parts: string[], sign: ' ' | '-' | '+', lines: Lines, from: number, to: number): void {
  for (let at = from; at < to; at += 1) {
    const line = lines[at] ?? '';
    parts.push(sign, line.endsWith('\n') ? line : `${line}\n\\ No newline at end of file\n`);
  }
}
