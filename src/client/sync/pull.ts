/** Brings the changes of the hub into the folder. Nothing that was changed here is overwritten. */
import { applyRemote } from './apply.ts';
import { reconcile, retryWaiting } from './conflicts.ts';
import type { RemoteRecord } from './hub.ts';
import type { Scan } from './scan.ts';
import { type SyncSession, save, scan } from './session.ts';
import { Spellings, settleWaitingNames } from './spelling.ts';

/** Pulls until nothing is left; what cannot be taken waits among the conflicts of the state. */
export async function pullChanges(session: SyncSession, isFirst: boolean): Promise<void> {
  const { hub, state } = session;
  settleWaitingNames(session);
  await retryWaiting(session);
  for (let more = true; more; ) {
    const local = scan(session, isFirst);
    const spellings = new Spellings(session, local);
    const waiting = new Set<string>();
    let done = 0;
    const { cursor, hasMore } = await hub.pull(state.cursor, (record, totals) => {
      if (!local.leavesOut(record.path)) {
        spellings.adoptFrom(record);
        take(session, local, record, waiting);
      }
      done += 1;
      session.progress(done, totals.total_count);
    });
    for (const path of waiting) await reconcile(session, path);
    // Only now: whatever ends this run before is pulled again by the next, and found to agree.
    state.cursor = cursor;
    save(session);
    more = hasMore;
  }
}

function take(session: SyncSession, { files }: Scan, record: RemoteRecord, waiting: Set<string>): void {
  const { path } = record;
  const remote = record.type === 'file' ? record : undefined;
  const local = files.get(path);
  const applied = applyRemote(session, path, local, remote);
  if (applied === 'done') {
    waiting.delete(path);
    return;
  }
  waiting.add(path);
  session.state.conflicts[path] = {
    remote_sha256: remote?.sha256 ?? null,
    local_sha256: local?.sha256 ?? null,
    conflict_id: null,
    reason: applied === 'both changed' ? 'changed on both sides' : applied.unwritable,
  };
}
