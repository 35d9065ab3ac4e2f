/** Restores the repositories of submodules below the git folder, where `git submodule update` finds them. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { backupExit } from '../exit-codes.ts';
import type { SubmoduleRecord } from '../manifest.ts';
import type { MemberFile } from '../member-files.ts';
import { addBundle, checkObjects, readRefs, writeRefs } from './bundle.ts';
import { git, type ProgramOptions } from './run-git.ts';

/** Adds the bundles of submodules. Throws ClientError. */
export async function addSubmodules(
  gitFolder: string,
  submodules: readonly SubmoduleRecord[],
  members: readonly MemberFile[],
): Promise<void> {
  for (const { git_path, shallow, member } of submodules) {
    const place = join(gitFolder, git_path);
    const options = optionsFor(git_path);
    if (!existsSync(join(place, 'HEAD'))) {
      mkdirSync(place, { recursive: true });
      await git(place, ['init', '--quiet', '--bare', '--template=', '.'], options);
      await git(place, ['config', 'core.bare', 'false'], options);
    }
    if (shallow.length > 0) writeFileSync(join(place, 'shallow'), `${shallow.join('\n')}\n`);
    const bundle = members.find(({ name }) => name === member);
    if (bundle !== undefined) await addBundle(place, bundle.file);
  }
}

/** Sets the refs of submodules and checks them. Throws ClientError. */
export async function finishSubmodules(gitFolder: string, submodules: readonly SubmoduleRecord[]): Promise<void> {
  for (const { git_path, head, refs } of submodules) {
    const place = join(gitFolder, git_path);
    const options = optionsFor(git_path);
    await writeRefs(place, await readRefs(place, []), refs);
    await git(place, ['update-ref', '--no-deref', 'HEAD', head], options);
    await checkObjects(place);
  }
}

function optionsFor(gitPath: string): ProgramOptions {
  return { refusal: `git cannot restore the submodule ${gitPath}.`, exitCode: backupExit.damaged };
}
