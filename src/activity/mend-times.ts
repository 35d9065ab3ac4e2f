/** Gives changes that a clock in the future dated the current time. Their order stays. */
import type { ActorRegistry } from '../actors/registry.ts';
import { limits } from '../limits/service.ts';
import type { Store } from '../store/store.ts';
import { isFromTheFuture } from '../time/truth.ts';
import { activityChanges, activityHeads, charsOf } from './records.ts';

/** Resolves when all are mended, in small decisions. */
export async function mendActivityTimes(
  { store, actors }: { readonly store: Store; readonly actors: ActorRegistry },
  nowMs: number,
): Promise<void> {
  for (let after: [string, number] | undefined; ; ) {
    const beyond = after === undefined ? {} : { beyond: after };
    const rows = store.range(activityChanges, { prefix: [], ...beyond, limit: limits.mendRowsMax });
    for (const { key, value } of rows.filter(({ value: { at_ms: at } }) => isFromTheFuture(at, nowMs))) {
      const [accountId] = key;
      await actors.account(accountId).ask((batch) => {
        const head = batch.get(activityHeads, [accountId]);
        // Removed since it was found.
        if (batch.get(activityChanges, key) === undefined || head === undefined) return;
        const mended = { ...value, at_ms: nowMs };
        batch.put(activityChanges, key, mended);
        const chars = head.chars + charsOf(mended) - charsOf(value);
        batch.put(activityHeads, [accountId], { ...head, chars });
      });
    }
    after = rows.at(-1)?.key;
    if (after === undefined) return;
    await new Promise(setImmediate);
  }
}
