/** cairn sync forget: takes files away from the hub and keeps them here. */
import { ClientError } from '../../../client/client-error.ts';
import { formatBytes } from '../../../client/progress.ts';
import { quoted, shownLine } from '../../../client/shown.ts';
import { lockFolder, syncOnce } from '../../../client/sync/cycle.ts';
import { checkFolderPath, isBad } from '../../../client/sync/folder/path.ts';
import { filesAt, forgetFiles, leaveOut } from '../../../client/sync/forget.ts';
import { newRound } from '../../../client/sync/round.ts';
import { RULES_FILE } from '../../../client/sync/scan/choice.ts';
import { countWithNoun } from '../../../text/count.ts';
import type { Command, Options } from '../../command.ts';
import { printError, printResult } from '../../output.ts';
import { openReplica } from '../sync-open.ts';
import { FOLDER_EXPLAINS, folderOf, PLACE_OPTIONS, pathsOf } from './place.ts';

export const syncForgetCommand: Command = {
  name: 'sync forget',
  summary: 'take a file or folder away from the hub and keep it here; .cairnignore leaves it out from then on',
  operands: ['PATH'],
  options: PLACE_OPTIONS,
  completes: { PATH: 'file' },
  explains: FOLDER_EXPLAINS,
  examples: ['cairn sync forget node_modules', 'cairn sync forget secrets.env'],
  run: forget,
};

async function forget(options: Options): Promise<number> {
  const given = options.operand() ?? '';
  const folder = folderOf(options, given);
  const [vault, server] = [options.optional('vault'), options.optional('server')];
  const { replica, line } = await openReplica({ makes: 'read', folder, vault, server });
  const root = replica.folder.root.path;
  for (const named of pathsOf(root, given)) {
    const path = checkFolderPath(named);
    if (isBad(path)) throw new ClientError(path.bad);
    const found = await filesAt(replica, path);
    if (found.length === 0) continue;
    const rule = await lockFolder(replica, async () => leaveOut(replica, path, found));
    // The rule reaches the hub before the deletes: devices that get both keep their files.
    const guarded = {
      allowDeletes: false,
      allowRewrites: false,
      restoreMissing: false,
      restoreRewritten: false,
      sendBack: false,
    };
    const how = { ...guarded, direction: 'both', retryRefused: false, leavesLarge: false } as const;
    await syncOnce(replica, newRound(), how, () => undefined);
    const files = await filesAt(replica, path);
    const { refused, ...sum } = await lockFolder(replica, () => forgetFiles(replica, files));
    line.close();
    for (const [one, reason] of refused) printError(`cairn: ${shownLine(one)} stays on the hub. ${reason}`);
    const told = { path, rule: rule ?? null, ...sum, refused: Object.fromEntries(refused) };
    printResult(options, told, () =>
      [
        `took ${countWithNoun(sum.files, 'file')}, ${formatBytes(sum.bytes)}, away from the hub; they stay here`,
        rule === undefined
          ? 'Rules here leave them out already. A device without such a rule removes its copies, like any deleted file.'
          : `${RULES_FILE} has the line ${quoted(rule)} now. Other devices follow it: they keep their copies and no longer sync them.`,
      ].join('\n'),
    );
    return refused.size > 0 ? 1 : 0;
  }
  throw new ClientError(`${shownLine(given)} is not on the hub; \`cairn sync list\` shows the files.`);
}
