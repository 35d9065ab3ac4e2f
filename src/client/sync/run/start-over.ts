/**
 * Compares a folder with a hub that was restored from a backup. The hub may have lost versions on which this folder
 * last agreed; they are pushed again. The time of each version comes from the hub's own clock, and no other clock is
 * trusted.
 */
import { foldCase } from '../../../text/fold-case.ts';
import { ToolRefused } from '../../tool-refused.ts';
import type { FolderPath } from '../folder/path.ts';
import { NameIndex } from '../plan/names.ts';
import { worthAfterRestore } from '../plan/pull-plan.ts';
import type { RemoteRecord } from '../remote-record.ts';
import type { Replica } from '../replica.ts';
import type { SyncStep } from '../round.ts';
import type { Scan } from '../scan/scan.ts';
import { pushCall } from './arguments.ts';
import { arrivalsOf } from './arrivals.ts';
import { Inbox } from './inbox.ts';
import type { Reconcile } from './reconcile.ts';
import { sendUnrecorded } from './send.ts';

export async function startOver(step: SyncStep, local: Scan, reconcile: Reconcile): Promise<void> {
  const { hub, state } = step;
  const inbox = new Inbox(step, local, { guards: false });
  const missing = new Set<FolderPath>(state.base.keys());
  const names = new NameIndex(missing);
  /** The spelling in the base record of a name of the hub, which may have lost a change of spelling too. */
  const knownAs = (path: FolderPath) =>
    state.base.has(path) ? path : (names.others(path).find((other) => state.base.has(other)) ?? path);
  const doubtful: RemoteRecord[] = [];
  const take = (record: RemoteRecord) => {
    const { side, storedMs } = record;
    const path = knownAs(record.path);
    missing.delete(path);
    const worth = worthAfterRestore(state.base.get(path), record);
    if (worth === 'doubtful') {
      doubtful.push(record);
      return;
    }
    if (worth === 'older') {
      state.setBase(path, side && { sha256: side.sha256, executable: side.executable, storedMs });
    }
    inbox.take(record);
  };
  state.forgetForeign();
  let cursor: string | null = null;
  for (let more = true; more; ) {
    const end = await hub.pull({ cursor, own: [] }, arrivalsOf(step, take));
    cursor = end.cursor;
    more = end.hasMore;
  }
  await takeMissing(step, missing, take);
  for (const record of doubtful) {
    // The hub lost the agreed version, so only folders have its bytes. They are not replaced before the hub has them.
    const path = knownAs(record.path);
    const isSafe =
      (await hub.hasVersion(path, state.base.get(path)?.sha256 ?? '')) ||
      (await keepOnHub(step, local, { ...record, path }));
    if (!isSafe) state.setBase(path, undefined);
    inbox.take(record);
  }
  await inbox.ask();
  inbox.finish();
  await inbox.reconcile(reconcile);
  state.pulledTo(cursor, []);
}

/** Requests deletions, which a complete pull does not contain. A path that the hub never had is new to it. */
async function takeMissing(
  step: Replica,
  missing: ReadonlySet<FolderPath>,
  take: (record: RemoteRecord) => void,
): Promise<void> {
  // The hub answers in its own spelling of a name.
  const unknown = new Map([...missing].map((path) => [foldCase(path), path]));
  const arrivals = arrivalsOf(step, (record) => {
    unknown.delete(foldCase(record.path));
    take(record);
  });
  await step.hub.pullPaths([...missing], arrivals, { brief: true });
  for (const path of unknown.values()) step.state.setBase(path, undefined);
}

/**
 * Sends the hub the unedited bytes of a path for which it has a newer version: as a refused push, settled for that
 * version at once and kept among the settled conflicts. False when the bytes were edited or the hub does not store
 * them.
 */
async function keepOnHub(step: Replica, local: Scan, { path, side }: RemoteRecord): Promise<boolean> {
  const { folder, hub, state } = step;
  const base = state.base.get(path)?.sha256;
  if (side === undefined || local.files.get(path)?.sha256 !== base) return false;
  const content = folder.read(path);
  if (content === undefined || base === undefined || content.sha256 !== base) return false;
  const [outcome] = await sendUnrecorded(step, [pushCall(step, path, content, base)]);
  const id = outcome instanceof ToolRefused ? outcome.data['conflict_id'] : undefined;
  if (typeof id !== 'string') return false;
  await hub.dismiss(id);
  return true;
}
