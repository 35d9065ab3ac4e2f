/**
 * Decides the action for a path from three hashes: the local one, the hub's, and the base on which both sides last
 * agreed. Times are not used. Pure.
 */

/** A hash, or undefined where there is no file. */
export type Hash = string | undefined;

export type PullAction =
  /** The hub's side equals the base: no change there. */
  | 'unchanged'
  /** Both sides are already the same. */
  | 'agree'
  /** Only the hub's side changed: write it here. */
  | 'take'
  /** Deleted on the hub and unchanged here: remove it. */
  | 'remove'
  /** Deleted here and changed on the hub: the change wins over the delete. */
  | 'revive'
  /** Changed here and deleted on the hub: the change wins over the delete. */
  | 'keep'
  /** Both changed. */
  | 'conflict';

/** The local action for a change on the hub. */
export function decidePull(local: Hash, remote: Hash, base: Hash): PullAction {
  if (local === remote) return 'agree';
  if (remote === base) return 'unchanged';
  if (remote === undefined) return local === base ? 'remove' : 'keep';
  if (local === undefined) return base === undefined ? 'take' : 'revive';
  return local === base ? 'take' : 'conflict';
}

/** The local change of a path since both sides agreed, which a push sends once all changes of the hub were pulled. */
export function localChange(local: Hash, base: Hash): 'create' | 'update' | 'delete' | undefined {
  if (local === base) return undefined;
  if (local === undefined) return 'delete';
  return base === undefined ? 'create' : 'update';
}
