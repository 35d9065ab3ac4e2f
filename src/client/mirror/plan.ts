/** Decides what a push uploads, and how it is split. Pure. */
import { limits } from '../../limits/service.ts';
import type { MirrorBlob } from './hub.ts';

export interface BackupState {
  /** The archives of this repository, newest first. */
  readonly blobs: readonly MirrorBlob[];
  /** The newest complete archive of the repository; undefined: none, or it cannot be read. */
  readonly newest: MirrorBlob | undefined;
  /** Whether it is encrypted for the same recipients; undefined: unknown. */
  readonly hasSameKey: boolean | undefined;
  /** Whether it was made with the choices that an increment must share. */
  readonly hasSameChoices: boolean;
  /** Whether it has the same refs and choices. */
  readonly isSame: boolean;
  /** Whether an increment can be built: the refs of the newest archive are known, or its commits exist here. */
  readonly isKnown: boolean;
  readonly isForced: boolean;
}

export type BackupPlan =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'full'; readonly reason: FullReason }
  | { readonly kind: 'increment'; readonly base: MirrorBlob; readonly chain: readonly MirrorBlob[] };

export type FullReason =
  | 'first'
  | 'forced'
  | 'other recipients'
  | 'incomplete chain'
  | 'other choices'
  | 'unknown base'
  | 'long chain';

/** A backup is an increment on the newest one, until the chain is long or its increments outweigh its beginning. */
export function planBackup(state: BackupState): BackupPlan {
  const { blobs, newest, hasSameKey, hasSameChoices, isSame, isKnown, isForced } = state;
  if (isForced) return { kind: 'full', reason: 'forced' };
  if (newest === undefined) return { kind: 'full', reason: blobs.length === 0 ? 'first' : 'incomplete chain' };
  const chain = chainOf(blobs, newest);
  if (hasSameKey === false) return { kind: 'full', reason: 'other recipients' };
  if (chain === undefined) return { kind: 'full', reason: 'incomplete chain' };
  if (isSame) return { kind: 'nothing' };
  if (!hasSameChoices) return { kind: 'full', reason: 'other choices' };
  if (hasSameKey === undefined || !isKnown) return { kind: 'full', reason: 'unknown base' };
  return isLong(chain) ? { kind: 'full', reason: 'long chain' } : { kind: 'increment', base: newest, chain };
}

/** The archives that a restore of `newest` needs, oldest first; undefined when one is missing or damaged. */
export function chainOf(blobs: readonly MirrorBlob[], newest: MirrorBlob): readonly MirrorBlob[] | undefined {
  const known = new Map(blobs.map((blob) => [blob.sha256, blob]));
  const chain: MirrorBlob[] = [];
  const seen = new Set<string>();
  for (let one: MirrorBlob | undefined = newest; ; one = known.get(one.base_sha256 ?? '')) {
    if (one === undefined || one.quarantined === true || seen.has(one.sha256)) return undefined;
    seen.add(one.sha256);
    chain.unshift(one);
    if (one.base_sha256 == null) return chain;
  }
}

function isLong(chain: readonly MirrorBlob[]): boolean {
  // The parts of one upload have the same commit and follow each other.
  const first = chain.findIndex(({ commit_sha }) => commit_sha !== chain[0]?.commit_sha);
  const full = first < 0 ? chain : chain.slice(0, first);
  const rest = first < 0 ? [] : chain.slice(first);
  const sum = (blobs: readonly MirrorBlob[]) => blobs.reduce((total, { byte_size }) => total + byte_size, 0);
  return rest.length >= limits.backupIncrementsMax || sum(rest) > Math.max(sum(full), limits.backupIncrementBytesMin);
}

export interface Piece {
  readonly name: string;
  readonly offset: number;
  readonly size: number;
  /** From 1; undefined: the whole member. */
  readonly number: number | undefined;
}

/** Splits members over parts of at most `bytesMax` content; at least one part. Members keep their order. */
export function planParts(
  members: readonly { readonly name: string; readonly size: number }[],
  bytesMax: number,
): readonly (readonly Piece[])[] {
  const parts: Piece[][] = [[]];
  let room = bytesMax;
  for (const { name, size } of members) {
    let offset = 0;
    let number = 0;
    do {
      if (room === 0) {
        parts.push([]);
        room = bytesMax;
      }
      const taken = Math.min(room, size - offset);
      number += 1;
      parts.at(-1)?.push({ name, offset, size: taken, number: taken === size ? undefined : number });
      offset += taken;
      room -= taken;
    } while (offset < size);
  }
  return parts;
}
