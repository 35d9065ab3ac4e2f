/** cairn sync copies: lists conflict copies, and removes those that hold nothing new. */
import { nextCommand } from '../../../client/next-command.ts';
import { formatBytes } from '../../../client/progress.ts';
import { shownLine } from '../../../client/shown.ts';
import { conflictCopies, removeEqualCopies } from '../../../client/sync/copies.ts';
import { lockFolder } from '../../../client/sync/cycle.ts';
import { countWithNoun } from '../../../text/count.ts';
import type { Command, Options } from '../../command.ts';
import { printResult, table } from '../../output.ts';
import { openReplica } from '../sync-open.ts';
import { FOLDER_EXPLAINS, PLACE_OPTIONS } from './place.ts';

export const syncCopiesCommand: Command = {
  name: 'sync copies',
  summary: 'list conflict copies; --remove-equal removes those whose bytes are in the history of their file',
  options: PLACE_OPTIONS,
  flags: ['remove-equal'],
  explains: {
    ...FOLDER_EXPLAINS,
    'remove-equal':
      'remove the copies that are equal to their file or to a version of it; the next sync removes them everywhere',
  },
  examples: ['cairn sync copies', 'cairn sync copies --remove-equal'],
  run: copies,
};

async function copies(options: Options): Promise<number> {
  const [folder, vault, server] = ['folder', 'vault', 'server'].map((name) => options.optional(name));
  const { replica } = await openReplica({ makes: 'read', folder, vault, server });
  const found = await conflictCopies(replica);
  const removes = options.flag('remove-equal');
  const removed = removes ? await lockFolder(replica, async () => removeEqualCopies(replica, found)) : [];
  const left = found.filter(({ path }) => !removed.includes(path));
  const equal = left.filter(({ isEqual }) => isEqual).length;
  const root = replica.folder.root.path;
  return printResult(
    options,
    { copies: left.map(({ path, of, isEqual }) => ({ path, of, equal: isEqual })), removed },
    () =>
      [
        ...removed.map((path) => `removed ${shownLine(path)}`),
        ...(left.length === 0
          ? []
          : [table(left.map((one): [string, string] => [one.isEqual ? 'equal' : 'differs', lineOf(one)]))]),
        sentenceOf({ left: left.length, equal, removed: removed.length }, root),
      ].join('\n'),
  );
}

function lineOf({ path, of, bytes }: { readonly path: string; readonly of: string; readonly bytes: number }): string {
  return `${shownLine(path)}  (of ${shownLine(of)}, ${formatBytes(bytes)})`;
}

function sentenceOf(count: Readonly<Record<'left' | 'equal' | 'removed', number>>, root: string): string {
  if (count.removed > 0)
    return `removed ${countWithNoun(count.removed, 'file')} here; run \`${nextCommand(root, 'sync')}\` to remove them everywhere`;
  if (count.left === 0) return 'no conflict copies';
  if (count.equal === 0) return 'each of them has something that its file does not; compare, then remove it by hand';
  return `${count.equal} of ${count.left} hold nothing new; \`${nextCommand(root, 'sync copies --remove-equal')}\` removes them`;
}
