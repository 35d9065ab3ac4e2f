/** cairn sync status where no watch runs: compares every file with the hub, and lists what a sync would do. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { jsonLine, shownLine } from '../../client/shown.ts';
import { type HeldChange, heldFromHub } from '../../client/sync/base/state.ts';
import { conflictSidesOf } from '../../client/sync/plan/conflict-sides.ts';
import { syncStatusOf } from '../../client/sync/status.ts';
import type { Options } from '../command.ts';
import { print, printError, table } from '../output.ts';
import { conflictNote } from './conflict-lines.ts';
import { heldLines, pausedNote } from './held-lines.ts';
import { openReplica } from './sync-open.ts';
import { choiceLines } from './sync-report.ts';

export async function compareStatus(options: Options): Promise<number> {
  const { replica } = await openReplica({
    makes: 'read',
    folder: options.optional('folder'),
    vault: options.optional('vault'),
    server: options.optional('server'),
  });
  const found = await syncStatusOf(replica);
  const { problem, links, elsewhere, conflict, ...lists } = found;
  const { held, held_from_hub: fromHub } = found;
  const { path: root } = replica.folder.root;
  const sides = conflictSidesOf(replica.state);
  const paused = existsSync(replica.folder.own('paused'));
  if (options.json) print(jsonLine({ ...found, conflict_sides: sides, paused }));
  else {
    const rows = [
      ...Object.entries(lists).flatMap(([what, paths]) =>
        paths.map((path): Row => [what.startsWith('held') ? 'held' : what, shownLine(path)]),
      ),
      ...conflict.map((path) => noted('conflict', path, conflictNote(root, path, sides[path]))),
      ...Object.entries(elsewhere).map(([path, how]) => noted('conflict', path, how)),
    ];
    const reasons = Object.entries(problem).map(([path, reason]) => noted('problem', path, reason));
    const left = links.map((path) => noted('left out', path, 'links, pipes and devices are not synced'));
    const notes = [
      ...(paused ? [pausedNote(root)] : []),
      ...heldLines(changesHeld(held, root), heldFromHub(replica.state), root),
      ...choiceLines(replica, undefined),
    ];
    for (const text of notes) printError(`cairn: ${text}`);
    if (rows.length + reasons.length + notes.length === 0) print('up to date');
    if (rows.length + reasons.length + left.length > 0) print(table([...rows, ...reasons, ...left]));
  }
  if (conflict.length > 0) return 3;
  return Object.keys(problem).length + held.length + fromHub.length > 0 ? 1 : 0;
}

/** What is held here: missing, or rewritten. */
function changesHeld(held: readonly string[], root: string): Map<string, HeldChange> {
  return new Map(held.map((path) => [path, existsSync(join(root, path)) ? 'rewritten' : 'deleted']));
}

type Row = [string, string];

function noted(what: string, path: string, note: string): Row {
  return [what, `${shownLine(path)}  (${shownLine(note)})`];
}
