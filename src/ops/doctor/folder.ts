/** Checks the data folder: permissions, owner of the files, and age of the last backup and of the last verification. */
import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { quoted } from '../../client/shown.ts';
import { leftoversIn } from '../../client/staging.ts';
import { StartError } from '../../common/start-error.ts';
import { systemReason } from '../../common/system-reason.ts';
import { limits } from '../../limits/service.ts';
import { checkWritable } from '../../store/data-file/check.ts';
import { DATA_FILE, KEY_FILE } from '../../store/data-file/names.ts';
import { isKeyExposed } from '../../store/sealing/master-key.ts';
import { isAfter } from '../conditions/rules.ts';
import { type Chore, lastDone } from '../marks.ts';
import { daysBetween, type Finding, note, ok, wrong } from './finding.ts';

/** Days after which a backup, or a verification of all bytes, is overdue. */
const BACKUP_DAYS = limits.backupHoursDefault / 24;
const VERIFY_DAYS = limits.verifyDaysMax;

/** `hasKeySetting`: CAIRN_MASTER_KEY is set here. That of a running hub is never told. */
export function checkAccess(folder: string, hasKeySetting: boolean): Finding[] {
  const { mode, uid } = statSync(folder);
  try {
    accessSync(folder, constants.W_OK);
  } catch (error) {
    return [wrong('permissions', `${folder} cannot be written to: ${systemReason(error)}`)];
  }
  try {
    checkWritable(join(folder, DATA_FILE));
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    return [wrong('permissions', error.message)];
  }
  const foreign = readdirSync(folder).find(
    (name) => statSync(join(folder, name), { throwIfNoEntry: false })?.uid !== uid,
  );
  return [
    checkKeyFile(folder, hasKeySetting),
    (mode & 0o022) !== 0
      ? wrong('permissions', `other users can change files in ${folder}; run chmod 700 ${folder}.`)
      : foreign !== undefined
        ? wrong(
            'permissions',
            `${foreign} in ${folder} belongs to another user than the folder; run chown -R on the folder, and cairn commands as the user of the service.`,
          )
        : ok('permissions', 'the folder and its files belong to one user'),
  ];
}

function checkKeyFile(folder: string, hasKeySetting: boolean): Finding {
  const path = join(folder, KEY_FILE);
  if (isKeyExposed(folder)) {
    return wrong(
      'master key',
      `other users of this machine can read it; run chmod 600 ${path}, and \`cairn rekey\` if somebody may have read it.`,
    );
  }
  if (existsSync(path)) return ok('master key', 'only its owner can read it');
  if (hasKeySetting) return ok('master key', 'CAIRN_MASTER_KEY is set');
  return note(
    'master key',
    `there is no ${path}. Unless the service has CAIRN_MASTER_KEY, put your copy of the file back: without it the hub does not start again.`,
  );
}

/** What interrupted commands left where they are likely to have worked; nothing is removed here, as a folder may be wanted still. */
export function checkLeftovers(dataFolder: string): Finding[] {
  const folder = resolve(dataFolder);
  const places = new Set([folder, dirname(folder), resolve('.'), homedir(), tmpdir()]);
  return [...places]
    .flatMap(leftoversIn)
    .map((left) =>
      note(
        'leftovers',
        `${left} was left by an interrupted command and is not encrypted; run the command again there, or remove it: rm -r ${quoted(left)}`,
      ),
    );
}

export function checkChores(folder: string, nowMs: number): Finding[] {
  const backup = lastDone(folder, 'backup');
  const verify = lastDone(folder, 'verify');
  return [
    backup === undefined
      ? (isNew(folder, nowMs) ? note : wrong)(
          'backup',
          'none found; run `cairn backup DIR`, with DIR on another disk, and repeat it with a timer.',
        )
      : late('backup', backup.at_ms, BACKUP_DAYS, nowMs),
    verify === undefined
      ? note('verify', 'never run; `cairn verify` checks all stored bytes.')
      : verify.problems > 0
        ? wrong(
            'verify',
            `the last one found ${verify.problems} problems; run \`cairn verify\`, and see "Damaged bytes" in the manual.`,
          )
        : late('verify', verify.at_ms, VERIFY_DAYS, nowMs),
  ];
}

/** True when the data file is younger than a backup may be old. A hub that was just made is not wrong for want of one. */
function isNew(folder: string, nowMs: number): boolean {
  return daysBetween(statSync(join(folder, DATA_FILE)).birthtimeMs, nowMs) < BACKUP_DAYS;
}

function late(chore: Chore, atMs: number, daysMax: number, nowMs: number): Finding {
  const days = daysBetween(atMs, nowMs);
  const isAhead = isAfter(atMs, nowMs);
  const when = isAhead ? 'by a clock days ahead' : days <= 0 ? 'less than a day ago' : `${days} days ago`;
  if (days < daysMax && !isAhead) return ok(chore, when);
  return chore === 'backup'
    ? wrong(chore, `the last one was ${when}; run \`cairn backup DIR\`, then find out why its timer did not.`)
    : note(chore, `the last one was ${when}; run \`cairn verify\`.`);
}
