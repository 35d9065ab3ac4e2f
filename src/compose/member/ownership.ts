/** What the hub of a member has while it owns the log. */
import { explain, type Fault } from '../../common/fault.ts';
import type { MemberFigures, MemberHealth, MemberTools, Readiness } from '../../http/route/health.ts';
import type { RecordLog } from '../../store/logged/committer.ts';
import type { Store } from '../../store/store.ts';
import type { Doors } from '../listeners.ts';

export interface Ownership extends MemberTools {
  /** Keeps every write before the data file has it. */
  readonly recordLog: RecordLog;
  /** The refusal of requests while the lease is over; undefined: they are answered. */
  readonly mayServe: () => Fault | undefined;
  readonly isUnsure: () => boolean;
  /** Accept the connections, before and after the hub has them. */
  readonly front: Doors;
  readonly health: () => MemberHealth;
  readonly figures: () => MemberFigures;
  /** Keeps the log small for as long as the hub serves, with the store that has its rows. */
  readonly keepLog: (store: Store) => { close(): Promise<void> };
}

/** The options of a front door that follow from the ownership. */
export const gateOf = (ownership: Ownership | undefined) => ({
  mayServe: ownership?.mayServe,
  isUnsure: ownership?.isUnsure,
});

/** Whether the hub accepts writes: never while a member may not serve, otherwise as the hub itself says. */
export async function readyOf(ownership: Ownership | undefined, ready: () => Promise<Readiness>): Promise<Readiness> {
  const fault = ownership?.mayServe();
  return fault === undefined ? await ready() : notReady(explain(fault));
}

/** The readiness of a member that does not serve. */
export function notReady(message: string): Readiness {
  const since = new Date().toISOString();
  return { isReady: false, checks: [{ name: 'member', severity: 'critical', blocks_writes: true, message, since }] };
}
