/** cairn sync mergetool: merges conflicts in the tool that git uses, and settles them with its result. */
import { execFileSync, spawnSync } from 'node:child_process';
import { ClientError } from '../../../client/client-error.ts';
import { environmentWith } from '../../../client/settings.ts';
import { shownLine } from '../../../client/shown.ts';
import { conflictsOf } from '../../../client/sync/base/state.ts';
import { lockFolder } from '../../../client/sync/cycle.ts';
import { checkFolderPath, type FolderPath, isBad } from '../../../client/sync/folder/path.ts';
import { type MergeFiles, takeMerged, writeMergeFiles } from '../../../client/sync/merge-sides.ts';
import type { Replica } from '../../../client/sync/replica.ts';
import { type Command, type Options, takes } from '../../command.ts';
import { print, printError } from '../../output.ts';
import { openReplica } from '../sync-open.ts';
import { reportLines } from '../sync-report.ts';
import { FOLDER_EXPLAINS, folderOf, PLACE_OPTIONS, pathsOf } from './place.ts';

/** How tools are called that git knows without a setting of their own (git-mergetool(1)). */
const KNOWN: Readonly<Record<string, string>> = {
  meld: 'meld "$LOCAL" "$MERGED" "$REMOTE"',
  kdiff3: 'kdiff3 "$BASE" "$LOCAL" "$REMOTE" -o "$MERGED"',
  vimdiff: 'vimdiff "$LOCAL" "$MERGED" "$REMOTE"',
  nvimdiff: 'nvim -d "$LOCAL" "$MERGED" "$REMOTE"',
  vscode: 'code --wait --merge "$LOCAL" "$REMOTE" "$BASE" "$MERGED"',
  opendiff: 'opendiff "$LOCAL" "$REMOTE" -ancestor "$BASE" -merge "$MERGED" | cat',
};
const NONE =
  'no merge tool is set. Set one in git (`git config --global merge.tool meld`), or name a command, as in ' +
  `--tool '${KNOWN['meld']}'.`;

export const syncMergeToolCommand: Command = {
  name: 'sync mergetool',
  summary: 'merge a conflict, or one after the other, in your merge tool, and settle it with the result',
  operands: ['[PATH]'],
  options: [takes('tool', 'TOOL'), ...PLACE_OPTIONS],
  completes: { PATH: 'file', tool: Object.keys(KNOWN) },
  explains: {
    tool: 'a tool that git knows, or a command with $BASE, $LOCAL, $REMOTE and $MERGED; default: merge.tool of git',
    ...FOLDER_EXPLAINS,
  },
  examples: ['cairn sync mergetool notes.md', 'cairn sync mergetool --tool meld'],
  run: mergeInTool,
};

async function mergeInTool(options: Options): Promise<number> {
  const one = options.operand();
  const tool = commandOf(options.optional('tool') ?? setting('merge.tool') ?? '');
  const { replica, takeEvents } = await openReplica({
    makes: 'read',
    folder: folderOf(options, one),
    vault: options.optional('vault'),
    server: options.optional('server'),
  });
  const paths = one === undefined ? conflictsOf(replica.state) : [conflictAt(replica, one)];
  if (paths.length === 0) print('no conflicts');
  let isLeft = false;
  for (const path of paths) {
    let files: MergeFiles | undefined;
    try {
      files = await writeMergeFiles(replica, path);
      run(tool, files);
      const made = files;
      await lockFolder(replica, () => takeMerged(replica, made));
    } catch (error) {
      if (one !== undefined || !(error instanceof ClientError)) throw error;
      // The others of the folder are still merged.
      printError(`cairn: ${error.message}`);
      isLeft = true;
    } finally {
      files?.remove();
    }
    for (const line of reportLines(takeEvents())) print(line);
  }
  return isLeft ? 3 : 0;
}

/** The path of a conflict: relative to the current directory, or to the folder, as commands print it. */
function conflictAt({ folder, state }: Replica, given: string): FolderPath {
  const conflicts = new Set<string>(conflictsOf(state));
  const path = pathsOf(folder.root.path, given).find((one) => conflicts.has(one)) ?? given;
  const checked = checkFolderPath(path);
  if (isBad(checked)) throw new ClientError(`${shownLine(given)} has no conflict. ${checked.bad}`);
  return checked;
}

function commandOf(tool: string): string {
  const command = tool.includes('$') ? tool : (setting(`mergetool.${tool}.cmd`) ?? KNOWN[tool]);
  if (command !== undefined) return command;
  if (tool === '') throw new ClientError(NONE);
  throw new ClientError(
    `${shownLine(tool)} is no tool known here; say how to call it: git config --global mergetool.${shownLine(tool)}.cmd '…'`,
  );
}

/** A setting of git; undefined without git, and where it is not set. */
function setting(name: string): string | undefined {
  try {
    const said = execFileSync('git', ['config', '--get', name], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return said.trim() || undefined;
  } catch {
    return undefined;
  }
}

/** As git calls it: by the shell, with the four files in the environment. */
function run(command: string, { path, files }: MergeFiles): void {
  const { status, error } = spawnSync('sh', ['-c', command], { stdio: 'inherit', env: environmentWith(files) });
  if (error !== undefined) throw new ClientError(`the merge tool cannot be started (${error.message}).`);
  if (status !== 0)
    throw new ClientError(`${shownLine(path)} is not merged: the tool ended with an error. Nothing changed.`);
}
