/** cairn backups list and latest: the backups on the hub, by repository. */
import { groupByRepository, groupName, namedGroup, type RepositoryGroup } from '../../../client/mirror/choose.ts';
import type { MirrorBlob } from '../../../client/mirror/hub.ts';
import { formatBytes } from '../../../client/progress.ts';
import { limits } from '../../../limits/service.ts';
import { countWithNoun } from '../../../text/count.ts';
import type { Options } from '../../command.ts';
import { printResult } from '../../output.ts';
import { UsageError } from '../../usage-error.ts';
import { openBackups } from './access.ts';

const NOTHING = 'There is no backup yet; run `cairn backups push` in a repository.';

export async function listBackups(options: Options): Promise<number> {
  const count = readCount(options.optional('limit'));
  const blobs = await chosen(options);
  const newest = blobs.slice(0, count);
  return printResult(options, { blobs: newest }, () => {
    if (newest.length === 0) return NOTHING;
    const totals = new Map(groupByRepository(blobs).map((group) => [group.id, group]));
    return groupByRepository(newest)
      .map((group) => [groupLine(totals.get(group.id) ?? group), ...group.blobs.map(blobLine)].join('\n'))
      .join('\n');
  });
}

export async function latestBackup(options: Options): Promise<number> {
  const [blob] = (await chosen(options)).filter(({ quarantined }) => quarantined !== true);
  printResult(options, { latest: blob ?? null }, () =>
    blob === undefined ? NOTHING : `${blobLine(blob)}  ${groupName(idAndLabel(blob))}`,
  );
  // A job monitoring its backups should fail when none exists.
  return blob === undefined ? 1 : 0;
}

/** Newest first: all, or those of the repository of the option. */
async function chosen(options: Options): Promise<readonly MirrorBlob[]> {
  const blobs = await openBackups(options).hub.list();
  const wanted = options.optional('repository');
  return wanted === undefined ? blobs : namedGroup(groupByRepository(blobs), wanted).blobs;
}

const idAndLabel = (blob: MirrorBlob) => ({ id: blob.repository_id ?? null, label: blob.repository_label ?? null });

function groupLine(group: RepositoryGroup): string {
  const bytes = group.blobs.reduce((sum, { byte_size }) => sum + byte_size, 0);
  return `${groupName(group)}: ${countWithNoun(group.blobs.length, 'archive')}, ${formatBytes(bytes)}`;
}

function blobLine(blob: MirrorBlob): string {
  const state = blob.quarantined === true ? 'damaged: push it again' : '';
  const kind = blob.archive_kind === 'repository' ? (blob.base_sha256 == null ? 'full' : 'increment') : 'files';
  const size = formatBytes(blob.byte_size).padStart(10);
  const words = [blob.commit_sha, blob.uploaded_at, size, kind.padEnd(9), blob.uploaded_by ?? '', state];
  return `  ${words.join('  ').trimEnd()}`;
}

function readCount(text: string | undefined): number {
  const count = text === undefined ? limits.clientListDefault : Number(text);
  if (!Number.isInteger(count) || count < 1 || count > limits.blobPageMax) {
    throw new UsageError(`--limit must be a whole number from 1 to ${limits.blobPageMax}`);
  }
  return count;
}
