/** Says what a synced folder holds back, and how to go on. */
import { nextCommand } from '../../client/next-command.ts';
import { shownLine } from '../../client/shown.ts';
import type { HeldChange } from '../../client/sync/base/state.ts';
import { limits } from '../../limits/service.ts';
import { countWithNoun } from '../../text/count.ts';

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

export function pausedNote(root: string): string {
  return `The folder is paused. To sync it again, run \`${nextCommand(root, 'sync resume')}\`.`;
}
