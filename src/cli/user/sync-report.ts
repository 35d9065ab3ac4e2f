/** Reports the result of a sync: single files when few, totals when many, and the next step. */

import { nextCommand } from '../../client/next-command.ts';
import { formatBytes } from '../../client/progress.ts';
import { quoted, shownLine } from '../../client/shown.ts';
import { conflictsOf, heldFromHub, type SyncState } from '../../client/sync/base/state.ts';
import { conflictSidesOf } from '../../client/sync/plan/conflict-sides.ts';
import type { Replica, SyncEvent } from '../../client/sync/replica.ts';
import type { Round } from '../../client/sync/round.ts';
import { unmatched } from '../../client/sync/scan/choice.ts';
import type { Scan } from '../../client/sync/scan/scan.ts';
import { isDiskFull, type WatchState } from '../../client/sync/watch/standing.ts';
import { limits } from '../../limits/service.ts';
import { countWithNoun } from '../../text/count.ts';
import { groupedBy } from '../../text/grouped-by.ts';
import { conflictSentence } from './conflict-lines.ts';
import { heldLines } from './held-lines.ts';

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
  const note =
    isFirst && links > 0 ? [`not synced: ${countWithNoun(links, 'link')} (\`${statusOf(replica)}\` lists them)`] : [];
  return {
    done: [...reportLines(events), ...note],
    open: openLines(replica, round),
    exitCode: exitCodeOf(round, replica.state),
  };
}

export function exitCodeOf({ troubles, held }: Round, state: Pick<SyncState, 'waits'>): number {
  if (conflictsOf(state).length > 0) return EXIT.conflict;
  return troubles.size + held.size + heldFromHub(state).size > 0 ? EXIT.refused : EXIT.done;
}

/** One line per file, or one line per kind of change when there are many. */
export function reportLines(events: readonly SyncEvent[]): string[] {
  return [...groupedBy(events, ({ verb }) => verb)].flatMap(([verb, some]) => {
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

/** Something pending for the user: what kind it is, as a watch names it for a program, and the command that settles it. */
export interface OpenNote {
  readonly state: WatchState | 'choice';
  readonly sentence: string;
  /** What makes it news; default: the sentence. An edit of a file in conflict changes the sentence, and is none. */
  readonly key?: string;
}

/** Everything pending for the user. */
export function openNotes(replica: Replica, { troubles, held, scan }: Round): OpenNote[] {
  const { folder, state } = replica;
  const sides = conflictSidesOf(state);
  const conflicts = conflictsOf(state).map((path): OpenNote => {
    const side = sides[path];
    const key = `${path} ${side?.device} ${side?.changed_at}`;
    return { state: 'conflict', key, sentence: conflictSentence(folder.root.path, path, side) };
  });
  const problems = [...troubles].map(([path, reason]): OpenNote => {
    const sentence = `${shownLine(path)} is not synced. ${reason}`;
    return { state: isDiskFull(reason) ? 'disk full' : 'problem', sentence };
  });
  const guard = heldLines(held, heldFromHub(state), folder.root.path);
  return [
    ...capped(replica, conflicts, 'conflict'),
    ...capped(replica, problems, 'problem'),
    ...guard.map((sentence): OpenNote => ({ state: 'guard', sentence })),
    ...choiceLines(replica, scan).map((sentence): OpenNote => ({ state: 'choice', sentence })),
  ];
}

/** The same as lines, without what `choiceLines` warns about. */
function openLines(replica: Replica, round: Round): string[] {
  const notes = openNotes(replica, round).filter(({ state }) => state !== 'choice');
  return notes.map(({ sentence }) => sentence);
}

function lineOf({ verb, path, note }: SyncEvent): string {
  return `${verb.padEnd(8)}  ${shownLine(path)}${note === undefined ? '' : `  (${shownLine(note)})`}`;
}

function capped(replica: Replica, notes: readonly OpenNote[], what: 'conflict' | 'problem'): OpenNote[] {
  const more = notes.length - limits.clientLinesMax;
  if (more <= 0) return [...notes];
  const rest = `… and ${countWithNoun(more, what)} more; \`${statusOf(replica)}\` lists them`;
  return [...notes.slice(0, limits.clientLinesMax), { state: what, sentence: rest }];
}

const statusOf = ({ folder }: Replica): string => nextCommand(folder.root.path, 'sync status');
