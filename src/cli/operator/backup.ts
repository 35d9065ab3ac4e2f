/** cairn backup and cairn restore: takes a snapshot of the whole hub, also while the service runs, and restores one. */

import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { jsonLine } from '../../client/shown.ts';
import { StartError } from '../../common/start-error.ts';
import { storeEnvironment } from '../../config.ts';
import { noteDone } from '../../ops/marks.ts';
import type { CopyManifest } from '../../store/copies/manifest.ts';
import { KEY_FILE } from '../../store/data-file/names.ts';
import { openSealer } from '../../store/sealing/own-key.ts';
import type { KeepRules } from '../../time/retention.ts';
import { type Command, type Options, takes } from '../command.ts';
import { readTime, TIME_FORMS } from '../dates/when.ts';
import { print, printError, table } from '../output.ts';
import { UsageError } from '../usage-error.ts';
import { openForReading } from './read-only.ts';
import { operatorConfig } from './settings.ts';

const KEEPS = ['keep', 'keep-last', 'keep-daily', 'keep-weekly', 'keep-monthly'] as const;

/** Commands of `cairn backups`, which are easily typed without the s. */
const BACKUPS_WORDS = new Set(['init', 'push', 'pull', 'list', 'latest', 'drill', 'rewrap', 'prune', 'uploaders']);

/** What people overlook after a restore: keys of lost devices. */
const AS_IT_WAS =
  'The data is as it was then: what was revoked or changed since is valid again ("After a restore" in the manual, operating.md).';

export const backupCommand: Command = {
  name: 'backup',
  summary: 'copy everything while the service runs, and verify the copy',
  operands: ['DIR'],
  flags: ['with-key'],
  options: [takes('since', 'DIR'), ...KEEPS.map((name) => takes(name, 'N'))],
  explains: {
    since: 'write only blocks that differ from this backup, which must be in the same folder',
    keep: 'then remove all but the N newest backups of this hub in that folder, and those that they are based on',
    'keep-last': 'the same as --keep',
    'keep-daily': 'also keep the newest backup of each of the last N days that have one (UTC)',
    'keep-weekly': 'also keep the newest of each of the last N weeks',
    'keep-monthly': 'also keep the newest of each of the last N months',
  },
  examples: [
    'cairn backup /mnt/backups/monday',
    'cairn backup --since /mnt/backups/monday /mnt/backups/tuesday',
    'cairn backup --keep 7 /mnt/backups/tuesday',
    'cairn backup --keep-daily 7 --keep-weekly 5 --keep-monthly 12 /mnt/backups/tuesday',
  ],
  run: backup,
};

export const restoreCommand: Command = {
  name: 'restore',
  summary: 'put a backup into an empty CAIRN_DATA',
  operands: ['DIR'],
  flags: ['into-log'],
  options: [takes('at', 'TIME')],
  explains: {
    'into-log':
      'let the log go on with the restored hub: start it with the same CAIRN_LOG, and the other members join it again. Stop all members first',
    at: `DIR is a folder of backups: restore the newest made at this time or before; now: the newest. DIR is the URL of a log (s3://, file://, postgres://): restore the state at this time. Write ${TIME_FORMS}`,
  },
  examples: [
    'CAIRN_DATA=/srv/cairn cairn restore /mnt/backups/monday',
    'CAIRN_DATA=/srv/cairn cairn restore --at 2026-03-01T12:00:00Z /mnt/backups',
    'CAIRN_DATA=/srv/cairn cairn restore --at now /mnt/following',
    'CAIRN_DATA=/srv/cairn cairn restore --at 2026-03-01T12:00:00Z s3://bucket/prefix',
    'CAIRN_DATA=/srv/cairn cairn restore --into-log --at 2026-03-01T12:00:00Z s3://bucket/prefix',
  ],
  run: restore,
};

async function backup(options: Options): Promise<number> {
  const folder = options.operand() ?? '';
  if (BACKUPS_WORDS.has(folder) && !existsSync(folder)) {
    throw new UsageError(
      `did you mean \`cairn backups ${folder}\`, for git repositories? To copy the hub into a folder of this name, pass ./${folder}`,
    );
  }
  const config = operatorConfig();
  const { dataFolder, masterKey, mapBytes } = config;
  const withKey = options.flag('with-key');
  const keep = retentionOf(options);
  if (withKey && masterKey !== undefined) {
    throw new StartError('--with-key copies the key file, but CAIRN_MASTER_KEY is set: keep that value yourself.');
  }
  const { hasNewDamage, makeBackup } = await import('../../ops/backup/backup.ts');
  const { removeOld } = await import('../../ops/backup/keep.ts');
  const { openSource } = await import('../../ops/backup/source.ts');
  const source = await openSource(config, () => openForReading(config));
  try {
    const manifest = await makeBackup({
      copyTo: source.copyTo,
      bytes: source.bytes,
      changedPages: source.changedPages,
      sealerOf: (copy) => openSealer(copy, source.masterKey),
      salvages: true,
      folder,
      since: sinceOf(options, folder),
      masterKey: withKey ? source.masterKey : undefined,
      mapBytes,
      now: Date.now,
    });
    noteDone(dataFolder, 'backup', { at_ms: Date.now(), problems: manifest.damaged?.length ?? 0 });
    printDamage(manifest);
    const removed = keep === undefined ? [] : removeOld(folder, keep);
    if (options.json) print(jsonLine(keep === undefined ? manifest : { ...manifest, removed }));
    else {
      print(
        table([
          ['backup', folder],
          ...figures(manifest),
          ...removed.map((name): [string, string] => ['removed', name]),
        ]),
      );
      print(`\n${keyAdvice(withKey, existsSync(join(dataFolder, KEY_FILE)))}`);
    }
    return manifest.lost_pages !== undefined || hasNewDamage(manifest) ? 1 : 0;
  } finally {
    await source.close();
  }
}

/** The rules by which earlier backups stay; undefined: all stay. */
function retentionOf(options: Options): KeepRules | undefined {
  const counts = KEEPS.map((name) => {
    const count = options.count(name);
    if (count === 0) throw new StartError(`--${name} must be at least 1.`);
    return count;
  });
  if (counts.every((count) => count === undefined)) return undefined;
  const [keep, last, daily, weekly, monthly] = counts;
  if (keep !== undefined && last !== undefined) throw new StartError('--keep and --keep-last are the same; give one.');
  return { last: keep ?? last, daily, weekly, monthly };
}

/** Prints what the backup has only damaged, or not at all. A script must not take the latter for a whole backup. */
function printDamage({ damaged = [], lost_pages: lost }: CopyManifest): void {
  for (const one of damaged) printError(`damaged: ${one}`);
  if (lost === 0) {
    printError(
      'cairn: the data file is broken: the backup has all of its rows; restore it into an empty folder (`cairn restore`), and see "A bad day" in the manual (operating.md).',
    );
  } else if (lost !== undefined) {
    printError(
      `cairn: the data file is broken: the backup has all rows that can be read, but not those of ${lost} pages; keep your earlier backups, and see "A bad day" in the manual (operating.md).`,
    );
  } else if (damaged.length > 0) {
    printError(
      `cairn: the backup is complete except for ${damaged.length} damaged rows or pages, which its manifest lists; earlier backups are kept, and "Damaged bytes" in the manual (operating.md) says what to do.`,
    );
  }
}

async function restore(options: Options): Promise<number> {
  const { dataFolder, masterKey, mapBytes } = operatorConfig();
  const { backupAt, newerBeside, restoreBackup } = await import('../../ops/backup/restore.ts');
  const named = options.operand() ?? '';
  const at = options.optional('at');
  const atMs = at === undefined ? undefined : timeOf(at);
  const { isLogUrl, restoreLog } = await import('../../ops/backup/restore-log.ts');
  const isIntoLog = options.flag('into-log');
  if (isIntoLog && !isLogUrl(named))
    throw new UsageError('--into-log needs the URL of a log, such as s3://bucket/prefix');
  if (isLogUrl(named)) {
    const target = { atMs, dataFolder, masterKey, mapBytes, isIntoLog };
    const { position, timeMs, epoch } = await restoreLog({ url: named, environment: storeEnvironment(), ...target });
    const writtenAt = new Date(timeMs).toISOString();
    if (options.json) print(jsonLine({ log: named, position, written_at: writtenAt, epoch }));
    else
      print(
        table([
          ['restored', `record ${position}`],
          ['written at', writtenAt],
          ['new epoch', epoch],
        ]),
      );
    const next = isIntoLog
      ? 'Start it with the same CAIRN_LOG. The log goes on with it, and the other members join it again.'
      : 'Start the service with `cairn serve`.';
    if (!options.json) print(`\n${AS_IT_WAS} ${next}`);
    return 0;
  }
  const from = atMs === undefined ? named : backupAt(named, atMs, Date.now());
  const { manifest, epoch } = await restoreBackup({ from, atMs, dataFolder, masterKey, mapBytes });
  if (options.json) print(jsonLine({ ...manifest, epoch }));
  else {
    print(table([['restored', from], ...figures(manifest), ['new epoch', epoch]]));
    print(`\n${AS_IT_WAS} Start the service with \`cairn serve\`.`);
  }
  const newer = atMs === undefined ? newerBeside(from, manifest, Date.now()) : undefined;
  if (newer !== undefined) {
    printError(
      `cairn: ${newer.path} beside it is newer, of ${new Date(newer.madeMs).toISOString()}; if you want that one, restore it into another empty folder, before you start this hub.`,
    );
  }
  return 0;
}

/** Name of the earlier backup that the new one is based on. Throws StartError unless both are in the same folder. */
function sinceOf(options: Options, folder: string): string | undefined {
  const since = options.optional('since');
  if (since !== undefined && dirname(resolve(since)) !== dirname(resolve(folder))) {
    throw new StartError(
      '--since must name a backup in the folder that the new one goes into, so that both stay together.',
    );
  }
  return since;
}

function timeOf(text: string): number {
  return text === 'now' ? Number.POSITIVE_INFINITY : readTime(text, Date.now());
}

function figures(manifest: CopyManifest): [string, string][] {
  const rows = Object.values(manifest.tables).reduce((sum, count) => sum + count, 0);
  return [
    ['made at', manifest.made_at],
    ['bytes', String(manifest.bytes)],
    ['rows', String(rows)],
    ['sha256', manifest.sha256],
  ];
}

function keyAdvice(withKey: boolean, hasKeyFile: boolean): string {
  if (withKey)
    return `The backup contains ${KEY_FILE}: anyone who can read it can read every secret. Keep it as safe as the key.`;
  const key = hasKeyFile ? `${KEY_FILE} of the data folder` : 'CAIRN_MASTER_KEY';
  return `The backup does not contain the master key and cannot be restored without it: keep ${key} in another place.`;
}
