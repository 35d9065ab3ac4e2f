/** Defines what the parts of one push share: its request and content within a decision, and its outcome. */
import { type Fault, Refusal } from '../../common/fault.ts';
import type { IncomingContent } from '../contents/incoming.ts';
import type { FileRecord } from '../log/file-record.ts';
import type { Turn } from '../log/vault-log.ts';
import { settledBy } from './decision.ts';
import type { PushRequest, PushState } from './types.ts';

export interface PushResult {
  readonly vaultId: string;
  readonly status: 'created' | 'updated' | 'deleted' | 'renamed' | 'restored' | 'unchanged';
  readonly record: FileRecord;
  /** Null when the path is new. */
  readonly previousHlc: string | null;
  readonly warnings: readonly string[];
}

/** The outcome of a push within its decision. */
export type Decided =
  | { readonly kind: 'done'; readonly result: PushResult; readonly adopted: boolean }
  | { readonly kind: 'conflict'; readonly fault: Fault; readonly adopted: boolean }
  /** Nothing was written: first look up whether the base belongs to another file. */
  | { readonly kind: 'unknown_base'; readonly sha: string; readonly adopted: false };

/** What the parts of one decision share. */
export interface PushStep {
  readonly turn: Turn;
  readonly push: PushRequest;
  readonly content: IncomingContent | undefined;
}

/** Returns the outcome of an accepted push. */
export function doneWith({ vaultId }: Turn, result: Omit<PushResult, 'vaultId'>, adopted: boolean): Decided {
  const { status, record, previousHlc, warnings } = result;
  return { kind: 'done', result: { vaultId, status, record, previousHlc, warnings }, adopted };
}

/** Returns the result of a decided push. Throws Refusal `sync_conflict` for a conflict, which is already on disk. */
export function resultOf(decided: Decided): PushResult {
  if (decided.kind === 'conflict') throw new Refusal(decided.fault);
  if (decided.kind === 'unknown_base') throw new Error('a base was looked up and is still unknown');
  return decided.result;
}

/** Settles the conflicts ended by this push. Returns their number. */
export function settlePending({ push, turn }: PushStep, state: PushState, seq: number): number {
  const ended = settledBy(push, state.pending);
  for (const { conflict, status } of ended) turn.change.settle(state.folded, conflict, status, seq);
  return ended.length;
}
