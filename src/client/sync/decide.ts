/**
 * Decides what becomes of a path from three hashes: what is here, what the hub has, and the base on which both last agreed.
 * Times play no part. Pure.
 */

/** A hash, or undefined where there is no file. */
export type Hash = string | undefined;

export type PullAction =
  /** The hub's side is the base: nothing new there. */
  | 'unchanged'
  /** Both sides are the same already. */
  | 'agree'
  /** Only the hub's side changed: take it. */
  | 'take'
  /** Only the hub's side is gone, and ours is as it was: remove it. */
  | 'remove'
  /** Ours is gone and the hub's changed: the change wins over the delete. */
  | 'revive'
  /** Ours changed and the hub's is gone: the change wins over the delete. */
  | 'keep'
  /** Both changed. */
  | 'conflict';

/** What a change on the hub means here. */
export function decidePull(local: Hash, remote: Hash, base: Hash): PullAction {
  if (local === remote) return 'agree';
  if (remote === base) return 'unchanged';
  if (remote === undefined) return local === base ? 'remove' : 'keep';
  if (local === undefined) return base === undefined ? 'take' : 'revive';
  return local === base ? 'take' : 'conflict';
}

export type PushAction = 'create' | 'update' | 'delete' | undefined;

/** What a change here means for the hub, once everything of the hub was pulled. */
export function decidePush(local: Hash, base: Hash): PushAction {
  if (local === base) return undefined;
  if (local === undefined) return 'delete';
  return base === undefined ? 'create' : 'update';
}
