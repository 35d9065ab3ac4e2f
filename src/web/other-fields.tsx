/** Renders and reads the fields of a record that a form has no control of its own for, from their declarations. */
import type { VNode } from 'preact';
import { z } from 'zod';
import { type CallerInput, memberOf } from '../fields/record.ts';
import { bare } from '../fields/sentences.ts';
import { Field, type Problem, Select, TextArea } from './fields.tsx';

/** Longest text entered on one line. */
const LINE_CHARS_MAX = 200;

interface OtherFieldsProps {
  readonly form: string;
  readonly inputs: readonly CallerInput[];
  /** Undefined for a new one. */
  readonly record: object | undefined;
  readonly problem: Problem | undefined;
}

/** A labelled control for each field. A value that no plain control can hold, such as a list, has none and stays. */
export function OtherFields({ form, inputs, record, problem }: OtherFieldsProps): VNode {
  return (
    <>
      {inputs.filter(isPlain).map((field) => (
        <OtherField
          key={field.name}
          form={form}
          field={field}
          value={enteredText(record === undefined ? field.initial : memberOf(record, field.name))}
          problem={problem}
        />
      ))}
    </>
  );
}

interface OtherFieldProps {
  readonly form: string;
  readonly field: CallerInput;
  readonly value: string;
  readonly problem: Problem | undefined;
}

function OtherField({ field: { name, input }, ...rest }: OtherFieldProps): VNode {
  const { schema, isNullable } = bare(input);
  const props = { ...rest, name, label: labelOf(name), required: false };
  const choices = choicesOf(schema);
  if (choices !== undefined) {
    const none = isNullable ? [{ value: '', label: 'None' }] : [];
    return <Select {...props} options={[...none, ...choices]} />;
  }
  const max = schema instanceof z.ZodString ? (schema.maxLength ?? undefined) : undefined;
  return max !== undefined && max > LINE_CHARS_MAX ? (
    <TextArea {...props} rows={3} />
  ) : (
    <Field {...props} type={z.globalRegistry.get(schema)?.['format'] === 'date' ? 'date' : 'text'} />
  );
}

/** Reads those of the fields that a form has: for a change, or for a new record, where an empty one is left out. */
export function readOtherFields(
  inputs: readonly CallerInput[],
  form: URLSearchParams,
  forWhat: 'new' | 'change',
): Record<string, unknown> {
  return Object.fromEntries(
    inputs
      .filter(isPlain)
      .filter(({ name }) => form.has(name) && !(forWhat === 'new' && form.get(name) === ''))
      .map(({ name, input }) => [name, enteredValue(input, form.get(name) ?? '')]),
  );
}

/** Returns the fields of a form that sends the values of a record. */
export function otherFormFields(inputs: readonly CallerInput[], record: object): Record<string, string> {
  return Object.fromEntries(inputs.filter(isPlain).map(({ name }) => [name, enteredText(memberOf(record, name))]));
}

function isPlain({ input }: CallerInput): boolean {
  const { schema } = bare(input);
  return schema instanceof z.ZodString || schema instanceof z.ZodNumber || choicesOf(schema) !== undefined;
}

/** A box that is not checked is not sent either, so it could not be told from a form without the field. */
function choicesOf(schema: z.core.$ZodType): { readonly value: string; readonly label: string }[] | undefined {
  if (schema instanceof z.ZodBoolean) {
    return [
      { value: 'false', label: 'No' },
      { value: 'true', label: 'Yes' },
    ];
  }
  if (!(schema instanceof z.ZodEnum)) return undefined;
  return schema.options.map((option) => ({ value: String(option), label: labelOf(String(option)) }));
}

function enteredValue(input: z.ZodType, text: string): unknown {
  const { schema, isNullable } = bare(input);
  if (text === '' && isNullable) return null;
  if (schema instanceof z.ZodBoolean) return text === 'true';
  // A text that is no number is refused with words about the field.
  if (schema instanceof z.ZodNumber) return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
  // Forms send line ends as CR LF.
  return text.replace(/\r\n?/g, '\n');
}

function enteredText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

/** `due_date` becomes `Due date`. */
function labelOf(name: string): string {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
