/** cairn health: asks the hub that serves the data folder whether it runs, and what is wrong with it. */
import { StartError } from '../../../common/start-error.ts';
import type { ControlAnswer, ControlRequest, HubHealth } from '../../../control/protocol.ts';
import { askControl } from '../../../control/socket.ts';
import type { Command, Options } from '../../command.ts';
import { printResult } from '../../output.ts';
import { operatorConfig } from '../settings.ts';

export const healthCommand: Command = {
  name: 'health',
  summary:
    'ask the running hub what is wrong; exit code 1 when no hub runs, with --ready also when it accepts no writes',
  flags: ['ready'],
  explains: { ready: 'exit with code 1 while ordinary accounts cannot write' },
  examples: ['cairn health', 'cairn health --ready --json'],
  run,
};

async function run(options: Options): Promise<number> {
  const { dataFolder } = operatorConfig();
  const request: ControlRequest = { command: 'health' };
  const line = await askControl(dataFolder, JSON.stringify(request));
  if (line === undefined) throw new StartError('no hub runs on this data folder; start it with `cairn serve`.');
  const answer = JSON.parse(line) as ControlAnswer;
  if (!answer.ok) throw new StartError(answer.error);
  const health = answer.result as HubHealth;
  const lines = health.checks.map(({ name, severity, message }) => `${severity}  ${name}  ${message}`);
  printResult(options, health, () => [health.status.replace('_', ' '), ...lines].join('\n'));
  return options.flag('ready') && health.status !== 'ready' ? 1 : 0;
}
