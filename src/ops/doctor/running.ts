/** Asks the running hub which settings it uses: those of the shell that runs `cairn doctor` can be different. */
import { commit, version, versionText } from '../../common/version.ts';
import { type Config, readConfig } from '../../config.ts';
import type { ControlAnswer, ControlRequest, HubHealth, RunningSettings } from '../../control/protocol.ts';
import { askControl } from '../../control/socket.ts';
import type { ConditionName } from '../conditions/rules.ts';
import { type Finding, note, ok, wrong } from './finding.ts';

/** A hub that serves the data folder. */
export interface RunningHub {
  readonly config: Config;
  readonly pid: number;
  readonly node: string;
}

export interface Asked {
  /** Undefined: no hub runs on the data folder, or it cannot be asked. */
  readonly hub?: RunningHub;
  readonly findings: readonly Finding[];
}

/** Asks the hub that serves the data folder of these settings. */
export async function askRunning(own: Config): Promise<Asked> {
  const request: ControlRequest = { command: 'settings' };
  try {
    const line = await askControl(own.dataFolder, JSON.stringify(request));
    if (line === undefined) {
      return unasked(
        'no hub runs on this data folder; the settings of this shell are checked, not those of a service.',
      );
    }
    const answer = JSON.parse(line) as ControlAnswer;
    if (!answer.ok)
      return unasked(
        `the settings of this shell are checked, because the hub did not report its own: ${answer.error.replace(/\.$/, '')}.`,
      );
    const { given, pid, node, version: running, commit: built } = answer.result as RunningSettings;
    // A relative data folder is that of the other process.
    const config = readConfig({ ...given, CAIRN_DATA: own.dataFolder });
    return {
      hub: { config, pid, node },
      findings: [...compare(own.given, given, pid), ...checkVersion(running, built)],
    };
  } catch (error) {
    const { message } = error as Error;
    return unasked(`the settings of this shell are checked, because the hub cannot be asked for its own: ${message}`);
  }
}

/** Conditions that have checks of their own here. Only the running hub knows the others. */
const CHECKED_HERE: ReadonlySet<string> = new Set<ConditionName>([
  'disk_full',
  'disk_95',
  'disk_90',
  'disk_80',
  'clock_behind',
  'clock_ahead',
  'backup_late',
  'verify_late',
  'certificate_expired',
  'certificate_expires',
]);

/** What is no trouble, though such a hub is not ready. */
const PHASES: ReadonlySet<string> = new Set<ConditionName | 'member'>(['starting', 'draining', 'member']);

/** Asks the running hub which conditions it is in. */
export async function askConditions(dataFolder: string): Promise<readonly Finding[]> {
  const request: ControlRequest = { command: 'health' };
  const line = await askControl(dataFolder, JSON.stringify(request)).catch(() => undefined);
  const answer = line === undefined ? undefined : (JSON.parse(line) as ControlAnswer);
  if (answer?.ok !== true) return [];
  return (answer.result as HubHealth).checks
    .filter(({ name }) => !CHECKED_HERE.has(name))
    .map(({ name, message }) =>
      PHASES.has(name) ? note(name, `${message.replace(/\.$/, '')}.`) : wrong(name.replaceAll('_', ' '), message),
    );
}

const unasked = (text: string): Asked => ({ findings: [note('settings', text)] });

function compare(own: Config['given'], running: Config['given'], pid: number): Finding[] {
  const names = Object.keys(own).filter((name) => name !== 'CAIRN_DATA' && own[name] !== running[name]);
  if (names.length === 0) return [ok('settings', `those of the running hub (process ${pid})`)];
  return [
    note(
      'settings',
      `the running hub (process ${pid}) does not use the ${names.join(', ')} of this shell; its own settings are checked. ` +
        'Restart the hub if you changed them.',
    ),
  ];
}

function checkVersion(running: string, built: string | null | undefined): Finding[] {
  const isSame = running === version && (built == null || commit === undefined || built === commit);
  if (isSame) return [];
  const theirs = built == null ? running : `${running} (${built})`;
  return [note('version', `the running hub is version ${theirs}, this command is ${versionText}; restart the hub.`)];
}
