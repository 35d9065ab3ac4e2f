/** The commands of backups: cairn backups init, push, list, latest, pull, drill, rewrap, prune, uploader. */
import { type Command, takes } from '../../command.ts';
import { drillBackups } from './drill.ts';
import { initMirror } from './init.ts';
import { latestBackup, listBackups } from './list.ts';
import { pruneBackups } from './prune.ts';
import { pullMirror } from './pull.ts';
import { pushMirror } from './push.ts';
import { rewrapBackups } from './rewrap.ts';
import { endUploader, makeRestorer, makeUploader, printUploaders } from './uploaders.ts';

const SERVER = takes('server', 'URL');
const PASSPHRASE = takes('passphrase-file', 'FILE');
const RECIPIENTS = [takes('recipient', 'AGE,…'), takes('recipients-file', 'FILE')];
const KEEPS = ['keep-last', 'keep-daily', 'keep-weekly', 'keep-monthly'];
const LIMITS = [takes('max-size', 'SIZE'), takes('max-files', 'N')];
const EXPLAINED_UNLOCK = {
  identity: 'age identity to decrypt with, - for standard input; default: that of backups init',
  'passphrase-file': 'decrypt archives that have a passphrase, also those of openssl, with the first line of this file',
};

const EXPLAINED_LIMITS = {
  'max-size': 'stop above this size of the restored files, like 40G; default: 16G',
  'max-files': 'stop above this number of files; default: 2000000',
};

export const mirrorCommands: readonly Command[] = [
  {
    name: 'backups init',
    summary: 'let this machine upload backups, and create an encryption key',
    options: [takes('identity', 'FILE'), ...RECIPIENTS, SERVER],
    flags: ['rotate', 'new-key'],
    explains: {
      identity: 'key file to go on with, such as the one that you kept; default: a new key',
      recipient: 'age recipients to encrypt for, in place of a new key of this machine',
      'recipients-file': 'file of age recipients, one per line',
      'new-key':
        'encrypt for a new key, where the key file of this machine is lost; earlier backups need the former one',
      rotate: 'replace the credential: downloads all archives first and sends them again, so that all stay readable',
    },
    examples: [
      'cairn backups init',
      'cairn backups init --recipient age1…',
      'cairn backups init --rotate --identity identity.txt',
    ],
    run: initMirror,
  },
  {
    name: 'backups push',
    summary: 'back up a git repository: all its refs, encrypted, as an increment on the newest backup',
    options: [
      takes('repository', 'DIR'),
      takes('refs', 'PATTERN,…'),
      ...RECIPIENTS,
      PASSPHRASE,
      takes('name', 'TEXT'),
      takes('label', 'TEXT'),
      SERVER,
    ],
    flags: ['lfs', 'submodules', 'tree', 'again'],
    explains: {
      repository: 'git repository to back up; default: the current folder',
      refs: 'refs to back up, as patterns of git for-each-ref; default: all',
      recipient: 'age recipients to encrypt for; default: those of backups init',
      'recipients-file': 'file of age recipients, one per line',
      'passphrase-file': 'encrypt with the first line of this file instead; each backup is then a full one',
      name: 'name of the repository in the list; default: that of its remote, else of its folder',
      label: 'who uploads, in the list; default: the host name',
      lfs: 'include Git LFS objects',
      submodules: 'include submodules with their history',
      tree: 'back up only the files of the HEAD commit, as `git archive` packs them',
      again: 'make a full backup even if nothing changed',
    },
    examples: [
      'cairn backups push --repository ~/certificates',
      'cairn backups push --lfs --recipients-file backup-keys',
    ],
    run: pushMirror,
  },
  {
    name: 'backups list',
    summary: 'list the backups on the hub by repository, newest first',
    options: [takes('limit', 'N'), takes('repository', 'NAME'), SERVER],
    explains: { repository: 'only this repository: its name, the beginning of its id, or unknown' },
    examples: ['cairn backups list --limit 5'],
    run: listBackups,
  },
  {
    name: 'backups latest',
    summary: 'show the newest backup; exit code 1 when there is none',
    options: [takes('repository', 'NAME'), SERVER],
    explains: { repository: 'only this repository: its name, the beginning of its id, or unknown' },
    examples: ['cairn backups latest --json'],
    run: latestBackup,
  },
  {
    name: 'backups pull',
    summary: "restore this repository's newest backup, or another one, into a new folder and check it",
    options: [
      takes('repository', 'NAME'),
      takes('commit', 'COMMIT'),
      takes('output', 'DIR'),
      takes('identity', 'FILE'),
      PASSPHRASE,
      ...LIMITS,
      SERVER,
    ],
    flags: ['encrypted'],
    explains: {
      repository:
        'repository to restore: its name, the beginning of its id, or unknown; default: that of the current folder',
      commit:
        'restore the backup made at this commit: its id, the beginning of it, or a ref of the repository here; default: the newest backup',
      output: 'new or empty folder for the files, or a new file with --encrypted; default: cairn- and the commit',
      ...EXPLAINED_UNLOCK,
      encrypted: 'save one archive as it is, without decrypting it',
      ...EXPLAINED_LIMITS,
    },
    examples: [
      'cairn backups pull --output restored',
      'cairn backups pull --repository website --identity identity.txt',
    ],
    run: pullMirror,
  },
  {
    name: 'backups drill',
    summary: 'restore the newest backup of each repository into a temporary folder, check it, and record the result',
    options: [takes('repository', 'NAME'), takes('identity', 'FILE'), PASSPHRASE, ...LIMITS, SERVER],
    explains: {
      repository: 'only this repository: its name, the beginning of its id, or unknown',
      ...EXPLAINED_UNLOCK,
      ...EXPLAINED_LIMITS,
    },
    examples: ['cairn backups drill', 'cairn backups drill --repository website'],
    run: drillBackups,
  },
  {
    name: 'backups rewrap',
    summary: 'encrypt the newest backup of each repository for other recipients, beside the old one',
    options: [
      takes('repository', 'NAME'),
      ...RECIPIENTS,
      takes('identity', 'FILE'),
      takes('label', 'TEXT'),
      ...LIMITS,
      SERVER,
    ],
    explains: {
      repository: 'only this repository: its name, the beginning of its id, or unknown',
      recipient: 'age recipients to encrypt for; default: those of backups init',
      'recipients-file': 'file of age recipients, one per line',
      identity: 'age identity that decrypts the backups so far; default: that of backups init',
      label: 'who uploads, in the list; default: the host name',
      ...EXPLAINED_LIMITS,
    },
    examples: ['cairn backups rewrap --recipients-file backup-keys --identity old-identity.txt'],
    run: rewrapBackups,
  },
  {
    name: 'backups prune',
    summary: 'remove earlier backups by rules; a backup that stays keeps everything that its restore needs',
    options: [takes('repository', 'NAME'), ...KEEPS.map((name) => takes(name, 'N')), SERVER],
    flags: ['dry-run'],
    explains: {
      repository: 'only this repository: its name or the beginning of its id',
      'keep-last': 'keep the N newest backups of each repository',
      'keep-daily': 'keep the newest backup of each of the last N days that have one (UTC)',
      'keep-weekly': 'keep the newest of each of the last N weeks',
      'keep-monthly': 'keep the newest of each of the last N months',
      'dry-run': 'only print what would be removed',
    },
    examples: [
      'cairn backups prune --keep-last 10 --keep-daily 14 --keep-monthly 24 --dry-run',
      'cairn backups prune --repository website --keep-daily 30',
    ],
    run: pruneBackups,
  },
  {
    name: 'backups uploaders',
    summary: 'list the credentials of CI jobs, which only upload or only download',
    options: [SERVER],
    examples: ['cairn backups uploaders'],
    run: printUploaders,
  },
  {
    name: 'backups uploader-create',
    summary: 'make a credential for a CI job that backs up, and print its variables',
    operands: ['NAME'],
    options: [SERVER],
    examples: ['cairn backups uploader-create github-actions'],
    run: makeUploader,
  },
  {
    name: 'backups restorer-create',
    summary: 'make a credential for a CI job that restores, and print its variables',
    operands: ['NAME'],
    options: [SERVER],
    examples: ['cairn backups restorer-create deploy'],
    run: makeRestorer,
  },
  {
    name: 'backups uploader-revoke',
    summary: 'end the credential of a CI job; all backups stay readable',
    operands: ['ID'],
    options: [SERVER],
    examples: ['cairn backups uploader-revoke mu_0f1e2d3c4b5a6978'],
    run: endUploader,
  },
];
