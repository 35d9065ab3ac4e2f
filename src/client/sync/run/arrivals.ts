/** Notes what a pull brings beside files that can be applied: paths not allowed here, damaged files, progress. */
import type { PullArrivals } from '../hub.ts';
import { whyDamaged } from '../plan/troubles.ts';
import { afterFailure } from '../plan/waits.ts';
import type { LeftOut, RemoteRecord } from '../remote-record.ts';
import type { Replica } from '../replica.ts';
import type { SyncStep } from '../round.ts';
import type { Scan } from '../scan/scan.ts';

const DAMAGED = 'The content that the hub sent does not match its hash; the next sync asks for it again.';

/** Passes records on. Notes paths not allowed in this folder and damaged records; the pull continues. */
export function arrivalsOf(replica: Replica, record: (record: RemoteRecord) => void): PullArrivals {
  const { state, progress } = replica;
  return {
    record,
    foreign: (path, reason) => state.noteForeign(path, reason),
    damaged({ path, side }) {
      const known = state.waits.get(path);
      if (known?.kind === 'conflict') return;
      const remote = side?.sha256 ?? null;
      const failed = afterFailure(known?.failed, Date.now());
      state.wait(path, { kind: 'hub', remote, local: null, conflictId: null, reason: DAMAGED, failed });
    },
    progress: (amount) => progress('download', amount),
  };
}

/**
 * Records the files that a pull left out because the hub's copy is damaged: an equal one here repairs it, another
 * version here waits.
 */
export function noteLeftOut({ folder, state, next }: SyncStep, local: Scan, leftOut: LeftOut): void {
  for (const [path, remote] of leftOut) {
    if (local.excludes(path)) continue;
    next.damaged.set(path, remote);
    const here = local.files.get(path)?.sha256;
    const isHere = here === remote || state.base.get(path)?.sha256 === remote;
    if (isHere || state.waits.get(path)?.kind === 'conflict') continue;
    const reason = whyDamaged(folder.root.path, path);
    state.wait(path, { kind: 'hub', remote, local: here ?? null, conflictId: null, reason });
  }
}
