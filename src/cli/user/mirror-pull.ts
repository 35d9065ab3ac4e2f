/**
 * cairn mirror pull: downloads, verifies and decrypts a commit and unpacks it into a new folder. Overwrites nothing.
 */

import { existsSync, writeFileSync } from 'node:fs';
import { ClientError } from '../../client/client-error.ts';
import { decrypt } from '../../client/mirror/age.ts';
import { commitOf, refuseFilled, unpack } from '../../client/mirror/archive.ts';
import { openProgress } from '../../client/progress.ts';
import { jsonLine } from '../../client/shown.ts';
import type { Options } from '../command.ts';
import { print } from '../output.ts';
import { UsageError } from '../usage-error.ts';
import { type MirrorAccess, openMirror, unlockOf } from './mirror-access.ts';

export async function pullMirror(options: Options): Promise<number> {
  const access = openMirror(options.optional('server'));
  const isRaw = options.flag('encrypted');
  // Checked before the download: an invalid option should not cost minutes.
  const unlock = isRaw ? undefined : unlockOf(options, access.entry);
  const commit = await commitOfOption(access, options.optional('commit'));
  const output = options.optional('output') ?? `cairn-${commit.slice(0, 12)}${isRaw ? '.age' : ''}`;
  if (unlock !== undefined) refuseFilled(output);
  else if (existsSync(output)) throw new ClientError(`${output} exists already; name a new file with --output.`);
  const { bytes, sha256 } = await download(access, commit);
  if (unlock === undefined) {
    writeFileSync(output, bytes, { flag: 'wx', mode: 0o600 });
  } else {
    const archive = Buffer.from(await decrypt(bytes, unlock));
    const packed = commitOf(archive);
    if (packed !== undefined && packed !== commit) {
      throw new ClientError(`the archive contains commit ${packed}, not ${commit}. Nothing was unpacked.`);
    }
    await unpack(archive, output);
  }
  if (options.json) print(jsonLine({ commit_sha: commit, sha256, byte_size: bytes.length, output }));
  else print(`Restored commit ${commit} into ${output}`);
  return 0;
}

async function commitOfOption({ hub, server }: MirrorAccess, commit: string | undefined): Promise<string> {
  if (commit !== undefined) {
    if (!/^[0-9a-f]{40}$/.test(commit)) throw new UsageError('--commit must be 40 lower-case hex characters');
    return commit;
  }
  const latest = await hub.latest();
  if (latest === undefined) {
    throw new ClientError(`there is no backup on ${server} yet. Make one with \`cairn mirror push\` in a repository.`);
  }
  return latest.commit_sha;
}

async function download({ hub }: MirrorAccess, commit: string) {
  const bar = openProgress('downloading');
  try {
    return await hub.download(commit, (done, total) => bar.update(done, total));
  } finally {
    bar.close();
  }
}
