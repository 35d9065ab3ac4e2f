/** cairn doctor: checks a hub and its machine, and suggests fixes. */
import { jsonLine } from '../../../client/shown.ts';
import type { Config } from '../../../config.ts';
import { type Finding, wrong } from '../../../ops/doctor/finding.ts';
import { checkNode } from '../../../ops/doctor/machine.ts';
import type { Command, Options } from '../../command.ts';
import { print, printResult } from '../../output.ts';
import { UsageError } from '../../usage-error.ts';
import { control } from '../control.ts';
import { operatorConfig } from '../settings.ts';

export const doctorCommand: Command = {
  name: 'doctor',
  summary:
    'check version, limits, disk, clock, permissions, TLS, proxy and backups; exit code 1 when something is wrong',
  flags: ['fix-clock', 'yes'],
  explains: {
    'fix-clock': 'count what is dated in the future, because the clock was wrong once; with --yes, fix it',
    yes: 'mend it',
  },
  examples: [
    'cairn doctor',
    'cairn doctor --fix-clock --yes',
    'sudo -u cairn env CAIRN_DATA=/var/lib/cairn cairn doctor --json',
  ],
  run: doctor,
};

async function doctor(options: Options): Promise<number> {
  if (options.flag('fix-clock')) return await fixClock(options);
  if (options.flag('yes')) throw new UsageError('--yes belongs to --fix-clock');
  const findings = await examineAll();
  if (options.json) print(jsonLine({ ok: isFine(findings), findings }));
  else {
    const width = Math.max(...findings.map(({ check }) => check.length));
    for (const { level, check, text } of findings) print(`${level.padEnd(5)}  ${check.padEnd(width)}  ${text}`);
  }
  return isFine(findings) ? 0 : 1;
}

/** Counts or mends the records that are dated in the future. Exit code 1 when there are some and nothing was mended. */
async function fixClock(options: Options): Promise<number> {
  const apply = options.flag('yes');
  const found = await control({ command: 'clock.mend', apply });
  const parts = [
    counted(found.tasks, 'task'),
    counted(found.documents, 'document'),
    counted(found.versions, 'version of documents', 'versions of documents'),
    counted(found.files, 'synced file'),
  ].join(', ');
  const { sign_ins: ended, ...mendable } = found;
  const isClean = Object.values(mendable).every((count) => count === 0);
  const signIns = ended === 0 ? '' : ` Ended, because they were made by that clock: ${counted(ended, 'sign-in')}.`;
  const next = apply
    ? 'They have the current time now.'
    : 'If the clock is right, `cairn doctor --fix-clock --yes` gives them the current time. Otherwise set the clock first.';
  printResult(
    options,
    { ...found, mended: apply },
    () => `The clock shows ${new Date().toISOString()}. Dated later: ${parts}.${isClean ? '' : ` ${next}`}${signIns}`,
  );
  return isClean || apply ? 0 : 1;
}

const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

const isFine = (findings: readonly Finding[]): boolean => findings.every(({ level }) => level !== 'wrong');

async function examineAll(): Promise<readonly Finding[]> {
  let config: Config;
  try {
    config = operatorConfig();
  } catch (error) {
    return [await checkNode(), wrong('settings', (error as Error).message)];
  }
  const { examine } = await import('../../../ops/doctor/doctor.ts');
  return await examine(config, Date.now());
}
