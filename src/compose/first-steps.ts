/** Owns what a start says about accounts: how to make the first one, and what a list of email domains does not do. */
import { accounts } from '../accounts/records.ts';
import type { Log } from '../common/log.ts';
import type { Config } from '../config.ts';
import type { Store } from '../store/store.ts';

const FILTER_ONLY =
  'CAIRN_SIGNUP lists email domains: this filters what people enter and proves nothing, because addresses are not verified; use invitations to decide who joins';

/** Logs what the operator should do or know about accounts. No secret is in it. */
export function tellFirstSteps(store: Store, { signup, host, publicUrl }: Config, port: number, log: Log): void {
  const [rule = ''] = signup;
  if (!['open', 'invite', 'closed'].includes(rule)) log.warn(FILTER_ONLY);
  if (store.range(accounts, { prefix: [], limit: 1 }).length > 0) return;
  const page = `${publicUrl ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`}/signup`;
  const onPage = rule === 'open' ? `open ${page}, or run` : 'run cairn invite create and open its link, or run';
  const how = rule === 'closed' ? 'run' : onPage;
  log.info(`this hub has no account yet: ${how} cairn account create --email YOU@EXAMPLE.ORG`);
}
