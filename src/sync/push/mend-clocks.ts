/**
 * Gives files whose clock is in the future a true one. Versions never change, so each such file gets another version with
 * the same content, under a clock of the hub: devices receive it as any change, and have the content already.
 */
import type { ActorRegistry } from '../../actors/registry.ts';
import { limits } from '../../limits/service.ts';
import type { Batch } from '../../store/group-commit.ts';
import type { Store } from '../../store/store.ts';
import { shareContent } from '../contents/piece-shares.ts';
import { LogChange, type VaultScope } from '../log/change.ts';
import type { FileRecord } from '../log/file-record.ts';
import { formatHlc, isTooFarAhead, parseHlc, sendTick } from '../log/hlc.ts';
import { files, vaultOwners } from '../log/records.ts';
import { HUB_DEVICE } from './hub-change.ts';

export interface MendClocksOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
  /** 16 hex characters: the hub's node in the clocks that it generates. */
  readonly nodeId: string;
}

/** Resolves with the number of files and deleted paths with a clock in the future; with `apply`, they are mended. */
export async function mendFileClocks(
  { store, actors, nodeId }: MendClocksOptions,
  nowMs: number,
  apply: boolean,
): Promise<number> {
  let found = 0;
  for (let after: [string, string] | undefined; ; ) {
    const beyond = after === undefined ? {} : { beyond: after };
    const rows = store.range(files, { prefix: [], ...beyond, limit: limits.mendRowsMax });
    const due = rows.filter(({ value }) => isFromTheFuture(value, nowMs)).map(({ key }) => key);
    found += due.length;
    for (const vaultId of apply ? new Set(due.map(([id]) => id)) : []) {
      const accountId = store.get(vaultOwners, [vaultId])?.account_id;
      if (accountId === undefined) continue;
      const paths = due.filter(([id]) => id === vaultId).map(([, folded]) => folded);
      const scope = { accountId, vaultId, nodeId };
      await actors.vault(vaultId).ask((batch) => mendSome(batch, scope, paths, nowMs), { accountId });
    }
    after = rows.at(-1)?.key;
    if (after === undefined) return found;
    await new Promise(setImmediate);
  }
}

function isFromTheFuture({ hlc, device_id: deviceId }: FileRecord, nowMs: number): boolean {
  const clock = parseHlc(hlc, deviceId);
  return clock !== undefined && isTooFarAhead(clock, nowMs);
}

function mendSome(batch: Batch, scope: VaultScope, paths: readonly string[], nowMs: number): void {
  // The vault was deleted since.
  if (batch.get(vaultOwners, [scope.vaultId]) === undefined) return;
  const change = new LogChange(batch, scope, nowMs);
  for (const folded of paths) {
    const before = change.reader.file(scope.vaultId, folded);
    if (before === undefined || !isFromTheFuture(before, nowMs)) continue;
    const content = before.deleted ? undefined : change.reader.readyContent(scope.vaultId, before.seq);
    shareContent(batch, content);
    change.setClock(sendTick(change.clock, nowMs));
    change.append({
      path: { path: before.path, folded },
      before,
      status: before.deleted ? 'deleted' : 'updated',
      content,
      // Given, because a clock that the hub makes itself stays above the one before.
      hlc: formatHlc({ ...change.clock, node: scope.nodeId }),
      deviceId: HUB_DEVICE,
      mtime: before.mtime,
      executable: before.executable,
    });
  }
  change.finish();
}
