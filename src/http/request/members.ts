/** Owns how a JSON document of a caller becomes fields: every wrong member is told at once, unknown ones with a guess. Pure. */
import { invalidField } from '../../common/fault.ts';
import { nearest } from '../../text/nearest.ts';

/** Reads one value; a string is the sentence that says what is wrong with it. */
export type Check<T> = (value: unknown) => { readonly value: T } | string;

export type Checks<F> = { readonly [Field in keyof F]-?: Check<F[Field]> };

export interface Checked<F> {
  readonly fields: F;
  readonly errors: Record<string, readonly string[]>;
}

/** Characters of a caller's own name that are repeated in a sentence. */
const NAME_CHARS_MAX = 40;

/** Takes the members of an object that have a check. Refuses what is no object. */
export function readMembers<F extends object>(
  document: unknown,
  checks: Readonly<Record<string, Check<unknown>>>,
): Checked<F> {
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    throw invalidField('body', 'the body must be a JSON object');
  }
  const fields: Record<string, unknown> = {};
  const errors: Record<string, readonly string[]> = {};
  for (const [member, value] of Object.entries(document)) {
    const check = Object.hasOwn(checks, member) ? checks[member] : undefined;
    if (check === undefined) {
      const meant = nearest(member, Object.keys(checks));
      errors[member] = [`${quote(member)} cannot be written${meant === undefined ? '' : `; did you mean ${meant}?`}`];
      continue;
    }
    const read = check(value);
    if (typeof read === 'string') errors[member] = [read];
    else fields[member] = read.value;
  }
  return { fields: fields as F, errors };
}

export const boolean =
  (field: string): Check<boolean> =>
  (value) =>
    typeof value === 'boolean' ? { value } : `${field} must be true or false`;

/** An id of something of the caller's, or null. Whether it is there is another question. */
export const idOrNull =
  (field: string, sentence: string): Check<number | null> =>
  (value) =>
    value === null || (Number.isSafeInteger(value) && (value as number) > 0)
      ? { value: value as number | null }
      : `${field} must be ${sentence}`;

/** True without lone surrogates, which UTF-8 cannot hold. */
export function isWellFormed(text: string): boolean {
  return !/\p{Cs}/u.test(text);
}

/** An id in a path; undefined: no id of ours. */
export function readId(text: string | undefined): number | undefined {
  return text !== undefined && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
}

function quote(member: string): string {
  return JSON.stringify(member.length > NAME_CHARS_MAX ? `${member.slice(0, NAME_CHARS_MAX)}…` : member);
}
