/** What stands around both sides of a conflict in a text that the hub merged: the hub writes it, clients look for it. Pure. */

/** Names of the sides in the conflict markers of `sync_merge`, unless the caller names them. */
export const SIDE_LABELS = { yours: 'yours', hub: 'hub' } as const;

/** The line, from 1, of the first marker that `sync_merge` wrote with its own names; undefined when none is left. */
export function ownMarkLine(text: string): number | undefined {
  const lines = text.split(/\r?\n/);
  const isOwn = (line: string) => line === `<<<<<<< ${SIDE_LABELS.yours}` || line === `>>>>>>> ${SIDE_LABELS.hub}`;
  const at = lines.findIndex(isOwn);
  return at < 0 ? undefined : at + 1;
}
