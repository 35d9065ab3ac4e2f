/** Moves changes of dev docs that a clock in the future placed years ahead to the present, in their order. */
import type { ActorRegistry } from '../../actors/registry.ts';
import { limits } from '../../limits/service.ts';
import type { Batch } from '../../store/group-commit.ts';
import type { Store } from '../../store/store.ts';
import { CLOCK_SLACK_MS, isFromTheFuture } from '../../time/truth.ts';
import { keptText } from '../texts.ts';
import { putDocument } from '../write.ts';
import { devDocKind } from './kind.ts';
import { devDocChanges, devDocHeads, devDocs } from './records.ts';
import { changeScope } from './rules.ts';

/** Mends every account. A pull with a cursor from the future starts again, because it is beyond the newest change. */
export async function mendChangeOrder(
  { store, actors }: { readonly store: Store; readonly actors: ActorRegistry },
  nowMs: number,
): Promise<void> {
  const late = store
    .range(devDocHeads, { prefix: [] })
    .filter(({ value }) => isFromTheFuture(value.changed_ms, nowMs))
    .map(({ key }) => key[0]);
  for (const accountId of late) {
    let place: number | undefined = nowMs;
    while (place !== undefined) {
      const from: number = place;
      place = await actors.account(accountId).ask((batch) => mendSome(batch, accountId, from, nowMs));
    }
  }
}

/** Moves some changes to the free places from `from` on. Returns the next place, or undefined after the last change. */
function mendSome(batch: Batch, accountId: string, from: number, nowMs: number): number | undefined {
  const head = batch.get(devDocHeads, [accountId]);
  if (head === undefined || !isFromTheFuture(head.changed_ms, nowMs)) return undefined;
  const scope = changeScope(undefined);
  const beyond = nowMs + CLOCK_SLACK_MS;
  const rows = batch.range(devDocChanges, { prefix: [accountId, scope], beyond, limit: limits.mendRowsMax });
  let place = from;
  for (const { value: id } of rows) {
    while (batch.get(devDocChanges, [accountId, scope, place]) !== undefined) place += 1;
    const record = batch.get(devDocs, [accountId, id]);
    if (record === undefined) throw new Error(`the order of changes refers to dev doc ${id}, which does not exist`);
    const text = () => keptText(batch, { accountId, space: 'docs', id }, record.version);
    putDocument(devDocKind, batch, accountId, { record, text }, { record: { ...record, changed_ms: place }, text });
    place += 1;
  }
  if (rows.length === limits.mendRowsMax) return place;
  batch.put(devDocHeads, [accountId], { ...head, changed_ms: place });
  return undefined;
}
