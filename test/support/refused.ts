/** What a pure rule refuses, as a value. */
import { type Fault, Refusal } from '../../src/common/fault.ts';

/** The names of the fields in place of their sentences. */
type Refused =
  | { readonly kind: 'invalid_fields'; readonly fields: readonly string[] }
  | Exclude<Fault, { kind: 'invalid_fields' }>;

/** Returns the fault that a call refuses with; of invalid fields their names. Undefined when it refuses nothing. */
export function refusedWith(run: () => unknown): Refused | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { fault } = error;
    return fault.kind === 'invalid_fields' ? { kind: fault.kind, fields: Object.keys(fault.fields) } : fault;
  }
}
