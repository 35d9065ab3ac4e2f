/**
 * Makes a decision of a request with an idempotency key happen once. What it returned is stored in its own commit; a
 * repeat of the request gets that instead of a second decision, also after a crash in between.
 */
import { createHash } from 'node:crypto';
import { deserialize, serialize } from 'node:v8';
import { limits } from '../../limits/service.ts';
import type { Batch, Decision } from '../../store/group-commit.ts';
import { type KeysHead, keyHeads, keyOrder, onceResults, usedKeys } from './records.ts';

/** One request with a key, from its first decision to its last. */
export interface OnceCall {
  readonly accountId: string;
  /** Hash of the key. */
  readonly key: string;
  /** Hash of the request. */
  readonly request: string;
  readonly nowMs: number;
  readonly seal: (place: string, plain: Uint8Array) => Uint8Array;
  readonly open: (place: string, sealed: Uint8Array) => Uint8Array;
  /** What was kept at a place, if it was. */
  readonly kept: (place: string) => Uint8Array | undefined;
  /** How many decisions or plans with the same name and input the request has made so far. */
  readonly taken: Map<string, number>;
  /** Plans that are acted on now, by their places: the next decision keeps them. */
  readonly plans: Map<string, Uint8Array>;
}

/** Names a decision, with all that it depends on but rows: its place among the results of a request. */
export type DecisionName = readonly [name: string, ...input: unknown[]];

/** The decision, or what it returned to the first request with the key of `call`. */
export function decidedOnce<T>(call: OnceCall, name: DecisionName, decide: Decision<T>): Decision<T> {
  const { place } = takePlace(call, name);
  return (batch) => {
    const kept = batch.get(onceResults, [call.accountId, call.key, place]);
    if (kept !== undefined) return deserialize(call.open(place, kept.sealed)) as ReturnType<Decision<T>>;
    const result = decide(batch);
    keep(batch, call, new Map([...call.plans, [place, serialize(result)]]));
    return result;
  };
}

/**
 * Reads what a request decides about, then acts on it. The plan is kept in the commit of the first decision that is made of
 * it, so a repeat acts on the same plan, whatever changed since, and its decisions are the same ones. A plan of which
 * nothing was decided is not kept. `name`: as of a decision.
 */
export async function actOnPlan<P, T>(
  call: OnceCall,
  name: DecisionName,
  plan: () => Promise<P> | P,
  act: (plan: P) => Promise<T>,
): Promise<T> {
  const { place, giveBack } = takePlace(call, ['plan', ...name]);
  const kept = call.kept(place);
  if (kept !== undefined) return await act(deserialize(call.open(place, kept)) as P);
  let isActing = false;
  try {
    const made = await plan();
    call.plans.set(place, serialize(made));
    isActing = true;
    return await act(made);
  } catch (error) {
    // The next plan of this name takes its place.
    if (!isActing || call.kept(place) === undefined) giveBack();
    throw error;
  } finally {
    call.plans.delete(place);
  }
}

/** The next place of a name. A repeat of the request takes the same ones. */
function takePlace({ taken }: OnceCall, name: DecisionName): { readonly place: string; readonly giveBack: () => void } {
  const what = createHash('sha256').update(JSON.stringify(name)).digest('hex');
  const nth = taken.get(what) ?? 0;
  taken.set(what, nth + 1);
  return { place: `${what}.${nth}`, giveBack: () => taken.set(what, nth) };
}

function keep(batch: Batch, call: OnceCall, results: ReadonlyMap<string, Uint8Array>): void {
  const { accountId, key } = call;
  const known = batch.get(usedKeys, [accountId, key]);
  const head = batch.get(keyHeads, [accountId]) ?? { number: 0, keys: 0, bytes: 0 };
  const number = known?.number ?? head.number + 1;
  let added = 0;
  for (const [place, result] of results) {
    // An earlier decision of the request kept the plan.
    if (batch.get(onceResults, [accountId, key, place]) !== undefined) continue;
    const sealed = call.seal(place, result);
    batch.put(onceResults, [accountId, key, place], { sealed });
    added += sealed.length;
  }
  const bytes = (known?.bytes ?? 0) + added;
  batch.put(usedKeys, [accountId, key], { request: call.request, at_ms: known?.at_ms ?? call.nowMs, number, bytes });
  if (known === undefined) batch.put(keyOrder, [accountId, number], { key });
  const next = {
    number: Math.max(number, head.number),
    keys: head.keys + (known === undefined ? 1 : 0),
    bytes: head.bytes + added,
  };
  const isOver = ({ keys, bytes: sum }: KeysHead) => keys > limits.usedKeysMax || sum > limits.usedKeyBytesMax;
  batch.put(
    keyHeads,
    [accountId],
    forgetKeys(batch, accountId, next, (left, at) => isOver(left) && at !== number),
  );
}

/** Removes the oldest keys while `isDue`, at most some. Returns the head that the caller writes. */
function forgetKeys(
  batch: Batch,
  accountId: string,
  head: KeysHead,
  isDue: (head: KeysHead, number: number, atMs: number) => boolean,
): KeysHead {
  let left = head;
  for (const row of batch.range(keyOrder, { prefix: [accountId], limit: limits.usedKeysForgotten })) {
    const { key } = row.value;
    const [, number] = row.key;
    const used = batch.get(usedKeys, [accountId, key]);
    if (used !== undefined && !isDue(left, number, used.at_ms)) break;
    for (const [, , place] of batch.keys(onceResults, [accountId, key]))
      batch.remove(onceResults, [accountId, key, place]);
    batch.remove(usedKeys, [accountId, key]);
    batch.remove(keyOrder, [accountId, number]);
    left = { ...left, keys: left.keys - 1, bytes: left.bytes - (used?.bytes ?? 0) };
  }
  return left;
}

/** Removes keys of before `cutoffMs`, at most some. Returns how many. */
export function forgetOldKeys(batch: Batch, accountId: string, cutoffMs: number): number {
  const head = batch.get(keyHeads, [accountId]);
  if (head === undefined) return 0;
  const left = forgetKeys(batch, accountId, head, (_head, _number, atMs) => atMs < cutoffMs);
  if (left.keys === 0) batch.put(keyHeads, [accountId], { ...left, bytes: 0 });
  else if (left.keys !== head.keys) batch.put(keyHeads, [accountId], left);
  return head.keys - left.keys;
}
