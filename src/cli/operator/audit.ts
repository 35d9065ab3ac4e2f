/** cairn audit: prints the events of the hub, or the security events of one account. */
import type { HubEvent, SecurityEvent } from '../../audit/log.ts';
import { jsonLine, shownLine } from '../../client/shown.ts';
import { limits } from '../../limits/service.ts';
import { type Command, type Options, takes } from '../command.ts';
import { print } from '../output.ts';
import { UsageError } from '../usage-error.ts';
import { control } from './control.ts';

export const auditCommand: Command = {
  name: 'audit',
  summary:
    'show what operators did, which accounts came and went and which settings changed; or the events of one account',
  options: [takes('email', 'EMAIL'), takes('limit', 'NUMBER')],
  explains: {
    email: 'security events of this account; without it, those of the hub, which stay when an account is deleted',
  },
  examples: ['cairn audit', 'cairn audit --email you@example.org', 'cairn audit --limit 1000 --json'],
  run,
};

async function run(options: Options): Promise<number> {
  const email = options.optional('email');
  const given = options.optional('limit') ?? String(limits.auditShownMax);
  const most = email === undefined ? limits.hubEventsMax : limits.auditActsMax + limits.auditFailuresMax;
  if (!/^[1-9]\d{0,4}$/.test(given) || Number(given) > most)
    throw new UsageError(`--limit must be a whole number from 1 to ${most}`);
  const max = Number(given);
  const { events } =
    email === undefined
      ? await control({ command: 'audit.hub', max })
      : await control({ command: 'audit.list', email, max });
  if (options.json) print(jsonLine({ events }));
  else if (events.length === 0) print(email === undefined ? 'No events.' : 'No security events.');
  for (const event of options.json ? [] : events) print(lineOf(event));
  return 0;
}

function lineOf(event: SecurityEvent | HubEvent): string {
  const times = event.count > 1 ? ` (${event.count} times)` : '';
  const detail = event.detail === null ? '' : `: ${event.detail}`;
  const account = 'account_id' in event ? (event.email ?? event.account_id) : null;
  const whose = account === null ? '' : ` ${shownLine(account)}`;
  const from = [event.by, event.who, event.address, event.agent].filter((part) => part !== null && part !== undefined);
  return `${event.at}  ${event.what}${whose}${detail}${times}  [${from.join(', ')}]`;
}
