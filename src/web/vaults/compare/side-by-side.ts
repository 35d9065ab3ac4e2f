/** Converts a unified diff to two columns: pairs up changed lines, and reports whether rows were cut off. Pure. */

export interface DiffCell {
  /** Counted from 1. */
  readonly line: number;
  readonly text: string;
}

export interface DiffRow {
  readonly kind: 'same' | 'changed';
  /** Undefined: this side has no such line. */
  readonly left: DiffCell | undefined;
  readonly right: DiffCell | undefined;
}

interface DiffHunk {
  readonly rows: readonly DiffRow[];
}

export interface SideBySide {
  readonly hunks: readonly DiffHunk[];
  /** True when rows were cut off. */
  readonly isCut: boolean;
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/** Line numbers of the next lines in a hunk, and changed lines not yet paired. */
interface Reading {
  left: number;
  right: number;
  removed: DiffCell[];
  added: DiffCell[];
  rows: DiffRow[];
}

/** Converts a unified diff (in the format of `git diff`) to at most `rowsMax` rows. */
export function sideBySide(diff: string, rowsMax: number): SideBySide {
  const hunks: DiffHunk[] = [];
  let rows = 0;
  let reading: Reading | undefined;
  const close = () => {
    if (reading === undefined) return;
    flush(reading);
    rows += reading.rows.length;
    hunks.push({ rows: reading.rows });
    reading = undefined;
  };
  // The diff ends with a newline, so the last element is empty.
  for (const line of diff.split('\n').slice(0, -1)) {
    const head = HUNK.exec(line);
    if (head !== null) {
      close();
      if (rows >= rowsMax) return { hunks, isCut: true };
      reading = { left: start(head[1], head[2]), right: start(head[3], head[4]), removed: [], added: [], rows: [] };
    } else if (reading !== undefined) {
      if (rows + reading.rows.length + reading.removed.length + reading.added.length >= rowsMax) {
        close();
        return { hunks, isCut: true };
      }
      take(reading, line);
    }
  }
  close();
  return { hunks, isCut: false };
}

/** Number of lines added and removed by a unified diff. */
export function changesIn(diff: string): { readonly added: number; readonly removed: number } {
  const lines = diff.slice(diff.search(/^@@ /m)).split('\n');
  return {
    added: lines.filter((line) => line.startsWith('+')).length,
    removed: lines.filter((line) => line.startsWith('-')).length,
  };
}

/** The start of an empty range is the line before it. */
function start(line: string | undefined, count: string | undefined): number {
  return Number(line) + (count === '0' ? 1 : 0);
}

function take(reading: Reading, line: string): void {
  const text = line.slice(1);
  if (line.startsWith('-')) {
    // Removed lines after added ones belong to the next change.
    if (reading.added.length > 0) flush(reading);
    reading.removed.push({ line: reading.left, text });
    reading.left += 1;
  } else if (line.startsWith('+')) {
    reading.added.push({ line: reading.right, text });
    reading.right += 1;
  } else if (line.startsWith(' ')) {
    flush(reading);
    reading.rows.push({ kind: 'same', left: { line: reading.left, text }, right: { line: reading.right, text } });
    reading.left += 1;
    reading.right += 1;
  }
}

/** Pairs the removed with the added lines, in order. */
function flush(reading: Reading): void {
  const { removed, added, rows } = reading;
  for (let at = 0; at < Math.max(removed.length, added.length); at += 1) {
    rows.push({ kind: 'changed', left: removed[at], right: added[at] });
  }
  reading.removed = [];
  reading.added = [];
}
