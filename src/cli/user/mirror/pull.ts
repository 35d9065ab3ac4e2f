/** cairn backups pull: restores a backup into a new folder. */
import { existsSync, renameSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { ClientError } from '../../../client/client-error.ts';
import { commitsOf, groupByRepository, groupHere, namedGroup, newerElsewhere } from '../../../client/mirror/choose.ts';
import { tellingFullDisk } from '../../../client/mirror/full-disk.ts';
import { commitOfRef, repositoryHere } from '../../../client/mirror/git/repository.ts';
import { git } from '../../../client/mirror/git/run-git.ts';
import type { MirrorBlob, MirrorHub } from '../../../client/mirror/hub.ts';
import { type BackupPull, type PulledBackup, pullBackup } from '../../../client/mirror/restore.ts';
import { refuseFilled } from '../../../client/mirror/tar/unpack-tree.ts';
import { flushPath } from '../../../client/private-file.ts';
import { openProgress } from '../../../client/progress.ts';
import { quoted } from '../../../client/shown.ts';
import { besideItsPlace } from '../../../client/staging.ts';
import { countWithNoun } from '../../../text/count.ts';
import type { Options } from '../../command.ts';
import { printError, printResult, tellUser } from '../../output.ts';
import { useUmaskOfUser } from '../../process.ts';
import { openBackups, unlockOf } from './access.ts';
import { budgetOf } from './budget.ts';

const COMMIT_CHARS_SHOWN = 12;

export async function pullMirror(options: Options): Promise<number> {
  const access = openBackups(options);
  const { hub } = access;
  const isRaw = options.flag('encrypted');
  // Checked before the download: an invalid option should not cost minutes.
  const unlock = isRaw ? undefined : unlockOf(options, access.entry);
  const budget = budgetOf(options);
  const given = options.optional('output');
  if (given !== undefined && !isRaw) refuseFilled(given);
  const all = await hub.list();
  const commit = await commitNamed(options.optional('commit'), all);
  const candidates = await chosen(options, all, commit);
  const [first] = candidates;
  if (first === undefined) throw new ClientError('there is no backup of this commit; see `cairn backups list`.');
  const newer = commit === undefined ? newerElsewhere(all, first) : undefined;
  if (newer !== undefined) tellNewer(newer);
  const output = given ?? `cairn-${first.commit_sha.slice(0, COMMIT_CHARS_SHOWN)}${isRaw ? '.age' : ''}`;
  const full = `the disk of ${dirname(resolve(output))} is full, so nothing was restored. Free some space, or choose another disk with --output.`;
  if (unlock === undefined) return await tellingFullDisk(full, () => pullRaw(options, hub, first, output));
  // PulledBackup files get the permissions that git gives them, not those of the command's own files.
  useUmaskOfUser();
  const bars = new Set<{ close(): void }>([budget.line]);
  try {
    const pull: BackupPull = {
      hub,
      all,
      candidates,
      unlock,
      budget: budget.budget,
      tell: tellUser,
      isKept: true,
      downloading: (part, parts) => {
        const bar = openProgress(parts === 1 ? 'downloading' : `downloading ${part} of ${parts}`);
        bars.add(bar);
        return (done, total) => bar.update(done, total);
      },
    };
    const restored = await tellingFullDisk(full, () => pullBackup(pull, output));
    for (const bar of bars) bar.close();
    for (const one of restored.leftOut) printError(`cairn: was not in this backup: ${one}`);
    return printResult(options, jsonOf(restored, output), () => sentenceOf(restored, output));
  } finally {
    for (const bar of bars) bar.close();
  }
}

/** A repository that was pushed under two names has two newest backups: the other one may be meant. */
function tellNewer({ repository_label: name, commit_sha: commit, uploaded_at: at }: MirrorBlob): void {
  const named = name == null ? `--commit ${commit}` : `--repository ${quoted(name)}`;
  tellUser(`the same repository has a newer backup under another name, of ${at}; restore that one with ${named}.`);
}

async function pullRaw(options: Options, hub: MirrorHub, blob: MirrorBlob, output: string): Promise<number> {
  refuseTaken(output);
  const bar = openProgress('downloading');
  try {
    await besideItsPlace(output, tellUser, async (staging) => {
      await hub.download(blob, staging, (done, total) => bar.update(done, total));
      flushPath(staging);
      refuseTaken(output);
      renameSync(staging, output);
      flushPath(dirname(output));
    });
  } finally {
    bar.close();
  }
  const { commit_sha, sha256, byte_size } = blob;
  return printResult(
    options,
    { commit_sha, sha256, byte_size, output },
    () => `Saved the encrypted archive of ${commit_sha} as ${output}`,
  );
}

function refuseTaken(file: string): void {
  if (existsSync(file)) throw new ClientError(`${file} exists already; name a new file with --output.`);
}

/** The archives that the options mean, newest first. */
async function chosen(
  options: Options,
  all: readonly MirrorBlob[],
  commit: string | undefined,
): Promise<readonly MirrorBlob[]> {
  const wanted = options.optional('repository');
  if (commit !== undefined && wanted === undefined) {
    const found = all.filter(({ commit_sha }) => commit_sha === commit);
    if (found.length === 0)
      throw new ClientError(`there is no backup of commit ${commit}; see \`cairn backups list\`.`);
    return found;
  }
  const groups = groupByRepository(all);
  const group = wanted === undefined ? groupHere(groups, await here(all)) : namedGroup(groups, wanted);
  return commit === undefined ? group.blobs : group.blobs.filter(({ commit_sha }) => commit_sha === commit);
}

/** The repository of the current folder, with the commits of old archives that it has. */
async function here(all: readonly MirrorBlob[]) {
  const repository = await repositoryHere('.');
  if (repository === undefined) return undefined;
  const old = all.filter((blob) => (blob.repository_id ?? null) === null).map(({ commit_sha }) => commit_sha);
  const { stdout } = await git('.', ['cat-file', '--batch-check'], {
    input: `${old.join('\n')}\n`,
    refusal: 'git cat-file failed.',
  });
  const known = new Set(stdout.toString('latin1').match(/^[0-9a-f]{40}(?= commit )/gm));
  return { id: repository.id, label: repository.label, hasCommit: (one: string) => known.has(one) };
}

/** The commit of a backup, named by its id, the beginning of it, or a ref of the repository here. Throws ClientError. */
async function commitNamed(given: string | undefined, all: readonly MirrorBlob[]): Promise<string | undefined> {
  if (given === undefined) return undefined;
  const [found, ...others] = commitsOf(all, given);
  if (found !== undefined && others.length === 0) return found;
  if (found !== undefined) {
    throw new ClientError(
      `several backups have a commit ${given}: ${[found, ...others].join(', ')}; write more of the id.`,
    );
  }
  const ofRef = await commitOfRef('.', given);
  if (ofRef !== undefined) return ofRef;
  throw new ClientError(`there is no backup of commit ${given}; see \`cairn backups list\`.`);
}

function jsonOf({ blob, ...restored }: PulledBackup, output: string) {
  return {
    commit_sha: restored.commit,
    sha256: blob.sha256,
    byte_size: restored.bytes,
    output,
    kind: restored.kind,
    archives: restored.archives,
    refs: restored.refs,
    fsck_flaws: restored.flaws,
    made_at: restored.madeAt,
    repository_id: blob.repository_id ?? null,
    repository_label: blob.repository_label ?? null,
    left_out: restored.leftOut,
  };
}

function sentenceOf({ kind, commit, refs, archives, flaws, blob }: PulledBackup, output: string): string {
  const of = blob.repository_label == null ? '' : ` of ${blob.repository_label}`;
  if (kind === 'tree') return `Restored the files of commit ${commit}${of} into ${output}`;
  const noted = flaws === 0 ? '' : `; git fsck notes ${countWithNoun(flaws, 'format error')} in the history itself`;
  return `Restored commit ${commit}${of} with ${countWithNoun(refs, 'ref')} from ${countWithNoun(archives, 'archive')} into ${output}; checked with git fsck --strict${noted}`;
}
