/** cairn backups push: backs up a repository, or with --tree the files of its HEAD commit. */

import { encrypt } from '../../../client/mirror/age.ts';
import { packTree } from '../../../client/mirror/archive.ts';
import { hasUncommitted, openRepository, type Repository } from '../../../client/mirror/git/repository.ts';
import type { FullReason } from '../../../client/mirror/plan.ts';
import { type BackupResult, goingOn, pushRepository } from '../../../client/mirror/push.ts';
import { formatBytes, openProgress } from '../../../client/progress.ts';
import { countWithNoun } from '../../../text/count.ts';
import type { Options } from '../../command.ts';
import { printError, printResult, tellUser } from '../../output.ts';
import { lockOf, openUploads } from './access.ts';

const REASONS: Readonly<Record<FullReason, string>> = {
  first: 'the first of this repository',
  forced: 'as requested',
  'other recipients': 'the newest backup is for other recipients; earlier backups stay readable for those only',
  'incomplete chain': 'the newest backup cannot be continued',
  'other choices': 'the newest backup was made with another choice of Git LFS objects',
  'unknown base': 'what the newest backup contains is not known here',
  'long chain': 'after many increments',
};

export async function pushMirror(options: Options): Promise<number> {
  const { server, hub, entry } = openUploads(options);
  const lock = lockOf(options, entry);
  const opened = await openRepository(options.optional('repository') ?? '.');
  const name = options.optional('name');
  const repository = name === undefined ? opened : { ...opened, label: name, isFolderName: false };
  const leftOut = (await hasUncommitted(repository)) ? ['uncommitted changes'] : [];
  if (options.flag('tree')) return await pushTree(options, repository, leftOut);
  if (repository.shallow.length > 0) {
    leftOut.push('history that this shallow clone lacks; run `git fetch --unshallow` to back it up');
  }
  const refs = (options.optional('refs') ?? '').split(',').filter((part) => part !== '');
  if (refs.length > 0) leftOut.push(`refs other than ${refs.join(', ')}`);
  const bars: { close(): void }[] = [];
  try {
    const result = await pushRepository({
      hub,
      repository,
      choices: { refs, hasLfs: options.flag('lfs'), hasSubmodules: options.flag('submodules') },
      lock,
      isForced: options.flag('again'),
      uploadedBy: options.optional('label'),
      leftOut,
      nowMs: Date.now(),
      tell: tellUser,
      progress(label) {
        const bar = openProgress(label);
        bars.push(bar);
        return (done, total) => bar.update(done, total);
      },
    });
    for (const bar of bars.splice(0)) bar.close();
    tellLeftOut(result.kind === 'nothing' ? leftOut : result.leftOut);
    return printResult(options, jsonOf(result, repository), () => sentenceOf(result, repository, server));
  } finally {
    for (const bar of bars) bar.close();
  }
}

function jsonOf(result: BackupResult, { id, commit }: Repository) {
  const common = { repository_id: id, repository_label: result.label };
  if (result.kind === 'nothing') return { status: 'existing', commit_sha: commit, ...common };
  const { blob, kind, parts, bytes, refs, leftOut } = result;
  return { status: 'stored', ...blob, ...common, kind, parts, bytes, refs, left_out: leftOut };
}

function sentenceOf(result: BackupResult, { commit }: Repository, server: string): string {
  const { label } = result;
  if (result.kind === 'nothing') return `${label} is already backed up at commit ${commit}, with all its refs.`;
  const { plan, blob, parts, bytes, refs } = result;
  const reason = plan.kind === 'full' ? ` (full: ${REASONS[plan.reason]})` : ' (increment)';
  const size = `${formatBytes(bytes)}${parts === 1 ? '' : ` in ${parts} parts`}`;
  return `Backed up ${label} at commit ${commit} to ${server}: ${countWithNoun(refs, 'ref')}, ${size}${reason}, sha256 ${blob.sha256}`;
}

async function pushTree(options: Options, opened: Repository, leftOut: readonly string[]): Promise<number> {
  const { server, hub, entry } = openUploads(options);
  const all = await hub.list(opened.id);
  const repository = goingOn(opened, all, tellUser);
  const { commit, id, label } = repository;
  const common = { commit_sha: commit, repository_id: id, repository_label: label };
  tellLeftOut([...leftOut, 'history, other branches, and files marked export-ignore']);
  const sent = all.find((one) => one.commit_sha === commit && one.archive_kind === 'tree');
  if (!options.flag('again') && sent !== undefined && (await hub.has(sent))) {
    return printResult(
      options,
      { status: 'existing', ...common },
      () => `The files of ${commit} are already backed up.`,
    );
  }
  const sealed = await encrypt(await packTree(repository), lockOf(options, entry));
  const bar = openProgress('uploading');
  try {
    const facts = {
      commit,
      uploadedBy: options.optional('label'),
      repositoryId: id,
      repositoryLabel: label,
      kind: 'tree',
    } as const;
    const blob = await hub.upload(sealed, facts, (done, total) => bar.update(done, total));
    bar.close();
    const size = formatBytes(blob.byte_size);
    return printResult(options, { status: 'stored', ...blob, ...common }, () => {
      return `Backed up the files of commit ${commit} to ${server}: ${size}, sha256 ${blob.sha256}`;
    });
  } finally {
    bar.close();
  }
}

function tellLeftOut(leftOut: readonly string[]): void {
  for (const one of leftOut) printError(`cairn: not in this backup: ${one}`);
}
