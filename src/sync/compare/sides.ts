/**
 * Owns what a three-way merge of a file comes to when a side may also be binary, or no file at all. Sides are compared by
 * their hashes; only two texts that both changed are merged by lines, and that is somebody else's work. Pure.
 */
import type { Favor } from '../../text/merge.ts';

export interface FileSide {
  readonly kind: 'text' | 'binary';
  /** Lower-case hex, of the bytes. */
  readonly sha256: string;
  /** Of a binary file: in base64. */
  readonly text: string;
}

/** What one side has at a path. */
export type Side = FileSide | { readonly kind: 'nothing' };

export interface ThreeSides {
  /** Undefined: the ancestor is not known. */
  readonly base: Side | undefined;
  readonly ours: Side;
  readonly theirs: Side;
}

export type MergePlan =
  /** The merge is this side, without conflict. */
  | { readonly kind: 'take'; readonly side: Side }
  /** The sides differ and are no two texts: one of them must be chosen. */
  | { readonly kind: 'choose' }
  /** Two texts; without a base the whole is one conflict. */
  | {
      readonly kind: 'lines';
      readonly texts: { readonly base: string | undefined; readonly ours: string; readonly theirs: string };
    };

/** Decides how to merge. */
export function planMerge({ base, ours, theirs }: ThreeSides, favor: Favor): MergePlan {
  if (isSame(ours, theirs)) return { kind: 'take', side: ours };
  if (base !== undefined && isSame(base, theirs)) return { kind: 'take', side: ours };
  if (base !== undefined && isSame(base, ours)) return { kind: 'take', side: theirs };
  if (ours.kind === 'text' && theirs.kind === 'text') {
    // Two files that were made apart have no ancestor, and neither have texts that were made of something binary.
    const ancestor = base?.kind === 'text' ? base.text : undefined;
    return { kind: 'lines', texts: { base: ancestor, ours: ours.text, theirs: theirs.text } };
  }
  if (favor !== 'none') return { kind: 'take', side: favor === 'ours' ? ours : theirs };
  return { kind: 'choose' };
}

function isSame(a: Side, b: Side): boolean {
  if (a.kind === 'nothing' || b.kind === 'nothing') return a.kind === b.kind;
  return a.sha256 === b.sha256;
}
