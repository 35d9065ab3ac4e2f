/** Mends what the hub dated while its clock was ahead: `cairn doctor --fix-clock`. */
import { mendActivityTimes } from '../activity/mend-times.ts';
import { devDocKind } from '../documents/dev-docs/kind.ts';
import { mendChangeOrder } from '../documents/dev-docs/mend-order.ts';
import { handoffKind } from '../documents/handoffs/kind.ts';
import { mendDocumentTimes, mendVersionTimes } from '../documents/mend-times.ts';
import { paperKind } from '../documents/papers/kind.ts';
import type { ClockWatch } from '../store/meta/clock-watch.ts';
import { mendFileClocks } from '../sync/push/mend-clocks.ts';
import { mendTaskTimes } from '../tasks/mend-times.ts';
import { countFutureSignIns } from './future-sign-ins.ts';
import type { ImportProgress } from './importer.ts';
import type { FutureRecords } from './protocol.ts';

export interface MendOptions extends Omit<Parameters<typeof mendFileClocks>[0], 'nodeId'> {
  /** Also the hub's node in the clocks that it generates. */
  readonly epoch: string;
  readonly clock: ClockWatch;
}

/**
 * Counts the records dated after now; with `apply`, gives them the current time. Each decision leaves the data whole, so
 * a run that was interrupted is run again.
 */
export async function mendClock(
  { store, actors, epoch, clock }: MendOptions,
  apply: boolean,
  { tell }: Pick<ImportProgress, 'tell'>,
): Promise<FutureRecords> {
  tell(0, 1);
  const nowMs = Date.now();
  const base = { store, actors };
  // Versions first: their documents are read again in the decisions after.
  const versions = await mendVersionTimes(base, nowMs, apply);
  let documents = await mendDocumentTimes(devDocKind, base, nowMs, apply);
  documents += await mendDocumentTimes(handoffKind, base, nowMs, apply);
  documents += await mendDocumentTimes(paperKind, base, nowMs, apply);
  const tasks = await mendTaskTimes(base, nowMs, apply);
  const files = await mendFileClocks({ ...base, nodeId: epoch }, nowMs, apply);
  const signIns = await countFutureSignIns(store, nowMs);
  if (apply) {
    await mendChangeOrder(base, nowMs);
    await mendActivityTimes(base, nowMs);
    await clock.trustNow();
  }
  return { tasks, documents, versions, files, sign_ins: signIns };
}
