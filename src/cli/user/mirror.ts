/** cairn mirror: init, push, list, latest, pull. Uploads a repository's commit encrypted and verifies downloads. */

import { existsSync, writeFileSync } from 'node:fs';
import { ClientError } from '../../client/client-error.ts';
import { decrypt, encrypt } from '../../client/mirror/age.ts';
import { commitOf, hasUncommitted, headCommit, packCommit, refuseFilled, unpack } from '../../client/mirror/archive.ts';
import type { MirrorBlob } from '../../client/mirror/hub.ts';
import { formatBytes, openProgress } from '../../client/progress.ts';
import { jsonLine } from '../../client/shown.ts';
import { limits } from '../../limits/service.ts';
import { type Command, type Options, takes } from '../command.ts';
import { print, printError } from '../output.ts';
import { UsageError } from '../usage-error.ts';
import { lockOf, type MirrorAccess, openMirror, unlockOf } from './mirror-access.ts';
import { initMirror } from './mirror-init.ts';

const SERVER = takes('server', 'URL');
const PASSPHRASE = takes('passphrase-file', 'FILE');

export const mirrorCommands: readonly Command[] = [
  {
    name: 'mirror init',
    summary: 'create the mirror credential of this machine and an encryption key',
    options: [takes('recipient', 'AGE,…'), SERVER],
    flags: ['rotate'],
    explains: {
      recipient: 'age recipients to encrypt for, in place of a new key of this machine',
      rotate: 'replace the credential; earlier archives need another push before they can be downloaded',
    },
    examples: ['cairn mirror init', 'cairn mirror init --recipient age1…'],
    run: initMirror,
  },
  {
    name: 'mirror push',
    summary: 'pack, encrypt, sign and upload the HEAD commit',
    options: [takes('repository', 'DIR'), takes('recipient', 'AGE,…'), PASSPHRASE, takes('label', 'TEXT'), SERVER],
    flags: ['again'],
    explains: {
      repository: 'git repository to back up; default: the current folder',
      recipient: 'age recipients to encrypt for; default: those of mirror init',
      'passphrase-file': 'encrypt with the first line of this file instead',
      label: 'label in the list; default: the host name',
      again: 'upload the commit even if the hub has it',
    },
    examples: ['cairn mirror push --repository ~/certificates', 'cairn mirror push --recipient age1… --label ci'],
    run: pushMirror,
  },
  {
    name: 'mirror list',
    summary: 'list the backups on the hub, newest first',
    options: [takes('limit', 'N'), SERVER],
    examples: ['cairn mirror list --limit 5'],
    run: list,
  },
  {
    name: 'mirror latest',
    summary: 'show the newest backup; exit code 1 when there is none',
    options: [SERVER],
    examples: ['cairn mirror latest --json'],
    run: latest,
  },
  {
    name: 'mirror pull',
    summary: 'download the newest backup or one commit, check and decrypt it, unpack it into a new folder',
    options: [takes('commit', 'SHA'), takes('output', 'DIR'), takes('identity', 'FILE'), PASSPHRASE, SERVER],
    flags: ['encrypted'],
    explains: {
      commit: 'commit to download; default: the newest upload',
      output: 'new or empty folder for the files, or a new file with --encrypted; default: cairn- and the commit',
      identity: 'age identity to decrypt with; default: that of mirror init',
      'passphrase-file': 'decrypt with the first line of this file instead',
      encrypted: 'save the archive as it is, without decrypting it',
    },
    examples: ['cairn mirror pull --output restored', 'cairn mirror pull --encrypted --output backup.age'],
    run: pullMirror,
  },
];

async function list(options: Options): Promise<number> {
  const { hub } = openMirror(options.optional('server'));
  const blobs = await hub.list(readCount(options.optional('limit')));
  if (options.json) print(jsonLine({ blobs }));
  else if (blobs.length === 0) print('Nothing is mirrored yet; run `cairn mirror push` in a repository.');
  else for (const blob of blobs) print(blobLine(blob));
  return 0;
}

async function latest(options: Options): Promise<number> {
  const { hub } = openMirror(options.optional('server'));
  const blob = await hub.latest();
  if (options.json) print(jsonLine({ latest: blob ?? null }));
  else print(blob === undefined ? 'Nothing is mirrored yet; run `cairn mirror push` in a repository.' : blobLine(blob));
  // A job monitoring its backups should fail when none exists.
  return blob === undefined ? 1 : 0;
}

function blobLine({ commit_sha, uploaded_at, byte_size, uploaded_by, quarantined }: MirrorBlob): string {
  const state = quarantined === true ? 'damaged: push it again' : '';
  return [commit_sha, uploaded_at, formatBytes(byte_size).padStart(10), uploaded_by ?? '', state].join('  ').trimEnd();
}

function readCount(text: string | undefined): number {
  const count = text === undefined ? limits.clientListDefault : Number(text);
  if (!Number.isInteger(count) || count < 1 || count > limits.blobPageMax) {
    throw new UsageError(`--limit must be a whole number from 1 to ${limits.blobPageMax}`);
  }
  return count;
}

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
