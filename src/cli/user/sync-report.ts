/** Reports the result of a sync: single files when few, totals when many, and the next step. */

import { nextCommand, resolveCommand } from '../../client/next-command.ts';
import { formatBytes } from '../../client/progress.ts';
import { countWithNoun, quoted, shownLine } from '../../client/shown.ts';
import { conflictsOf, type HeldChange, heldFromHub, type SyncState } from '../../client/sync/base/state.ts';
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
    ...heldLines(held, heldFromHub(state), folder.root.path),
  ];
}

/** What to do about changes that are held back: here, and of the hub. One sentence each, with both commands. */
export function heldLines(
  held: ReadonlyMap<string, HeldChange>,
  fromHub: ReadonlyMap<string, HeldChange>,
  root: string,
): string[] {
  const minutes = limits.clientGuardMs / 60_000;
  const count = (of: typeof held, kind: HeldChange) => [...of.values()].filter((what) => what === kind).length;
  const either = (does: string, words: string, undoes: string, otherwise: string) =>
    `To ${does}, run \`${nextCommand(root, words)}\`. To ${undoes}, run \`${nextCommand(root, otherwise)}\`.`;
  const files = (number: number) => `${countWithNoun(number, 'file')} ${number === 1 ? 'is' : 'are'}`;
  const lines: string[] = [];
  const [gone, rewritten] = [count(held, 'deleted'), count(held, 'rewritten')];
  if (gone > 0) {
    const next = either('delete there too', 'sync --allow-deletes', 'get the files back', 'sync --restore-missing');
    lines.push(`${files(gone)} gone from ${shownLine(root)}. Nothing of this was deleted on the hub. ${next}`);
  }
  if (rewritten > 0) {
    const next = either(
      'send them',
      'sync --allow-rewrites',
      'get the versions of the hub back',
      'sync --restore-rewritten',
    );
    lines.push(
      `${files(rewritten)} held back: more than half of ${shownLine(root)} was rewritten or deleted within ${minutes} minutes. ${next}`,
    );
  }
  if (fromHub.size > 0) {
    const kinds = [
      ...(count(fromHub, 'deleted') > 0 ? ['--allow-deletes'] : []),
      ...(count(fromHub, 'rewritten') > 0 ? ['--allow-rewrites'] : []),
    ];
    const next = either(
      'take them here',
      `sync ${kinds.join(' ')}`,
      'send the files here to the hub again',
      'sync --send-back',
    );
    lines.push(
      `${countWithNoun(fromHub.size, 'change')} of the hub held back from ${shownLine(root)}: more than half of the files would be deleted or rewritten within ${minutes} minutes. ${next}`,
    );
  }
  return lines;
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
