/** Defines what became of something whose changes are taken back. */
import { explain, Refusal } from '../common/fault.ts';

export type UndoOutcome =
  /** Removed: it was new. Back: it was removed. */
  | { readonly kind: 'changed' | 'removed' | 'back' | 'same' }
  /** Left alone; `why` continues a sentence. */
  | LeftAlone;

export interface LeftAlone {
  readonly kind: 'kept';
  readonly why: string;
}

/** True when something was changed. */
export function isDone({ kind }: UndoOutcome): boolean {
  return kind !== 'same' && kind !== 'kept';
}

/** What a step answers; a refusal leaves the thing alone. */
export async function keptIfRefused<T>(step: () => Promise<T> | T): Promise<T | LeftAlone> {
  try {
    return await step();
  } catch (error) {
    if (error instanceof Refusal) return { kind: 'kept', why: explain(error.fault) };
    throw error;
  }
}
