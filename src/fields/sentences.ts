/** Words every error that zod finds in a value, in one place: no caller sees the library's own messages. Pure. */
import { z } from 'zod';
import type { FieldErrors } from '../common/fault.ts';
import { insteadOf, meantChoice, meantFields } from './misnamed.ts';

type Issue = z.core.$ZodIssue;
type Fields = Readonly<Record<string, unknown>>;

/** Maximum number of characters of a caller's name or word repeated in an error. */
const NAME_CHARS_MAX = 64;
/** Maximum number of invalid fields reported at once. A body can have a million. */
const FIELDS_MAX = 20;

const EMPTY = 'must not be empty';
/** The arguments of a tool as a whole. A model fills in what it leaves out; a person empties a field of a form. */
const ARGUMENTS = 'arguments';

/** Parse options for `fieldErrors`: an issue has a message only where its schema declares one. */
export const OWN_WORDS = { reportInput: true, error: () => '' } as const;

/**
 * Returns every invalid field of a value with its errors. A message declared in a schema is a predicate, such as
 * `must be odd`, and follows the name of the field.
 *
 * @param whole the name of the value itself, for when it is not an object
 */
export function fieldErrors(schema: z.ZodType, issues: readonly Issue[], whole: string): FieldErrors {
  // A map, because a caller's field may have the name of an inherited one, such as `constructor`.
  const errors = new Map<string, string[]>();
  for (const issue of issues) {
    for (const [field, sentence] of sentencesOf(schema, issue, whole)) {
      const earlier = errors.get(field) ?? [];
      if (errors.size === FIELDS_MAX && earlier.length === 0) return Object.fromEntries(errors);
      if (!earlier.includes(sentence)) errors.set(field, [...earlier, sentence]);
    }
  }
  return Object.fromEntries(errors);
}

function sentencesOf(schema: z.ZodType, issue: Issue, whole: string): [field: string, sentence: string][] {
  const place = placeAt(schema, issue.path);
  if (issue.code === 'unrecognized_keys') {
    const shape = place?.schema instanceof z.ZodObject ? place.schema.shape : undefined;
    return issue.keys.slice(0, FIELDS_MAX).map((given) => {
      const name = given.slice(0, NAME_CHARS_MAX);
      return [[...issue.path, name].join('.'), unknownField(name, shape, (issue.input ?? {}) as Fields, given)];
    });
  }
  if (issue.path.length === 0) return [[whole, `${whole} ${predicateOf(issue, place)}`]];
  const field = issue.path.join('.');
  const isMissing = issue.input === undefined && /^invalid_(type|value|union)$/.test(issue.code);
  const omit = whole === ARGUMENTS && place?.isOptional === true ? '; omit it instead' : '';
  const predicate = isMissing ? missing(issue) : predicateOf(issue, place);
  return [[field, `${field} ${predicate}${predicate === EMPTY ? omit : ''}`]];
}

function missing({ message }: Issue): string {
  return message === '' ? 'is required' : `is required; it ${message}`;
}

/** `shape`: the fields that the object may have. Undefined: they depend on other fields. */
function unknownField(name: string, shape: z.core.$ZodShape | undefined, object: Fields, given: string): string {
  const known = shape && Object.keys(shape);
  const shown = /^[\w.-]+$/.test(name) ? name : JSON.stringify(name);
  const absent = known?.filter((field) => !Object.hasOwn(object, field)) ?? [];
  const list = absent.find((field) => Object.hasOwn(itemOf(bareOf(shape ?? {}, field))?.shape ?? {}, given));
  if (list !== undefined) return `${shown} is not a known field; send it in ${list}: [{"${given}": …}]`;
  const instead = insteadOf(name, known ?? []);
  if (instead !== undefined) return `${shown} is not a known field; ${instead}`;
  const required = absent.filter((field) => bareOf(shape ?? {}, field)?.isOptional === false);
  const guesses = meantFields(name, known ?? [], absent, required);
  if (guesses.length > 0) return `${shown} is not a known field; did you mean ${guesses.join(' or ')}?`;
  if (absent.some((field) => isField(object[given], field))) {
    return `${shown} is not a known field; send the fields in it directly, without ${shown} around them`;
  }
  const hint = known === undefined ? '' : `; known fields: ${known.join(', ') || 'none'}`;
  return `${shown} is not a known field${hint}`;
}

/** The object that each item of a list is; undefined: it is no list of objects. */
function itemOf(place: Place | undefined): z.ZodObject | undefined {
  const item = place?.schema instanceof z.ZodArray ? bare(place.schema.element).schema : undefined;
  return item instanceof z.ZodObject ? item : undefined;
}

function isField(value: unknown, field: string): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, field);
}

function predicateOf(issue: Issue, place: Place | undefined): string {
  const predicate = issue.message === '' ? ownPredicate(issue, place) : issue.message;
  const orNull = place?.isNullable === true && predicate.startsWith('must be ') ? ', or null' : '';
  return `${predicate}${orNull}${guessAt(issue)}`;
}

function ownPredicate(issue: Issue, place: Place | undefined): string {
  switch (issue.code) {
    case 'invalid_type':
      return typePredicate(issue.expected, place) + listExample(issue) + objectExample(issue, place);
    case 'invalid_value':
      return issue.values.length === 1
        ? `must be ${String(issue.values[0])}`
        : `must be one of ${issue.values.map(String).join(', ')}${Array.isArray(issue.input) ? ', not a list' : ''}`;
    case 'too_small':
      return sizePredicate(issue.origin, issue.minimum, issue.exact === true ? 'exactly' : 'at least', place);
    case 'too_big':
      return sizePredicate(issue.origin, issue.maximum, issue.exact === true ? 'exactly' : 'at most', place);
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'invalid_union':
      return 'is none of the kinds accepted here';
    default:
      return 'has the wrong form';
  }
}

function typePredicate(expected: string, place: Place | undefined): string {
  switch (expected) {
    case 'string':
      return 'must be a string';
    case 'boolean':
      return 'must be true or false';
    case 'int':
    case 'number': {
      const range = rangeOf(place);
      const kind = isWhole(place) || expected === 'int' ? 'a whole number' : 'a number';
      return `must be ${kind}${range === '' ? '' : /^\d/.test(range) ? ` of ${range}` : ` ${range}`}`;
    }
    case 'array':
      return 'must be a list';
    case 'object':
    case 'record':
      return 'must be a JSON object';
    default:
      return 'has the wrong type';
  }
}

/** A list of one item, when the item was sent without the list. */
function listExample({ code, input, ...issue }: Issue): string {
  const isItem =
    code === 'invalid_type' && 'expected' in issue && issue.expected === 'array' && typeof input === 'string';
  return isItem && input.length <= NAME_CHARS_MAX ? `, such as [${JSON.stringify(input)}]` : '';
}

/** An object with one text that it needs, when that text was sent alone. */
function objectExample({ input, path }: Issue, place: Place | undefined): string {
  if (
    path.length === 0 ||
    !(place?.schema instanceof z.ZodObject) ||
    typeof input !== 'string' ||
    input.length > NAME_CHARS_MAX
  )
    return '';
  const [only, ...others] = Object.entries(place.schema.shape).filter(([, field]) => !bare(field).isOptional);
  const isText = only !== undefined && others.length === 0 && bare(only[1]).schema instanceof z.ZodString;
  return isText ? `, such as ${JSON.stringify({ [only[0]]: input })}` : '';
}

function sizePredicate(origin: string, bound: number | bigint, how: string, place: Place | undefined): string {
  const unit = { string: 'character', array: 'item', set: 'item', map: 'entry' }[origin];
  if (unit === undefined) return `must be ${rangeOf(place) || `${how} ${bound}`}`;
  if (how === 'at least' && Number(bound) === 1) return EMPTY;
  return `must have ${how} ${bound} ${unit}${Number(bound) === 1 ? '' : 's'}`;
}

/** Returns the limits of a number: `between 1 and 100`, `1 or more`, `at most 5`. Empty when it has none. */
function rangeOf(place: Place | undefined): string {
  if (!(place?.schema instanceof z.ZodNumber)) return '';
  const low = place.schema.minValue ?? -Infinity;
  const high = place.schema.maxValue ?? Infinity;
  const [hasLow, hasHigh] = [low > Number.MIN_SAFE_INTEGER, high < Number.MAX_SAFE_INTEGER];
  if (hasLow && hasHigh) return `between ${low} and ${high}`;
  if (hasLow) return `${low} or more`;
  return hasHigh ? `at most ${high}` : '';
}

function isWhole(place: Place | undefined): boolean {
  return place?.schema instanceof z.ZodNumber && place.schema.isInt;
}

/** Suggests the choice that an invalid word was probably meant to be. */
function guessAt(issue: Issue): string {
  if (issue.code !== 'invalid_value' || typeof issue.input !== 'string' || issue.values.length < 2) return '';
  const guess = meantChoice(issue.input.slice(0, NAME_CHARS_MAX), issue.values.map(String));
  return guess === undefined ? '' : `; did you mean ${guess}?`;
}

/** A schema without its wrappers. */
interface Place {
  readonly schema: z.core.$ZodType;
  readonly isNullable: boolean;
  readonly isOptional: boolean;
}

/** Returns the schema at a path. Undefined when it depends on the value. */
function placeAt(root: z.core.$ZodType, path: readonly PropertyKey[]): Place | undefined {
  let place: Place | undefined = bare(root);
  for (const key of path) {
    const parent: z.core.$ZodType | undefined = place?.schema;
    if (parent instanceof z.ZodObject) place = bareOf(parent.shape, key);
    else if (parent instanceof z.ZodArray) place = bare(parent.element);
    else if (parent instanceof z.ZodRecord) place = bare(parent.valueType);
    else return undefined;
  }
  return place;
}

function bareOf(shape: Readonly<Record<string, z.core.$ZodType>>, key: PropertyKey): Place | undefined {
  const schema = Object.hasOwn(shape, key) ? shape[String(key)] : undefined;
  return schema === undefined ? undefined : bare(schema);
}

/** Removes the wrappers of a schema that is optional, nullable or the first step of several. */
export function bare(schema: z.core.$ZodType): Place {
  const isOptional = schema._zod.optin !== undefined;
  let [inner, isNullable] = [schema, false];
  for (;;) {
    const def = inner._zod.def as { type: string; innerType?: z.core.$ZodType; in?: z.core.$ZodType };
    const next = def.type === 'pipe' ? def.in : def.innerType;
    if (next === undefined) return { schema: inner, isNullable, isOptional };
    isNullable ||= def.type === 'nullable';
    inner = next;
  }
}
