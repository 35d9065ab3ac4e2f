/** Decides which refusals show the form again with errors; all others show an error page. */
import { explain, type Fault, type FieldErrors, Refusal } from '../common/fault.ts';
import type { Problem } from './fields.tsx';

export type Tried<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: Problem };

/**
 * Runs the action of a form. `values` may be shown again, so it must not contain secrets. `notFound` names the field to
 * blame for Refusal `not_found`.
 */
export async function problemOf<T>(
  form: string,
  values: Readonly<Record<string, string>>,
  act: () => T | Promise<T>,
  { notFound }: { readonly notFound?: string } = {},
): Promise<Tried<T>> {
  try {
    return { ok: true, value: await act() };
  } catch (error) {
    const fields = error instanceof Refusal ? fieldsOf(error.fault, notFound) : undefined;
    if (fields === undefined) throw error;
    return { ok: false, problem: { form, fields, values } };
  }
}

function fieldsOf(fault: Fault, notFound: string | undefined): FieldErrors | undefined {
  if (fault.kind === 'not_found' && notFound !== undefined) return { [notFound]: [explain(fault)] };
  if (fault.kind === 'invalid_fields') return fault.fields;
  if (fault.kind === 'stale_version') return { form: [changedElsewhere(fault)] };
  if (fault.kind === 'key_limit' || fault.kind === 'signup_closed' || fault.kind === 'signups_spent') {
    return { form: [explain(fault)] };
  }
  return undefined;
}

/** The form below this sentence keeps the entered text and shows the current one. */
function changedElsewhere({ current }: Extract<Fault, { kind: 'stale_version' }>): string {
  return `This was changed elsewhere and is at version ${current} now. Your text is in the form, with that version below it. Saving again replaces that version.`;
}
