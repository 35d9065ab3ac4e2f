/** cairn audit: prints the security events of one account. */
import { jsonLine } from '../../client/shown.ts';
import { limits } from '../../limits/service.ts';
import { type Command, needs, type Options, takes } from '../command.ts';
import { print } from '../output.ts';
import { UsageError } from '../usage-error.ts';
import { control } from './control.ts';

export const auditCommand: Command = {
  name: 'audit',
  summary: 'show the security events of an account, newest first',
  options: [needs('email', 'EMAIL'), takes('limit', 'NUMBER')],
  examples: ['cairn audit --email you@example.org', 'cairn audit --email you@example.org --limit 1000 --json'],
  run,
};

async function run(options: Options): Promise<number> {
  const given = options.optional('limit') ?? String(limits.auditShownMax);
  const most = limits.auditActsMax + limits.auditFailuresMax;
  if (!/^[1-9]\d{0,4}$/.test(given) || Number(given) > most)
    throw new UsageError(`--limit must be a whole number from 1 to ${most}`);
  const { events } = await control({ command: 'audit.list', email: options.required('email'), max: Number(given) });
  if (options.json) print(jsonLine({ events }));
  else if (events.length === 0) print('No security events.');
  for (const event of options.json ? [] : events) {
    const times = event.count > 1 ? ` (${event.count} times)` : '';
    const detail = event.detail === null ? '' : `: ${event.detail}`;
    const from = [event.by, event.address, event.agent].filter((part) => part !== null).join(', ');
    print(`${event.at}  ${event.what}${detail}${times}  [${from}]`);
  }
  return 0;
}
