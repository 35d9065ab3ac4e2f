/** Reports the result of a sync: single files when few, totals when many, and the next step. */

import { nextCommand, resolveCommand } from '../../client/next-command.ts';
import { formatBytes } from '../../client/progress.ts';
import { countWithNoun, quoted, shownLine } from '../../client/shown.ts';
import { conflictsOf } from '../../client/sync/base/state.ts';
import type { Replica, SyncEvent } from '../../client/sync/replica.ts';
import type { Round } from '../../client/sync/round.ts';
import { unmatched } from '../../client/sync/scan/choice.ts';
import type { Scan } from '../../client/sync/scan/scan.ts';
import { limits } from '../../limits/service.ts';

export interface Report {
  /** `done` is for standard output, `open` for standard error. */
  readonly done: readonly string[];
  readonly open: readonly string[];
  readonly exitCode: number;
}

const EXIT = { done: 0, refused: 1, conflict: 3 } as const;

/** The changes made, the paths that still differ between both sides, and the resulting exit code. */
export function reportOf(replica: Replica, round: Round, events: readonly SyncEvent[], isFirst: boolean): Report {
  const links = round.scan?.links.size ?? 0;
  const conflicts = conflictsOf(replica.state);
  const note =
    isFirst && links > 0 ? [`not synced: ${countWithNoun(links, 'link')} (\`${statusOf(replica)}\` lists them)`] : [];
  return {
    done: [...reportLines(events), ...note],
    open: openLines(replica, round),
    exitCode: exitCodeOf(round, conflicts.length),
  };
}

export function exitCodeOf({ troubles, held }: Round, conflicts: number): number {
  if (conflicts > 0) return EXIT.conflict;
  return troubles.size + held.size > 0 ? EXIT.refused : EXIT.done;
}

/** One line per file, or one line per kind of change when there are many. */
export function reportLines(events: readonly SyncEvent[]): string[] {
  const kinds = new Map<string, SyncEvent[]>();
  for (const event of events) kinds.set(event.verb, [...(kinds.get(event.verb) ?? []), event]);
  return [...kinds].flatMap(([verb, some]) => {
    if (some.length <= limits.clientLinesMax) return some.map(lineOf);
    const bytes = some.reduce((sum, { bytes: one = 0 }) => sum + one, 0);
    return [`${verb.padEnd(8)}  ${countWithNoun(some.length, 'file')}${bytes === 0 ? '' : `, ${formatBytes(bytes)}`}`];
  });
}

/** Warns about `--only` patterns that match no file here or on the hub, which may be typos. */
export function choiceLines({ state }: Replica, scan: Scan | undefined): string[] {
  const { only, base, waits } = state;
  if (only.length === 0) return [];
  const missing = unmatched(only, new Set([...base.keys(), ...waits.keys(), ...(scan?.files.keys() ?? [])]));
  return missing.map(
    (pattern) =>
      `No file here or on the hub matches --only ${quoted(pattern)}. Sync again with another --only; --only '*' syncs everything.`,
  );
}

/** Everything pending for the user, each with the command that settles it. */
export function openLines(replica: Replica, { troubles, held }: Round): string[] {
  const { folder, state } = replica;
  const conflicts = conflictsOf(state).map(
    (path) => `${shownLine(path)} has a conflict. Choose a side: ${resolveCommand(folder.root.path, path)}`,
  );
  const problems = [...troubles].map(([path, reason]) => `${shownLine(path)} is not synced. ${reason}`);
  return [
    ...capped(replica, conflicts, 'conflict'),
    ...capped(replica, problems, 'problem'),
    ...heldLines(held.size, folder.root.path),
  ];
}

/** What to do about files that are missing here, and whose deletes are held back. */
export function heldLines(count: number, root: string): string[] {
  if (count === 0) return [];
  const gone = count === 1 ? '1 file is gone' : `${countWithNoun(count, 'file')} are gone`;
  return [
    `${gone} from ${shownLine(root)}. Nothing was deleted on the hub. To delete there too, run \`${nextCommand(root, 'sync --allow-deletes')}\`. To get the files back, run \`${nextCommand(root, 'sync --restore-missing')}\`.`,
  ];
}

function lineOf({ verb, path, note }: SyncEvent): string {
  return `${verb.padEnd(8)}  ${shownLine(path)}${note === undefined ? '' : `  (${shownLine(note)})`}`;
}

function capped(replica: Replica, lines: readonly string[], what: string): string[] {
  const more = lines.length - limits.clientLinesMax;
  if (more <= 0) return [...lines];
  return [
    ...lines.slice(0, limits.clientLinesMax),
    `… and ${countWithNoun(more, what)} more; \`${statusOf(replica)}\` lists them`,
  ];
}

const statusOf = ({ folder }: Replica): string => nextCommand(folder.root.path, 'sync status');
