/** Reports at start how to create the first account, and the limits of a sign-up rule with email domains. */
import { accounts } from '../accounts/records.ts';
import type { Log } from '../common/log.ts';
import type { Config } from '../config.ts';
import type { Store } from '../store/store.ts';
import { ownAddress } from './own-address.ts';

const FILTER_ONLY =
  'CAIRN_SIGNUP lists email domains: this filters what people enter and proves nothing, because addresses are not verified; use invitations to decide who joins';

/**
 * Returns how to create the first account, or undefined when one exists. Warns when sign-up is open by email domain.
 * Contains no secret.
 */
export function firstStep(store: Store, config: Config, port: number, log: Log): string | undefined {
  const [rule = ''] = config.signup;
  if (!['open', 'invite', 'closed'].includes(rule)) log.warn(FILTER_ONLY);
  for (const _ of store.keysIn(accounts, { prefix: [], limit: 1 })) return undefined;
  const page = `${ownAddress(config, port)}/signup`;
  const onPage = rule === 'open' ? `open ${page}, or run` : 'run `cairn invite create` and open its link, or run';
  const how = rule === 'closed' ? 'run' : onPage;
  return `this hub has no account yet: ${how} \`cairn account create --email YOU@EXAMPLE.ORG\``;
}
