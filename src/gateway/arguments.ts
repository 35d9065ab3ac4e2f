/** Owns how the arguments of a tool are checked, and how what is wrong is told. Pure. */
import type { z } from 'zod';
import { Refusal } from '../common/fault.ts';
import { nearest } from '../text/nearest.ts';
import type { Tool } from './tool.ts';

type Issue = z.core.$ZodIssue;

/** Characters of an unknown name that are repeated in a sentence. */
const NAME_CHARS_MAX = 64;
/** Wrong fields that are told at once; a body can hold a million. */
const TOLD_FIELDS_MAX = 20;

/** Arguments that conform to the input schema of a tool, or of one item of a tool that takes many. Refuses all that is wrong at once, `invalid_fields`. */
export function readArguments(tool: Pick<Tool, 'input'>, given: unknown): Record<string, unknown> {
  const parsed = tool.input.safeParse(given ?? {}, { reportInput: true });
  if (parsed.success) return parsed.data as Record<string, unknown>;
  // A map, because a name that was given may be one that every object has, such as `constructor`.
  const fields = new Map<string, string[]>();
  for (const issue of parsed.error.issues) {
    for (const [field, sentence] of sentences(issue, Object.keys(tool.input.shape))) {
      fields.set(field, [...(fields.get(field) ?? []), sentence]);
    }
  }
  throw new Refusal({ kind: 'invalid_fields', fields: Object.fromEntries(fields) });
}

function sentences(issue: Issue, known: readonly string[]): [field: string, sentence: string][] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, TOLD_FIELDS_MAX).map((given) => {
      const key = given.slice(0, NAME_CHARS_MAX);
      const guess = issue.path.length === 0 ? nearest(key, known) : undefined;
      const hint = guess === undefined ? `it takes ${known.join(', ') || 'none'}` : `did you mean ${guess}?`;
      return [[...issue.path, key].join('.'), `${key} is not an argument of this tool; ${hint}`];
    });
  }
  const field = issue.path.join('.');
  if (field === '') return [['arguments', 'arguments must be an object']];
  const isMissing = issue.input === undefined && (issue.code === 'invalid_type' || issue.code === 'invalid_value');
  if (isMissing) return [[field, `${field} is required`]];
  return [[field, `${field}: ${issue.message}`]];
}
