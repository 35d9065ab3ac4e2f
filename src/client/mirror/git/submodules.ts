/** Bundles the submodules of a repository, nested ones too. */
import { join, relative, sep } from 'node:path';
import type { SubmoduleRecord } from '../manifest.ts';
import { createBundle, readRefs } from './bundle.ts';
import { type Repository, shallowIn } from './repository.ts';
import { git, gitText } from './run-git.ts';

/** Objects of an earlier backup, by git path of the submodule. */
export type SubmoduleTips = Readonly<Record<string, readonly string[]>>;

export interface PackedSubmodules {
  readonly records: SubmoduleRecord[];
  readonly files: readonly { readonly name: string; readonly file: string }[];
  readonly leftOut: readonly string[];
}

const REFUSAL = 'git submodule failed; run `git submodule status` to see why.';

/** Sentences about the submodules that a backup without them leaves out. */
export async function submodulesLeftOut({ folder }: Repository): Promise<readonly string[]> {
  const args = ['config', '--blob', 'HEAD:.gitmodules', '--get-regexp', String.raw`^submodule\..*\.path$`];
  const text = await gitText(folder, args, { refusal: REFUSAL, accepts: [1, 128] });
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => `submodule ${line.slice(line.indexOf(' ') + 1)}; add --submodules`);
}

/** Bundles each initialized submodule, without what the tips reach. */
export async function packSubmodules(
  repository: Repository,
  work: string,
  tips: SubmoduleTips,
): Promise<PackedSubmodules> {
  const top = await gitText(repository.folder, ['rev-parse', '--show-toplevel'], { refusal: REFUSAL });
  const status = await gitText(top, ['submodule', 'status', '--recursive'], { refusal: REFUSAL });
  const leftOut = status
    .split('\n')
    .filter((line) => line.startsWith('-'))
    .map(
      (line) =>
        `submodule ${line.slice(42)}, which is not initialized here; run \`git submodule update --init --recursive\``,
    );
  const say = String.raw`printf "%s\0%s\0%s\0" "$displaypath" "$(git rev-parse --absolute-git-dir)" "$(git rev-parse HEAD)"`;
  const { stdout } = await git(top, ['submodule', '--quiet', 'foreach', '--recursive', say], { refusal: REFUSAL });
  const words = stdout.toString('utf8').split('\0');
  const records: SubmoduleRecord[] = [];
  const files: { name: string; file: string }[] = [];
  for (let at = 0; at + 2 < words.length; at += 3) {
    const [path = '', gitDir = '', head = ''] = words.slice(at, at + 3);
    const folder = join(top, path);
    const own = relative(repository.gitFolder, gitDir).split(sep).join('/');
    const git_path = own.startsWith('modules/') ? own : `modules/${path}`;
    const refs = [...(await readRefs(folder, []))];
    const name = `submodule-${records.length}.bundle`;
    const file = join(work, name);
    const isMade = await createBundle(folder, file, [...refs.map(([one]) => one), 'HEAD'], tips[git_path] ?? []);
    if (isMade) files.push({ name, file });
    records.push({ path, git_path, head, refs, shallow: shallowIn(gitDir), member: isMade ? name : null });
  }
  return { records, files, leftOut };
}
