/** cairn doctor: checks a hub and its machine, and suggests fixes. */
import { jsonLine } from '../../../client/shown.ts';
import type { Config } from '../../../config.ts';
import { type Finding, wrong } from '../../../ops/doctor/finding.ts';
import { checkNode } from '../../../ops/doctor/machine.ts';
import type { Command, Options } from '../../command.ts';
import { print } from '../../output.ts';
import { operatorConfig } from '../settings.ts';

export const doctorCommand: Command = {
  name: 'doctor',
  summary:
    'check version, limits, disk, clock, permissions, TLS, proxy and backups; exit code 1 when something is wrong',
  examples: ['cairn doctor', 'sudo -u cairn env CAIRN_DATA=/var/lib/cairn cairn doctor --json'],
  run: doctor,
};

async function doctor(options: Options): Promise<number> {
  const findings = await examineAll();
  if (options.json) print(jsonLine({ ok: isFine(findings), findings }));
  else {
    const width = Math.max(...findings.map(({ check }) => check.length));
    for (const { level, check, text } of findings) print(`${level.padEnd(5)}  ${check.padEnd(width)}  ${text}`);
  }
  return isFine(findings) ? 0 : 1;
}

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
