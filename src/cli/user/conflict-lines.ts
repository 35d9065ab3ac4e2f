/** Words of a conflict: what differs, who changed it and when, and the commands that compare, merge and settle it. */
import { nextCommand, pathWord, resolveCommand } from '../../client/next-command.ts';
import { shownLine, shownTime } from '../../client/shown.ts';
import { entryNameOf } from '../../client/sync/folder/path.ts';
import type { ConflictSide } from '../../client/sync/plan/conflict-sides.ts';
import { dividedName } from '../../limits/copy-name.ts';

/** One sentence after the other, for a sync and a watch. */
export function conflictSentence(root: string, path: string, side: ConflictSide | undefined): string {
  const facts = factsOf(side);
  const about = facts.length === 0 ? '' : ` (${facts.join('; ')})`;
  const merges = isText(side) ? ` Or merge in your editor: ${mergeToolCommand(root, path)}.` : '';
  return `${shownLine(path)} has a conflict${about}. Choose a side: ${resolveCommand(root, path, isText(side))}.${merges} To see both: ${looksOf(root, path, side)}`;
}

/** The same in short, for a row of a status. */
export function conflictNote(root: string, path: string, side: ConflictSide | undefined): string {
  return [...factsOf(side), `see ${looksOf(root, path, side)}`, resolveCommand(root, path, isText(side))].join('; ');
}

function factsOf(side: ConflictSide | undefined): string[] {
  const { device = null, changed_at: at = null, lines_here: here = null, lines_there: there = null } = side ?? {};
  return [
    ...(here === null || there === null ? [] : [`+${here} -${there} lines here`]),
    ...(device === null || at === null ? [] : [`${shownLine(device)} changed the other side, ${shownTime(at)}`]),
  ];
}

function looksOf(root: string, path: string, side: ConflictSide | undefined): string {
  const word = pathWord(path);
  // Bytes are looked at beside each other, in whatever shows them.
  const look = isText(side)
    ? nextCommand(root, `sync diff ${word}`)
    : `${nextCommand(root, `sync cat ${word} --theirs`)} > ${pathWord(theirsName(path))}`;
  return side?.page === null || side === undefined ? look : `${look}, or ${side.page}`;
}

const isText = (side: ConflictSide | undefined): boolean => side?.lines_here !== null && side !== undefined;

const mergeToolCommand = (root: string, path: string): string => nextCommand(root, `sync mergetool ${pathWord(path)}`);

/** `plan.theirs.png` for `plans/plan.png`, in the current folder. */
function theirsName(path: string): string {
  const [stem, ending] = dividedName(entryNameOf(path));
  return `${stem}.theirs${ending}`;
}
