/** cairn backups rewrap: encrypts the newest backup of each repository for other recipients, beside the old one. */
import { join } from 'node:path';
import { ClientError } from '../../../client/client-error.ts';
import { type Lock, NotGiven, type Unlock } from '../../../client/mirror/age.ts';
import { groupName, type RepositoryGroup, seriesOf } from '../../../client/mirror/choose.ts';
import { backupExit } from '../../../client/mirror/exit-codes.ts';
import { withWorkFolder } from '../../../client/mirror/full-disk.ts';
import { openRepository } from '../../../client/mirror/git/repository.ts';
import type { MirrorBlob } from '../../../client/mirror/hub.ts';
import { reencrypt } from '../../../client/mirror/open-archive.ts';
import { pushRepository } from '../../../client/mirror/push.ts';
import { type PulledBackup, pullBackup } from '../../../client/mirror/restore.ts';
import type { Options } from '../../command.ts';
import { print, printError, printResult, tellUser } from '../../output.ts';
import { lockOf, type MirrorAccess, openBackups, openUploads, unlockOf } from './access.ts';
import { budgetOf } from './budget.ts';

interface Rewrapped {
  readonly repository_id: string | null;
  readonly repository_label: string | null;
  readonly commit_sha: string;
  readonly sha256: string;
}

export async function rewrapBackups(options: Options): Promise<number> {
  const uploads = openUploads(options);
  const reads = openBackups(options);
  const [lock, unlock] = [lockOf(options, uploads.entry), unlockOf(options, uploads.entry)];
  const all = await reads.hub.list();
  const done: Rewrapped[] = [];
  // Repositories whose newest archive has a passphrase.
  let left = 0;
  for (const group of seriesOf(all, options.optional('repository'))) {
    try {
      const blob = await withWorkFolder('cairn-rewrap', tellUser, (work) =>
        rewrap({ options, uploads, all, group, lock, unlock, work }),
      );
      const { commit_sha, sha256 } = blob;
      done.push({ repository_id: group.id, repository_label: group.label, commit_sha, sha256 });
      if (!options.json)
        print(
          `${groupName(group)}: the newest backup, of commit ${commit_sha}, is now also encrypted for the given recipients.`,
        );
    } catch (error) {
      if (!(error instanceof NotGiven)) throw error;
      left += 1;
      tellUser(`${groupName(group)}: ${error.what}; it stays as it is.`);
    }
  }
  if (done.length + left === 0) throw new ClientError('there is no backup yet. Make one with `cairn backups push`.');
  if (done.length > 0) printError('cairn: earlier backups stay as they are: keep the old key, or they cannot be read.');
  tellOtherRecipients(lock, uploads.entry?.recipients ?? []);
  if (options.json) printResult(options, { rewrapped: done }, () => '');
  return left === 0 ? 0 : backupExit.key;
}

/** The next push from here would leave the new recipients out again. */
function tellOtherRecipients(lock: Lock, stored: readonly string[]): void {
  if (!('recipients' in lock) || stored.length === 0) return;
  if (lock.recipients.toSorted().join() === stored.toSorted().join()) return;
  printError(
    `cairn: \`push\` from this machine still encrypts for ${stored.join(', ')} alone; to change that, run ` +
      `\`cairn backups init --recipient ${lock.recipients.join(',')}\`.`,
  );
}

interface Rewrap {
  readonly options: Options;
  readonly uploads: MirrorAccess;
  readonly all: readonly MirrorBlob[];
  readonly group: RepositoryGroup;
  readonly lock: Lock;
  readonly unlock: Unlock;
  readonly work: string;
}

/** Restores the newest backup, so that it is checked, and uploads it in full for the new recipients. */
async function rewrap({ options, uploads, all, group, lock, unlock, work }: Rewrap): Promise<MirrorBlob> {
  const { hub } = uploads;
  const folder = join(work, 'restored');
  const budget = budgetOf(options);
  const downloading = () => () => undefined;
  const pulling = {
    all,
    candidates: group.blobs,
    unlock,
    budget: budget.budget,
    tell: tellUser,
    isKept: false,
    downloading,
  };
  const restored = await pullBackup({ hub: openBackups(options).hub, ...pulling }, folder);
  budget.line.close();
  if (restored.kind === 'tree') return await rewrapTree(hub, restored, lock, unlock, work);
  const opened = await openRepository(folder);
  const repository = { ...opened, id: group.id ?? '', label: group.label ?? '', isFolderName: false };
  const result = await pushRepository({
    hub,
    repository,
    choices: { refs: [], hasLfs: restored.hasLfs, hasSubmodules: restored.hasSubmodules },
    lock,
    isForced: true,
    uploadedBy: options.optional('label'),
    leftOut: restored.leftOut,
    nowMs: Date.now(),
    tell: tellUser,
    progress: () => () => undefined,
  });
  if (result.kind === 'nothing') throw new Error('a forced push uploads');
  return result.blob;
}

/** A plain archive stays the same tar.gz. */
async function rewrapTree(
  hub: MirrorAccess['hub'],
  { blob }: PulledBackup,
  lock: Lock,
  unlock: Unlock,
  work: string,
): Promise<MirrorBlob> {
  const file = join(work, 'tree.age');
  await hub.download(blob, file, () => undefined);
  const facts = {
    commit: blob.commit_sha,
    uploadedBy: blob.uploaded_by ?? undefined,
    repositoryId: blob.repository_id ?? undefined,
    repositoryLabel: blob.repository_label ?? undefined,
    kind: blob.archive_kind ?? undefined,
  };
  return await hub.upload(await reencrypt(file, unlock, lock), facts, () => undefined);
}
