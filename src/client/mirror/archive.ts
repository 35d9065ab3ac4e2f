/** Packs the tree of one commit as a gzipped tar with git. */

import type { Repository } from './git/repository.ts';
import { git } from './git/run-git.ts';

/** The files of HEAD as tar.gz. git records the commit id in it. Throws ClientError. */
export async function packTree({ folder, commit }: Repository): Promise<Buffer> {
  const { stdout } = await git(folder, ['archive', '--format=tar.gz', commit], {
    refusal: `git archive failed in ${folder}; run it by hand to see why.`,
  });
  return stdout;
}
