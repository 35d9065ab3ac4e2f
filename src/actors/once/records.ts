/**
 * Defines the tables of idempotency keys: what a request with a key decided, for a repeat of it. Written in the commit of
 * the decision itself, by the actor that made it: of the account, or of one of its vaults.
 */
import { recordCodec } from '../../store/codec.ts';
import type { Owners } from '../../store/owners.ts';
import { type AnyTable, defineTable } from '../../store/table.ts';

const owners: Owners = { account: 0, vault: 'any' };

/** A key that was used, by its hash. */
export interface UsedKey {
  /** Hash of the request that used it. */
  readonly request: string;
  readonly at_ms: number;
  /** Its place in the order of keys. */
  readonly number: number;
  /** Of all its results. */
  readonly bytes: number;
}

export const usedKeys = defineTable<[accountId: string, key: string], UsedKey>(
  'idempotency_keys',
  recordCodec(1),
  owners,
);

/** What one decision of a request returned, sealed: it may hold secrets that are shown once. */
export const onceResults = defineTable<
  [accountId: string, key: string, place: string],
  { readonly sealed: Uint8Array }
>('idempotency_results', recordCodec(1), owners);

/** The keys of an account, oldest first. */
export const keyOrder = defineTable<[accountId: string, number: number], { readonly key: string }>(
  'idempotency_order',
  recordCodec(1),
  owners,
);

export interface KeysHead {
  /** The last used number. */
  readonly number: number;
  readonly keys: number;
  readonly bytes: number;
}

export const keyHeads = defineTable<[accountId: string], KeysHead>('idempotency_heads', recordCodec(1), owners);

export const onceTables: readonly AnyTable[] = [usedKeys, onceResults, keyOrder, keyHeads];
