/** cairn backups prune: removes earlier backups by rules of retention. */
import { ClientError } from '../../../client/client-error.ts';
import { groupByRepository, groupName, namedGroup } from '../../../client/mirror/choose.ts';
import type { MirrorBlob } from '../../../client/mirror/hub.ts';
import { readPrunePlan } from '../../../client/mirror/prune.ts';
import { formatBytes } from '../../../client/progress.ts';
import { countWithNoun } from '../../../text/count.ts';
import type { KeepRules } from '../../../time/retention.ts';
import type { Options } from '../../command.ts';
import { print, printError, printResult } from '../../output.ts';
import { UsageError } from '../../usage-error.ts';
import { openBackups } from './access.ts';

interface Pruned {
  readonly repository_id: string;
  readonly repository_label: string | null;
  readonly kept: number;
  readonly removed: number;
  readonly bytes: number;
  readonly archives: readonly { readonly commit_sha: string; readonly sha256: string; readonly uploaded_at: string }[];
}

export async function pruneBackups(options: Options): Promise<number> {
  const rules = rulesOf(options);
  const isTrial = options.flag('dry-run');
  const { hub } = openBackups(options);
  const groups = groupByRepository(await hub.list());
  if (groups.length === 0) throw new ClientError('there is no backup yet. Make one with `cairn backups push`.');
  const wanted = options.optional('repository');
  // Archives of no known repository have no chain and no days of their own: nothing tells which of them belong together.
  const id = wanted === undefined ? undefined : namedGroup(groups, wanted).id;
  const done: Pruned[] = [];
  for (const group of groups) {
    if (group.id === null || (id !== undefined && group.id !== id)) continue;
    const { kept, leaving } = await readPrunePlan(hub, group.blobs, rules);
    if (!isTrial && leaving.length > 0) await hub.remove(leaving);
    const bytes = leaving.reduce((sum, { byte_size }) => sum + byte_size, 0);
    const counts = { kept: kept.length, removed: leaving.length, bytes };
    done.push({
      repository_id: group.id,
      repository_label: group.label,
      ...counts,
      archives: leaving.map(({ commit_sha, sha256, uploaded_at }) => ({ commit_sha, sha256, uploaded_at })),
    });
    if (!options.json) print(sentenceOf(groupName(group), counts, leaving, isTrial));
  }
  const isUnknownLeft = wanted === undefined && groups.some((group) => group.id === null);
  if (isUnknownLeft) printError('cairn: archives uploaded without a repository stay.');
  if (done.length === 0 && wanted !== undefined) {
    throw new ClientError('archives uploaded without a repository are never removed by a rule.');
  }
  return options.json ? printResult(options, { is_dry_run: isTrial, repositories: done }, () => '') : 0;
}

function sentenceOf(
  name: string,
  { kept, bytes }: Pick<Pruned, 'kept' | 'bytes'>,
  leaving: readonly MirrorBlob[],
  isTrial: boolean,
): string {
  const left = `${countWithNoun(kept, 'archive')} ${kept === 1 ? 'stays' : 'stay'}`;
  if (leaving.length === 0) return `${name}: nothing to remove; ${left}.`;
  const gone = `${countWithNoun(leaving.length, 'archive')}, ${formatBytes(bytes)}`;
  const oldest = leaving.map(({ uploaded_at }) => uploaded_at).toSorted();
  const span = `from ${oldest[0] ?? ''} to ${oldest.at(-1) ?? ''}`;
  return `${name}: ${isTrial ? 'would remove' : 'removed'} ${gone}, ${span}; ${left}.`;
}

function rulesOf(options: Options): KeepRules {
  const count = (name: string) => {
    const given = options.count(name);
    if (given === 0) throw new UsageError(`--${name} must be at least 1`);
    return given;
  };
  const rules: KeepRules = {
    last: count('keep-last'),
    daily: count('keep-daily'),
    weekly: count('keep-weekly'),
    monthly: count('keep-monthly'),
  };
  if (Object.values(rules).every((one) => one === undefined)) {
    throw new UsageError('say what to keep, for example --keep-last 10 --keep-daily 14 --keep-monthly 24');
  }
  return rules;
}
