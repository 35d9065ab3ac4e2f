/** Turns the refusal of one step among many into a value, so that it harms no other. */
import { type Fault, Refusal } from './fault.ts';

export type Attempt<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly fault: Fault };

/** The value of a step, or why it was refused. Anything but a Refusal is thrown on. */
export async function attempt<T>(step: () => T | Promise<T>): Promise<Attempt<T>> {
  try {
    return { ok: true, value: await step() };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, fault: error.fault };
    throw error;
  }
}
