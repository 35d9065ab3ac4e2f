/**
 * Declares a record once, as an object of fields. What callers may send, what counts as a change, the form in answers,
 * the form in an archive and the example all follow from that. Pure; lists of names are made once for each record.
 */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { asStored } from './kinds.ts';
import { safely } from './safely.ts';
import { bare, OWN_WORDS } from './sentences.ts';

/** The schema of a field in an archive. `instant`: that of times, which knows how late a time may be. */
type Archived<V> = (instant: z.ZodType<string>) => z.ZodType<V>;

/** What a new record has when the caller leaves the field out: it may not, or `initial`, or what the hub decides. */
type Start = 'required' | 'initial' | 'decided';

/** A field that callers set. */
interface CallerField<I extends z.ZodType = z.ZodType, S extends Start = Start> {
  readonly setBy: 'caller';
  readonly start: S;
  readonly initial: z.output<I> | undefined;
  readonly input: I;
  readonly shown: z.ZodType<z.output<I>>;
  readonly archived: Archived<z.output<I>>;
  readonly example: z.output<I>;
}

/** A field that only the hub sets. `A`: undefined when archives leave it out. */
interface HubField<S extends z.ZodType = z.ZodType, A = Archived<z.output<S>> | undefined> {
  readonly setBy: 'hub';
  readonly shown: S;
  readonly archived: A;
  readonly example: z.output<S>;
}

/** A field that the hub sets and no answer contains. */
interface InternalField<V = unknown, A = Archived<V> | undefined> {
  readonly setBy: 'internal';
  readonly archived: A;
  /** Type only. */
  readonly value?: V;
}

// biome-ignore lint/suspicious/noExplicitAny: a list of fields is read by name, never by the type of their values.
export type RecordFields = Readonly<Record<string, CallerField<any> | HubField<any, any> | InternalField<any, any>>>;

interface CallerFieldOptions<I extends z.ZodType> {
  /** Value in the documents. */
  readonly example: z.output<I>;
  /** Description in answers. */
  readonly says?: string;
  /** Value in archives written before the field existed; absent: every archive has it. */
  readonly before?: z.output<I>;
}

/** Declares a field that each new record needs. `input`: what callers may send. */
export function requiredField<I extends z.ZodType>(input: I, about: CallerFieldOptions<I>): CallerField<I, 'required'> {
  return callerField(input, 'required', undefined, about);
}

/** Declares a field that is `initial` in a new record when the caller leaves it out. */
export function optionalField<I extends z.ZodType>(
  input: I,
  { initial, ...about }: CallerFieldOptions<I> & { readonly initial: z.output<I> },
): CallerField<I, 'initial'> {
  return callerField(input, 'initial', initial, about);
}

/** Declares a field that callers may set and the hub decides, for instance from other fields. */
export function decidedField<I extends z.ZodType>(input: I, about: CallerFieldOptions<I>): CallerField<I, 'decided'> {
  return callerField(input, 'decided', undefined, about);
}

function callerField<I extends z.ZodType, S extends Start>(
  input: I,
  start: S,
  initial: z.output<I> | undefined,
  { example, says, before }: CallerFieldOptions<I>,
): CallerField<I, S> {
  const shown = plain(input) as z.ZodType<z.output<I>>;
  const stored = unchangedBy(asStored(input));
  const archived = before === undefined ? stored : stored.default(before as z.core.util.NoUndefined<z.output<I>>);
  return {
    setBy: 'caller',
    start,
    initial,
    input,
    shown: says === undefined ? shown : shown.describe(says),
    archived: () => archived as z.ZodType<z.output<I>>,
    example,
  };
}

/** Declares a field that only the hub sets. `archived`: undefined when an import computes it. */
export function hubField<S extends z.ZodType, A extends Archived<z.output<S>> | undefined>(
  shown: S,
  { archived, example }: { readonly archived: A; readonly example: z.output<S> },
): HubField<S, A> {
  return { setBy: 'hub', shown, archived, example };
}

/** Declares a field that no answer contains. */
export function internalField<V>(archived: Archived<V>): InternalField<V, Archived<V>> {
  return { setBy: 'internal', archived };
}

/** Declares a field that neither an answer nor an archive contains. */
export function computedField<V>(): InternalField<V, undefined> {
  return { setBy: 'internal', archived: undefined };
}

type ValueOf<F> =
  F extends CallerField<infer I>
    ? z.output<I>
    : F extends HubField<infer S, unknown>
      ? z.output<S>
      : F extends InternalField<infer V, unknown>
        ? V
        : never;

/** Makes the members optional whose values may be undefined. */
type Members<T> = { readonly [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  readonly [K in keyof T as undefined extends T[K] ? K : never]?: T[K];
} extends infer M
  ? { readonly [K in keyof M]: M[K] }
  : never;

/** The stored record of declared fields. */
export type RecordOf<D extends RecordFields> = Members<{ [K in keyof D]: ValueOf<D[K]> }>;

type CallerKeys<D> = { [K in keyof D]: D[K] extends CallerField ? K : never }[keyof D];
type InputOf<F> = F extends CallerField<infer I> ? I : never;

/** Schemas of what callers send: for a new record, and for a partial change. */
type NewShape<D> = {
  [K in CallerKeys<D>]: D[K] extends { readonly start: 'required' } ? InputOf<D[K]> : z.ZodOptional<InputOf<D[K]>>;
};
type ChangeShape<D> = { [K in CallerKeys<D>]: z.ZodOptional<InputOf<D[K]>> };

type ShownShape<D> = {
  [K in keyof D as D[K] extends { readonly shown: z.ZodType } ? K : never]: D[K] extends {
    readonly shown: infer S extends z.ZodType;
  }
    ? S
    : never;
};

type SchemaFor<V> = undefined extends V ? z.ZodOptional<z.ZodType<Exclude<V, undefined>>> : z.ZodType<V>;

type ArchivedShape<D> = {
  [K in keyof D as D[K] extends { readonly archived: undefined } ? never : K]: SchemaFor<ValueOf<D[K]>>;
};

/** What a caller gave: any of the fields that callers set. */
type Given<D> = { readonly [K in CallerKeys<D>]?: ValueOf<D[K]> | undefined };
/** What a caller gave for a new record. */
type GivenNew<D> = Given<D> & {
  readonly [K in CallerKeys<D> as D[K] extends { readonly start: 'required' } ? K : never]: ValueOf<D[K]>;
};
/** What the hub decides about a new record: every field that has neither a caller nor an initial value. */
type Decided<D extends RecordFields> = Partial<RecordOf<D>> & Omit<RecordOf<D>, DependentKeys<D>>;
type DependentKeys<D> = {
  [K in keyof D]: D[K] extends { readonly start: 'required' | 'initial' } ? K : never;
}[keyof D];

type Values = Readonly<Record<string, unknown>>;

/** A field that callers set, for code that knows no field by its name. */
export interface CallerInput {
  readonly name: string;
  readonly input: z.ZodType;
  /** Undefined when a new record has no such value. */
  readonly initial: unknown;
}

/** All that follows from the declared fields of a record. */
export interface DeclaredRecord<D extends RecordFields> {
  /** The fields that callers set, each with what it accepts, in their order. */
  readonly inputs: { readonly [K in CallerKeys<D>]: InputOf<D[K]> };
  /** Returns the fields that callers set, in their order, without those named. */
  readonly inputsBeside: (names: readonly CallerKeys<D>[]) => readonly CallerInput[];
  /** What a caller may send for a new record. */
  readonly newInput: z.ZodObject<NewShape<D>, z.core.$strict>;
  /** What a caller may send for a partial change: an absent field keeps its value. */
  readonly changeInput: z.ZodObject<ChangeShape<D>, z.core.$strict>;
  /** The record in answers. */
  readonly shown: z.ZodObject<ShownShape<D>>;
  /** A record in answers, for the documents. */
  readonly example: z.output<z.ZodObject<ShownShape<D>>>;
  /** Returns the schema of a line of an archive with this record. */
  readonly archivedAs: <T extends string>(
    type: T,
    instant: z.ZodType<string>,
  ) => z.ZodObject<{ type: z.ZodLiteral<T> } & ArchivedShape<D>, z.core.$strict>;
  /** Returns a new record from what the caller gave and what the hub decides, which comes first. */
  readonly make: (given: GivenNew<D>, decided: Decided<D>) => RecordOf<D>;
  /** Returns a record after a change: the same object when no member gets another value. `decided` comes first. */
  readonly change: (record: RecordOf<D>, given: Given<D>, decided?: Partial<RecordOf<D>>) => RecordOf<D>;
  /** Returns the record as answers contain it. */
  readonly show: (record: RecordOf<D>) => z.output<z.ZodObject<ShownShape<D>>>;
}

/** Derives everything from the fields of a record. Records and answers have their members in the order of `fields`. */
export function declareRecord<const D extends RecordFields>(fields: D): DeclaredRecord<D> {
  const entries = Object.entries(fields);
  const callers = entries.flatMap(([name, field]) => (field.setBy === 'caller' ? [[name, field] as const] : []));
  const shownFields = entries.flatMap(([name, field]) => (field.setBy === 'internal' ? [] : [[name, field] as const]));
  const inputNames = callers.map(([name]) => name);
  const shownNames = shownFields.map(([name]) => name);
  const shapeOf = <F>(of: readonly (readonly [string, F])[], schema: (field: F) => z.ZodType | undefined) =>
    Object.fromEntries(
      of.flatMap(([name, field]) => {
        const made = schema(field);
        return made === undefined ? [] : [[name, made]];
      }),
    );
  const derived = {
    inputs: shapeOf(callers, ({ input }) => input),
    inputsBeside: (beside: readonly string[]) =>
      callers
        .filter(([name]) => !beside.includes(name))
        .map(([name, { input, initial }]): CallerInput => ({ name, input, initial })),
    newInput: z.strictObject(
      shapeOf(callers, ({ input, start }) => (start === 'required' ? input : z.optional(input))),
    ),
    changeInput: z.strictObject(shapeOf(callers, ({ input }) => z.optional(input))),
    shown: z.object(shapeOf(shownFields, ({ shown }) => shown)),
    example: Object.fromEntries(shownFields.map(([name, { example }]) => [name, example])),
    archivedAs: (type: string, instant: z.ZodType<string>) =>
      z.strictObject({ type: z.literal(type), ...shapeOf(entries, ({ archived }) => archived?.(instant)) }),
    make(given: Values, decided: Values) {
      const record: Record<string, unknown> = {};
      for (const [name, field] of entries) {
        if (Object.hasOwn(decided, name)) record[name] = decided[name];
        else if (field.setBy === 'caller') record[name] = given[name] === undefined ? field.initial : given[name];
      }
      return record;
    },
    change(record: Values, given: Values, decided: Values = {}) {
      const next: Record<string, unknown> = { ...record };
      for (const name of inputNames) if (given[name] !== undefined) next[name] = given[name];
      Object.assign(next, decided);
      return Object.keys(next).every((name) => isSame(next[name], record[name])) ? record : next;
    },
    show(record: Values) {
      const shown: Record<string, unknown> = {};
      for (const name of shownNames) if (record[name] !== undefined) shown[name] = record[name];
      return shown;
    },
  } satisfies Record<keyof DeclaredRecord<D>, unknown>;
  // Every member is made from the same entries that its type maps.
  return derived as unknown as DeclaredRecord<D>;
}

/** Returns `name: value` for each of these fields that a record has another value in than a new one. */
export function notesOf(inputs: readonly CallerInput[], record: object): string[] {
  return inputs.flatMap(({ name, initial }) => {
    const value = memberOf(record, name);
    return value === null || isSame(value, initial) ? [] : [`${name}: ${JSON.stringify(value)}`];
  });
}

/** Returns the member of a record by a name that no type knows. */
export function memberOf(record: object, name: string): unknown {
  return (record as Values)[name];
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || (typeof a === 'object' && isDeepStrictEqual(a, b));
}

/** The kind of value in answers, without the limits that callers are held to. */
function plain(input: z.ZodType): z.ZodType {
  const { schema, isNullable } = bare(input);
  const form = plainKind(schema as z.ZodType);
  return isNullable ? form.nullable() : form;
}

function plainKind(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodString) return z.string();
  if (schema instanceof z.ZodBoolean) return z.boolean();
  if (!(schema instanceof z.ZodNumber)) return schema;
  if (!schema.isInt) return z.number();
  const least = schema.minValue ?? Number.NEGATIVE_INFINITY;
  return least >= 1 ? z.int().positive() : least >= 0 ? z.int().nonnegative() : z.int();
}

/** Accepts the values that a caller could send and that are stored as they are. */
function unchangedBy(input: z.ZodType): z.ZodType {
  return z.unknown().superRefine((value, context) => {
    const parsed = safely(input, value, OWN_WORDS);
    if (parsed.success) {
      if (!isSame(parsed.data, value)) context.addIssue({ code: 'custom', message: 'is not in its stored form' });
      return;
    }
    for (const issue of parsed.error.issues) context.addIssue({ ...issue });
  });
}
