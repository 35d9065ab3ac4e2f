/** Forgets idempotency keys after their time. */
import type { Sweep } from '../../common/sweep.ts';
import { limits } from '../../limits/service.ts';
import { unlessDamaged } from '../../store/intact.ts';
import type { Store } from '../../store/store.ts';
import type { ActorRegistry } from '../registry.ts';
import { forgetOldKeys } from './once.ts';
import { keyHeads } from './records.ts';

/** Forgets the keys of all accounts after `limits.idempotencyKeyHours`. */
export function usedKeySweep({
  store,
  actors,
  now,
}: {
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly now: () => number;
}): Sweep {
  return {
    what: 'idempotency keys',
    byAge: true,
    async run() {
      const cutoffMs = now() - limits.idempotencyKeyHours * 3_600_000;
      let removed = 0;
      for (const [accountId] of Array.from(store.keys(keyHeads))) {
        const actor = actors.account(accountId);
        for (let some = -1; some !== 0; removed += some) {
          some = await unlessDamaged(() => actor.ask((batch) => forgetOldKeys(batch, accountId, cutoffMs)), 0);
        }
      }
      return removed;
    },
  };
}
