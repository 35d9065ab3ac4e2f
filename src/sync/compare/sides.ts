/**
 * Plans the three-way merge of a file when a side may also be binary or missing. Sides are compared by their hashes.
 * Only two texts that both changed need a merge by lines, which the caller runs. Pure.
 */
import type { Favor } from '../../text/merge.ts';

export type FileSide =
  | {
      readonly kind: 'text' | 'binary';
      /** SHA-256 of the bytes, in lower-case hex. */
      readonly sha256: string;
      /** Base64 for a binary file. */
      readonly text: string;
    }
  /** A file in chunks: its bytes are not compared. */
  | { readonly kind: 'large'; readonly sha256: string };

/** One side of a path: a file, or nothing. */
export type Side = FileSide | { readonly kind: 'nothing' };

export interface ThreeSides {
  /** Undefined when the ancestor is unknown. */
  readonly base: Side | undefined;
  readonly ours: Side;
  readonly theirs: Side;
}

export type MergePlan =
  /** The result is this side, without a conflict. */
  | { readonly kind: 'take'; readonly side: Side }
  /** The sides differ and are not two texts: one must be chosen. */
  | { readonly kind: 'choose' }
  /** Two texts to merge by lines. Without a base, both whole texts become one conflict. */
  | {
      readonly kind: 'lines';
      readonly texts: { readonly base: string | undefined; readonly ours: string; readonly theirs: string };
    };

/** Decides how to merge. `favor` picks a side where one would have to be chosen. */
export function planMerge({ base, ours, theirs }: ThreeSides, favor: Favor): MergePlan {
  if (isSame(ours, theirs)) return { kind: 'take', side: ours };
  if (base !== undefined && isSame(base, theirs)) return { kind: 'take', side: ours };
  if (base !== undefined && isSame(base, ours)) return { kind: 'take', side: theirs };
  if (ours.kind === 'text' && theirs.kind === 'text') {
    // Files created independently have no ancestor, and neither have texts with a binary ancestor.
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
