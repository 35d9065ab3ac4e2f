/** cairn mirror push: packs, encrypts, signs and uploads the HEAD commit of the repository. */

import { encrypt } from '../../client/mirror/age.ts';
import { hasUncommitted, headCommit, packCommit } from '../../client/mirror/archive.ts';
import { formatBytes, openProgress } from '../../client/progress.ts';
import { jsonLine } from '../../client/shown.ts';
import type { Options } from '../command.ts';
import { print, printError } from '../output.ts';
import { lockOf, openMirror } from './mirror-access.ts';

export async function pushMirror(options: Options): Promise<number> {
  const { server, hub, entry } = openMirror(options.optional('server'));
  const lock = lockOf(options, entry);
  const repository = options.optional('repository') ?? '.';
  const commit = await headCommit(repository);
  if (await hasUncommitted(repository)) {
    printError('cairn: there are uncommitted changes; they are not in the archive.');
  }
  if (!options.flag('again') && (await hub.has(commit))) {
    print(options.json ? jsonLine({ status: 'existing', commit_sha: commit }) : `${commit} is already mirrored.`);
    return 0;
  }
  const sealed = await encrypt(await packCommit(repository, commit), lock);
  const bar = openProgress('uploading');
  try {
    const blob = await hub.upload(commit, sealed, options.optional('label'), (done, total) => bar.update(done, total));
    bar.close();
    if (options.json) print(jsonLine({ status: 'stored', ...blob }));
    else print(`Uploaded commit ${commit} to ${server}: ${formatBytes(blob.byte_size)}, sha256 ${blob.sha256}`);
  } finally {
    bar.close();
  }
  return 0;
}
