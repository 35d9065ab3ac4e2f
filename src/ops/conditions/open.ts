/** Opens the watch over the conditions of a hub, and the ways by which its operators are told. */
import { hostname } from 'node:os';
import type { Log } from '../../common/log.ts';
import type { Core } from '../../compose/core.ts';
import type { Config } from '../../config.ts';
import type { Mail } from '../../mail/mailer.ts';
import { type FactSources, hubFacts } from './facts.ts';
import { formatOf } from './notice.ts';
import { Notifier } from './notifier.ts';
import { tellOperators } from './tell.ts';
import { ConditionWatch } from './watch.ts';

interface OpenConditionsOptions extends Pick<FactSources, 'phase' | 'certificateExpiresMs'> {
  readonly config: Config;
  readonly core: Core;
  readonly mail: Mail | undefined;
  readonly log: Log;
}

/** Opens the watch; what it opens is closed with the core. Nothing is measured before `start`. */
export function openConditions({ config, core, mail, log, ...phases }: OpenConditionsOptions): ConditionWatch {
  const { store, life, accounts, standings } = core;
  const { dataFolder, publicUrl, notifyUrl: url } = config;
  const hub = publicUrl === undefined ? hostname() : new URL(publicUrl).host;
  const notifier = url && new Notifier({ url, format: config.notifyFormat ?? formatOf(url), log });
  if (notifier) life.own('notices', notifier);
  const operators = () => standings.operators().map((accountId) => accounts.describe(accountId).email);
  const tell = tellOperators({ hub: `Cairn on ${hub}`, mail, notifier: notifier || undefined, operators });
  const measure = hubFacts({ ...core, ...phases, config, now: Date.now });
  const isReserved = () => core.disk.look()?.isReserved === true;
  const watch = life.own(
    'conditions',
    new ConditionWatch({ dataFolder, store, measure, phase: phases.phase, isReserved, tell, log }),
  );
  core.listening.ready = () => watch.ready();
  // The operators hear of it before the account whose write is refused, and not within its decision.
  core.disk.onReached = () => queueMicrotask(() => watch.look());
  return watch;
}
