/** Owns what is told while changes of the hub arrive. */
import type { Arrivals } from '../hub.ts';
import type { RemoteRecord } from '../remote-record.ts';
import type { SyncSession } from '../session.ts';

const DAMAGED = 'The content that the hub sent does not match its hash; sync again.';

/** Hands records on. What is not for this folder, or came damaged, is noted in the state, and the rest goes on. */
export function arrivalsOf(session: SyncSession, record: (record: RemoteRecord) => void): Arrivals {
  const { state, progress } = session;
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
