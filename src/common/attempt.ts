/** Turns the refusal of one step into a value, so that it does not abort the other steps. */
import { type Fault, Refusal } from './fault.ts';

export type Attempt<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly fault: Fault };

/** Returns the value of a step, or the fault of its Refusal. Other errors are rethrown. */
export async function attempt<T>(step: () => T | Promise<T>): Promise<Attempt<T>> {
  try {
    return { ok: true, value: await step() };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, fault: error.fault };
    throw error;
  }
}
