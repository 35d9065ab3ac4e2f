/** cairn backups drill: restores the newest backup of each repository into a temporary folder, and reports the result. */
import { join } from 'node:path';
import { ClientError } from '../../../client/client-error.ts';
import { NotGiven, type Unlock } from '../../../client/mirror/age.ts';
import { groupName, type RepositoryGroup, seriesOf } from '../../../client/mirror/choose.ts';
import { backupExit } from '../../../client/mirror/exit-codes.ts';
import { withWorkFolder } from '../../../client/mirror/full-disk.ts';
import type { MirrorBlob } from '../../../client/mirror/hub.ts';
import { pullBackup } from '../../../client/mirror/restore.ts';
import { formatBytes } from '../../../client/progress.ts';
import { countWithNoun } from '../../../text/count.ts';
import type { Options } from '../../command.ts';
import { print, printError, printResult, tellUser } from '../../output.ts';
import { type MirrorAccess, openBackups, unlockOf } from './access.ts';
import { budgetOf } from './budget.ts';

/** Of a failure, as the hub keeps it. */
const DETAIL_CHARS_MAX = 300;

interface Drilled {
  readonly at: string;
  readonly repository_id: string | null;
  readonly repository_label: string | null;
  readonly commit_sha: string;
  readonly sha256: string;
  readonly outcome: Outcome;
  readonly detail: string;
}

/** `untried`: the archive needs a passphrase, or a key, that was not given. Its bytes arrived as they were uploaded, no more is known. */
type Outcome = 'proven' | 'failed' | 'untried';

/**
 * Exit code 0 when every restore is proven; that of a damaged backup when one failed; else that of a missing key.
 */
export async function drillBackups(options: Options): Promise<number> {
  const access = openBackups(options);
  const unlock = unlockOf(options, access.entry);
  const all = await access.hub.list();
  if (all.length === 0) throw new ClientError('there is no backup yet. Make one with `cairn backups push`.');
  const results: Drilled[] = [];
  // The hub keeps one last drill for an id, which forks share: a proven one must not hide a failed one.
  const failed = new Set<string | null>();
  let unrecorded: string | undefined;
  for (const group of seriesOf(all, options.optional('repository'))) {
    const result = await drill(options, access, all, group, unlock);
    results.push(result);
    const { at: _, repository_label: __, outcome, ...report } = result;
    if (outcome === 'failed') failed.add(group.id);
    const isHidden = outcome === 'proven' && failed.has(group.id);
    if (outcome !== 'untried' && !isHidden)
      unrecorded = (await access.hub.recordDrill({ ...report, outcome })) ?? unrecorded;
    if (!options.json) print(lineOf(group, result));
  }
  if (unrecorded !== undefined) printError(`cairn: the results are not recorded: ${unrecorded}.`);
  if (options.json) printResult(options, { drills: results }, () => '');
  if (results.some(({ outcome }) => outcome === 'failed')) return backupExit.damaged;
  return results.some(({ outcome }) => outcome === 'untried') ? backupExit.key : 0;
}

async function drill(
  options: Options,
  { hub }: MirrorAccess,
  all: readonly MirrorBlob[],
  group: RepositoryGroup,
  unlock: Unlock,
): Promise<Drilled> {
  const { budget, line } = budgetOf(options);
  const result = (blob: Pick<MirrorBlob, 'commit_sha' | 'sha256'>, outcome: Outcome, detail: string): Drilled => ({
    at: new Date().toISOString(),
    repository_id: group.id,
    repository_label: group.label,
    commit_sha: blob.commit_sha,
    sha256: blob.sha256,
    outcome,
    detail,
  });
  const downloading = () => () => undefined;
  const [newest] = group.blobs;
  if (newest === undefined) throw new Error('a group has an archive');
  try {
    const restored = await withWorkFolder('cairn-drill', tellUser, (work) =>
      pullBackup(
        { hub, all, candidates: group.blobs, unlock, budget, tell: tellUser, isKept: false, downloading },
        join(work, 'restored'),
      ),
    );
    const size = formatBytes(restored.bytes);
    const detail =
      restored.kind === 'tree'
        ? `files of one commit, ${size}`
        : `${countWithNoun(restored.refs, 'ref')}, ${countWithNoun(restored.archives, 'archive')}, ${size}, git fsck --strict`;
    return result(restored.blob, 'proven', detail);
  } catch (error) {
    if (error instanceof NotGiven) return result(newest, 'untried', `its bytes are whole; ${error.message}`);
    // An unreachable hub or a missing sign-in says nothing about the backup.
    const { exitCode } = error as ClientError;
    if (!(error instanceof ClientError) || (exitCode !== backupExit.damaged && exitCode !== backupExit.key))
      throw error;
    return result(newest, 'failed', error.message.slice(0, DETAIL_CHARS_MAX));
  } finally {
    line.close();
  }
}

function lineOf(group: RepositoryGroup, { at, commit_sha, outcome, detail }: Drilled): string {
  return `${at}  ${outcome}  ${groupName(group)}  ${commit_sha}  ${detail}`;
}
