/** Says what a person wants to know of a conflict before choosing: who, when, how many lines, and where to look. Pure. */
import type { SyncState } from '../base/state.ts';

/** The names are those of `cairn sync status --json`. */
export interface ConflictSide {
  /** Who changed the hub's side, and when, ISO 8601; null: unknown. */
  readonly device: string | null;
  readonly changed_at: string | null;
  /** Lines that only one side has; null for files that are not compared by lines. */
  readonly lines_here: number | null;
  readonly lines_there: number | null;
  /** The page that shows both sides; null while the hub has not got this one. */
  readonly page: string | null;
}

type Known = Pick<SyncState, 'server' | 'vault_id' | 'waits'>;

/** The other side of each conflict, by path. */
export function conflictSidesOf({ server, vault_id, waits }: Known): Record<string, ConflictSide> {
  const conflicts = [...waits].filter(([, { kind }]) => kind === 'conflict');
  return Object.fromEntries(
    conflicts.map(([path, { other, lines, conflictId }]): [string, ConflictSide] => [
      path,
      {
        device: other?.device ?? null,
        changed_at: other === undefined ? null : new Date(other.storedMs).toISOString(),
        lines_here: lines?.here ?? null,
        lines_there: lines?.there ?? null,
        page: conflictId === null ? null : `${server}/vaults/${vault_id}/conflicts/${conflictId}`,
      },
    ]),
  );
}

/** Counts the lines of a unified diff from the hub's text to the one here; undefined when it is none. */
export function countChanged(diff: string): { readonly here: number; readonly there: number } | undefined {
  if (!diff.startsWith('--- ')) return undefined;
  const lines = diff.split('\n').slice(2);
  const count = (sign: string) => lines.filter((line) => line.startsWith(sign)).length;
  return { here: count('+'), there: count('-') };
}
