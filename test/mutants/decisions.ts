/** The files whose code decides: what may happen to whom, when, and how much. */

/** Paths from the root. A file that mixes decisions with work names the functions or methods that decide. */
export const DECISIONS: Readonly<Record<string, readonly string[] | 'all'>> = {
  'src/accounts/rules.ts': 'all',
  'src/mirror/rules.ts': 'all',
  'src/oauth/rules.ts': 'all',
  'src/sync/devices/standing.ts': 'all',
  'src/sync/log/file-room.ts': 'all',
  'src/sync/log/hlc.ts': 'all',
  'src/sync/log/paths.ts': 'all',
  'src/sync/push/decision.ts': 'all',
  'src/tasks/rules.ts': 'all',
};
