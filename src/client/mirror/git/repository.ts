/** What a folder's git repository is: its commit, its id and its name. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ClientError } from '../../client-error.ts';
import { type KnownLine, readKnownLine, readKnownName } from './last-push.ts';
import { repositoryId, repositoryLabel } from './repository-id.ts';
import { git, gitText } from './run-git.ts';

export interface Repository {
  readonly folder: string;
  /** The git folder shared by all working trees, absolute. */
  readonly gitFolder: string;
  readonly isBare: boolean;
  /** Commit of HEAD: 40 lower-case hex digits. */
  readonly commit: string;
  /** The root commit on the first-parent line of HEAD; empty: a shallow clone does not know it. */
  readonly roots: readonly string[];
  /** Commits at which the history of a shallow clone ends; empty: the history is complete. */
  readonly shallow: readonly string[];
  /** 64 lower-case hex digits, the same in every clone. */
  readonly id: string;
  /** Name of the remote's repository, else the one of its backups so far, else of the folder. */
  readonly label: string;
  /** True when only the folder gave the name: another folder may be called otherwise. */
  readonly isFolderName: boolean;
}

/**
 * Opens the repository of a folder. Its id is the SHA-256 of the root commit on the first-parent line of HEAD, so that
 * other roots (notes, `gh-pages`, merged histories) do not change it. A shallow clone does not know its root: its id is
 * derived from the address of its remote. Throws ClientError when the folder is not a repository with a commit.
 */
export async function openRepository(folder: string): Promise<Repository> {
  const refusal = `${folder} is not a git repository with a commit; name one with --repository.`;
  const asked = ['rev-parse', '--is-bare-repository', '--git-common-dir', '--verify', 'HEAD^{commit}'];
  const [bare, ...words] = (await gitText(folder, asked, { refusal })).split('\n');
  const commit = words.pop() ?? '';
  if (!/^[0-9a-f]{40}$/.test(commit)) {
    throw new ClientError(`${folder} is a SHA-256 repository. Backups support SHA-1 repositories only.`);
  }
  const gitFolder = resolve(folder, words.join('\n'));
  const isBare = bare === 'true';
  const shallow = shallowIn(gitFolder);
  const [remote, roots] = await Promise.all([
    remoteOf(folder),
    shallow.length > 0 ? [] : rootsOf(folder, commit, readKnownLine(gitFolder)),
  ]);
  const known = remote === undefined ? readKnownName(gitFolder) : undefined;
  return {
    folder,
    gitFolder,
    isBare,
    commit,
    roots,
    shallow,
    id: repositoryId(roots, shallow, remote),
    label: known ?? repositoryLabel(remote, remote === undefined ? await topOf(folder, gitFolder) : gitFolder),
    isFolderName: remote === undefined && known === undefined,
  };
}

/**
 * The root of the first-parent line of a commit. A long history takes git a while, so the line that is known from an
 * earlier push is followed no further than its tip.
 */
async function rootsOf(folder: string, commit: string, known: KnownLine | undefined): Promise<readonly string[]> {
  if (known?.commit === commit) return known.roots;
  const refusal = `git rev-list failed in ${folder}.`;
  if (known !== undefined) {
    const line = ['rev-list', '--first-parent', '--topo-order', '--parents', commit, `^${known.commit}`];
    // The known commit may be gone: git's garbage collection removes what no ref reaches.
    const { code, stdout } = await git(folder, line, { refusal, accepts: [128] });
    const [, parent] = stdout.toString('latin1').trim().split('\n').at(-1)?.split(' ') ?? [];
    if (code === 0 && parent === known.commit) return known.roots;
  }
  const whole = ['rev-list', '--max-parents=0', '--first-parent', commit];
  return (await gitText(folder, whole, { refusal })).split('\n').toSorted();
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
export async function hasUncommitted({ folder, isBare }: Repository): Promise<boolean> {
  if (isBare) return false;
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
