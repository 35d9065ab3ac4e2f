/** Builds the callbacks for arriving changes of the hub. */
import type { Arrivals } from '../hub.ts';
import type { RemoteRecord } from '../remote-record.ts';
import type { Replica } from '../replica.ts';

const DAMAGED = 'The content that the hub sent does not match its hash; sync again.';

/** Passes records on. Notes paths not allowed in this folder and damaged records; the pull continues. */
export function arrivalsOf(replica: Replica, record: (record: RemoteRecord) => void): Arrivals {
  const { state, progress } = replica;
  return {
    record,
    foreign(path, reason) {
      if (reason === undefined) state.foreign.delete(path);
      else state.foreign.set(path, reason);
    },
    damaged({ path, side }) {
      const known = state.waits.get(path);
      if (known?.kind === 'conflict') return;
      const remote = side?.sha256 ?? null;
      state.waits.set(path, { kind: 'hub', remote, local: null, conflictId: null, reason: DAMAGED });
    },
    progress: (amount) => progress('download', amount),
  };
}
