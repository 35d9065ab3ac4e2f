/** A push during which the hub is killed: nobody knows what became of it until the same push comes again. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type RpcReply, structuredOf } from '../../support/gateway.ts';
import type { Pushed } from '../../support/sync.ts';
import type { Expected, Push } from './hub-model.ts';
import { argumentsOf, type Outcome, type Stage } from './stage.ts';

/** Sends a push, kills the hub so much later, while it may be at any point, and sends it again to the next one. */
export async function pushCutOff(stage: Stage, push: Push, afterMs: number): Promise<Outcome> {
  const expected = stage.model.expect(push, Date.now());
  // Whatever comes of it, an answer or none, the device does not see it.
  const unseen = stage.call('sync_push', argumentsOf(push)).then(
    () => undefined,
    () => undefined,
  );
  await sleep(afterMs);
  await stage.holder.restart('kill');
  await unseen;
  const reply = await stage.call('sync_push', argumentsOf(push));
  if (expected.kind !== 'accept' || reply.error !== undefined) return await stage.take(push, expected, reply);
  const pushed = structuredOf<Pushed>(reply);
  const wasStored = pushed.status === 'unchanged';
  stage.holder.tally.add(wasStored ? 'cut off, and was stored' : 'cut off, and was lost');
  return await stage.take(push, expected, wasStored ? asFirstTime(stage, push, { pushed, expected }) : reply);
}

/** What the killed hub would have answered: what it stored is as good as told. */
function asFirstTime(
  { model }: Stage,
  { path, from }: Push,
  { pushed, expected }: { pushed: Pushed; expected: Extract<Expected, { kind: 'accept' }> },
): RpcReply {
  const previous_hlc = model.newest(from ?? path)?.hlc ?? null;
  return {
    jsonrpc: '2.0',
    id: 1,
    result: { structuredContent: { ...pushed, status: expected.status, previous_hlc } },
  };
}
