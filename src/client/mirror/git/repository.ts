/** What a folder's git repository is: its commit, its id and its name. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ClientError } from '../../client-error.ts';
import { repositoryId, repositoryLabel } from './repository-id.ts';
import { git, gitText } from './run-git.ts';

export interface Repository {
  readonly folder: string;
  /** The git folder shared by all working trees, absolute. */
  readonly gitFolder: string;
  /** Commit of HEAD: 40 lower-case hex digits. */
  readonly commit: string;
  /** Commits at which the history of a shallow clone ends; empty: the history is complete. */
  readonly shallow: readonly string[];
  /** 64 lower-case hex digits, the same in every clone. */
  readonly id: string;
  /** Name of the remote's repository, else of the folder. */
  readonly label: string;
}

/**
 * Opens the repository of a folder. Its id is the SHA-256 of the root commit on the first-parent line of HEAD, so that
 * other roots (notes, `gh-pages`, merged histories) do not change it. A shallow clone does not know its root: its id is
 * derived from the address of its remote. Throws ClientError when the folder is not a repository with a commit.
 */
export async function openRepository(folder: string): Promise<Repository> {
  const refusal = `${folder} is not a git repository with a commit; name one with --repository.`;
  const commit = await gitText(folder, ['rev-parse', '--verify', 'HEAD^{commit}'], { refusal });
  if (!/^[0-9a-f]{40}$/.test(commit)) {
    throw new ClientError(`${folder} is a SHA-256 repository. Backups support SHA-1 repositories only.`);
  }
  const gitFolder = resolve(folder, await gitText(folder, ['rev-parse', '--git-common-dir'], { refusal }));
  const shallow = shallowIn(gitFolder);
  const remote = await remoteOf(folder);
  const bounds = ['rev-list', '--max-parents=0', '--first-parent', 'HEAD'];
  const roots = shallow.length > 0 ? [] : (await gitText(folder, bounds, { refusal })).split('\n').toSorted();
  return {
    folder,
    gitFolder,
    commit,
    shallow,
    id: repositoryId(roots, shallow, remote),
    label: repositoryLabel(remote, await topOf(folder, gitFolder)),
  };
}

/** The repository of a folder; undefined when the folder has none, or one without a commit. */
export async function repositoryHere(folder: string): Promise<Repository | undefined> {
  const found = await git(folder, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], {
    refusal: '',
    accepts: [1, 128],
  });
  return found.code === 0 ? await openRepository(folder) : undefined;
}

/** The commit that a ref, a tag or the beginning of an id names in the repository of a folder; undefined without one, or without git. */
export async function commitOfRef(folder: string, ref: string): Promise<string | undefined> {
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`];
  try {
    const { code, stdout } = await git(folder, args, { refusal: '', accepts: [1, 128] });
    return code === 0 ? stdout.toString('latin1').trim() : undefined;
  } catch (error) {
    if (error instanceof ClientError) return undefined;
    throw error;
  }
}

/** True when tracked files differ from HEAD. A backup of HEAD does not contain those changes. */
export async function hasUncommitted({ folder }: Repository): Promise<boolean> {
  const bare = await gitText(folder, ['rev-parse', '--is-bare-repository'], { refusal: 'git rev-parse failed.' });
  if (bare === 'true') return false;
  const { stdout } = await git(folder, ['status', '--porcelain', '--untracked-files=no'], {
    refusal: `git status failed in ${folder}.`,
  });
  return stdout.length > 0;
}

/** Commits at which the history of a shallow clone ends; empty: it is complete. */
export function shallowIn(gitFolder: string): string[] {
  try {
    return readFileSync(join(gitFolder, 'shallow'), 'latin1').trim().split('\n');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Address of `origin`, else of the first remote; undefined: there is none. */
async function remoteOf(folder: string): Promise<string | undefined> {
  const options = { refusal: `git config failed in ${folder}.`, accepts: [1] };
  const lines = (await gitText(folder, ['config', '--get-regexp', String.raw`^remote\..*\.url$`], options)).split('\n');
  const line = lines.find((one) => one.startsWith('remote.origin.url ')) ?? lines[0] ?? '';
  return line === '' ? undefined : line.slice(line.indexOf(' ') + 1);
}

/** The top folder of the working tree; of a bare repository its own. */
async function topOf(folder: string, gitFolder: string): Promise<string> {
  const options = { refusal: `git rev-parse failed in ${folder}.`, accepts: [128] };
  return (await gitText(folder, ['rev-parse', '--show-toplevel'], options)) || gitFolder;
}
