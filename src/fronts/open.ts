/** Opens the fronts required by the settings, connected to the parts of the hub thread. */
import type { Log, LogSink } from '../common/log.ts';
import type { Core } from '../compose/core.ts';
import type { Doors } from '../compose/listeners.ts';
import type { Config } from '../config.ts';
import type { ToolTraffic } from '../gateway/tool-traffic.ts';
import type { Admission } from '../http/checks/admission.ts';
import type { Rates } from '../http/checks/rates.ts';
import type { Traffic } from '../http/measure/traffic.ts';
import { Fronts } from './fronts.ts';

export interface OpenFrontsOptions {
  readonly config: Pick<Config, 'fronts'>;
  readonly doors: Doors;
  readonly core: Pick<Core, 'accounts' | 'store' | 'damage'>;
  readonly rates: Rates;
  readonly traffic: Traffic;
  readonly toolTraffic: ToolTraffic;
  readonly admission: Admission;
  readonly onLine: LogSink['write'];
  readonly log: Log;
}

/** Returns undefined when the settings require no fronts. Throws StartError when one does not start. */
export async function openFronts(options: OpenFrontsOptions): Promise<Fronts | undefined> {
  const { config, doors, core, rates, traffic, toolTraffic, admission, onLine, log } = options;
  const { cells } = admission;
  if (cells === undefined) return undefined;
  // With a single front the hub thread has time for its own connections; with more it does not.
  if (config.fronts === 1) doors.service.family.add(doors.openSibling().family.describe());
  const fronts = new Fronts({
    fronts: config.fronts,
    start: {
      revisions: core.store.sharedRevisions,
      rates: rates.shared,
      held: cells.shared,
      connectionsMax: admission.connectionsMax,
      port: doors.port,
    },
    door: doors.service,
    onEnded: (thread) => cells.clear(thread),
    onUsed: (accountId, keyId) => core.accounts.uses.note(accountId, keyId),
    onDamage: (kind) => core.damage.count(kind),
    onFigures: (thread, figures) => {
      traffic.add(thread, figures.traffic);
      toolTraffic.add(figures.tools);
    },
    onLine,
    log,
  });
  try {
    await fronts.start();
  } catch (error) {
    await fronts.end(0);
    throw error;
  }
  return fronts;
}
