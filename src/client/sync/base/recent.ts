/** Defines what a folder remembers of a change for the guard (plan/guard.ts). Pure. */

/** A change of a file within the window. Files of the first sync of a folder count as there before. */
export interface RecentChange {
  readonly what: 'created' | 'deleted' | 'rewritten';
  readonly way: 'sent' | 'received';
  /** Milliseconds since 1970, by the clock of this device. */
  readonly atMs: number;
}

/** What is known of a file after one more change of it; undefined: nothing that counts. */
export function afterChange(before: RecentChange | undefined, change: RecentChange): RecentChange | undefined {
  switch (change.what) {
    case 'created':
      // A file that is back was not lost.
      return before === undefined ? change : undefined;
    case 'deleted':
      return before?.what === 'created' ? undefined : change;
    case 'rewritten':
      return before ?? change;
  }
}
