/**
 * Decides when so much of a folder was deleted or rewritten within a short time that a person has to confirm the rest: a slow
 * `rm -rf`, a program that encrypts files, a failing disk. On the device that sends as well as on the one that receives. Pure.
 */
import { limits } from '../../../limits/service.ts';
import type { RecentChange } from '../base/recent.ts';

/** What happened to the files that were there when the window began. Each file counts once. */
export interface Window {
  /** Files at its beginning. */
  readonly files: number;
  readonly deleted: number;
  readonly rewritten: number;
}

/** Kinds of changes that need no confirmation, whatever their number. */
export interface Allows {
  readonly allowDeletes: boolean;
  readonly allowRewrites: boolean;
}

/** The window of one direction. `files`: how many both sides agree on now. */
export function windowOf(recent: Iterable<RecentChange>, way: RecentChange['way'], files: number): Window {
  const window = { files, deleted: 0, rewritten: 0 };
  for (const one of recent) {
    if (one.what === 'created') window.files -= 1;
    else if (one.what === 'deleted') window.files += 1;
    if (one.way === way && one.what !== 'created') window[one.what] += 1;
  }
  return window;
}

/** Which kinds of further changes have to wait: with them, more than half of the files would be deleted or rewritten. */
export function heldKinds(
  { files, deleted, rewritten }: Window,
  more: Pick<Window, 'deleted' | 'rewritten'>,
  { allowDeletes, allowRewrites }: Allows,
): Record<'deletes' | 'rewrites', boolean> {
  const changes = (allowDeletes ? 0 : deleted + more.deleted) + (allowRewrites ? 0 : rewritten + more.rewritten);
  const isMuch = changes >= limits.clientGuardFilesMin && changes * 2 > files;
  return { deletes: isMuch && !allowDeletes, rewrites: isMuch && !allowRewrites };
}

/** True when a change is too old to count. A clock that was set back makes none older. */
export function isOver({ atMs }: Pick<RecentChange, 'atMs'>, nowMs: number): boolean {
  return nowMs - atMs > limits.clientGuardMs;
}
