/** Renders the fields of forms: a label, a control, a hint and errors, associated for screen readers. */
import type { ComponentChildren, VNode } from 'preact';
import type { FieldErrors } from '../common/fault.ts';
import { ScrollingText, sentence } from './ui.tsx';

/** Why a form is shown again. */
export interface Problem {
  /** Identifies the form on the page. */
  readonly form: string;
  readonly fields: FieldErrors;
  /** Entered values that may be shown again; never a secret. */
  readonly values: Readonly<Record<string, string>>;
}

interface FieldBase {
  readonly form: string;
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly required?: boolean;
  /** Optional, but without the word "optional". */
  readonly isPlain?: boolean;
  readonly problem?: Problem | undefined;
}

export interface FieldProps extends FieldBase {
  readonly type?: 'text' | 'email' | 'password' | 'date' | 'color';
  readonly autocomplete?: string;
  readonly minlength?: number;
  readonly value?: string | undefined;
  readonly autofocus?: boolean;
  readonly placeholder?: string;
}

export function Field(props: FieldProps): VNode {
  const { name, type = 'text', required = true } = props;
  const { id, describedBy, invalid, entered } = controlOf(props);
  const isPassword = type === 'password';
  const input = (
    <input
      id={id}
      aria-describedby={describedBy}
      aria-invalid={invalid}
      name={name}
      type={type}
      required={required}
      value={entered ?? props.value}
      autocomplete={props.autocomplete ?? 'off'}
      autofocus={props.autofocus}
      placeholder={props.placeholder}
      minlength={props.minlength}
      // While it is shown, it is text like any other to a browser, which may send that to a spelling service.
      spellcheck={isPassword ? false : undefined}
      autocapitalize={isPassword ? 'none' : undefined}
    />
  );
  return (
    <Labelled field={props}>
      {isPassword ? (
        <div class="revealable">
          {input}
          <button class="button" type="button" data-reveal hidden>
            Show<span class="sr-only"> {props.label.toLowerCase()}</span>
          </button>
        </div>
      ) : (
        input
      )}
    </Labelled>
  );
}

/**
 * The version that a form was opened with, so that saving over a later one is refused. After such a refusal it is the
 * current version, whose text is then on the page.
 */
export function OpenedVersion({
  problem,
  current,
}: {
  readonly problem: Problem | undefined;
  readonly current: number;
}) {
  const opened = problem?.fields['form'] === undefined ? problem?.values['expected'] : undefined;
  return <input type="hidden" name="expected" value={opened ?? current} />;
}

/** The text now stored, after a save was refused because another one came first; else nothing. */
export function SavedElsewhere({ problem, text }: { readonly problem: Problem | undefined; readonly text: string }) {
  if (problem?.fields['form'] === undefined) return null;
  return (
    <div class="field">
      <strong>Saved elsewhere</strong>
      <ScrollingText label="The text saved elsewhere">{text}</ScrollingText>
    </div>
  );
}

export interface TextAreaProps extends FieldBase {
  readonly value: string;
  readonly rows: number;
  readonly class?: string;
}

/** Has no `maxlength`: a browser cuts what is pasted without a word. The hub refuses a longer text, and the form keeps it. */
export function TextArea(props: TextAreaProps): VNode {
  const { name, rows, required = true } = props;
  const { id, describedBy, invalid, entered } = controlOf(props);
  return (
    <Labelled field={props}>
      <textarea
        id={id}
        aria-describedby={describedBy}
        aria-invalid={invalid}
        class={props.class}
        name={name}
        rows={rows}
        required={required}
      >
        {/* The HTML parser drops the first newline, so a text that begins with one needs another before it. */}
        {`\n${entered ?? props.value}`}
      </textarea>
    </Labelled>
  );
}

export interface SelectProps extends FieldBase {
  readonly value: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
}

export function Select(props: SelectProps): VNode {
  const { id, describedBy, invalid, entered } = controlOf(props);
  const chosen = entered ?? props.value;
  return (
    <Labelled field={props} required>
      <select id={id} aria-describedby={describedBy} aria-invalid={invalid} name={props.name}>
        {props.options.map(({ value, label }) => (
          <option key={value} value={value} selected={value === chosen}>
            {label}
          </option>
        ))}
      </select>
    </Labelled>
  );
}

export interface CheckboxProps extends FieldBase {
  readonly checked: boolean;
}

/** Sends `true` if checked, otherwise nothing. */
export function Checkbox({ form, name, label, checked, problem }: CheckboxProps): VNode {
  const values = problem?.form === form ? problem.values : undefined;
  return (
    <label class="check">
      <input
        type="checkbox"
        name={name}
        value="true"
        checked={values === undefined ? checked : values[name] === 'true'}
      />
      {label}
    </label>
  );
}

interface LabelledProps {
  readonly field: FieldBase;
  readonly required?: boolean;
  readonly children: ComponentChildren;
}

function Labelled({ field, required = field.required ?? true, children }: LabelledProps): VNode {
  const { name, label, hint, isPlain = false } = field;
  const { id, errors } = controlOf(field);
  return (
    <div class="field">
      <label for={id}>
        {label}
        {required || isPlain ? null : <span class="optional"> (optional)</span>}
      </label>
      {hint === undefined ? null : (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {children}
      {errors.length === 0 ? null : (
        <p class="error" id={`${id}-error`}>
          {errors.map((error) => sentence(inWords(error, name, label))).join(' ')}
        </p>
      )}
    </div>
  );
}

/** Replaces the name of the field in an error with its label. What is null for a program is an empty field here. */
function inWords(error: string, name: string, label: string): string {
  const said = error.replace(/, or null$/, ', or empty');
  return said.startsWith(`${name} `) ? label + said.slice(name.length) : said;
}

/**
 * The attributes that associate a control with its texts, and the value entered before the form was shown again. Each is
 * named where it is used: a spread and more attributes took half of the time and memory of a form (`withHeaders`).
 */
function controlOf({ form, name, hint, problem }: FieldBase) {
  const id = `${form}-${name}`;
  const mine = problem?.form === form ? problem : undefined;
  const errors = mine?.fields[name] ?? [];
  const texts = [hint === undefined ? '' : `${id}-hint`, errors.length === 0 ? '' : `${id}-error`].join(' ').trim();
  return {
    id,
    errors,
    entered: mine?.values[name],
    describedBy: texts === '' ? undefined : texts,
    invalid: errors.length === 0 ? undefined : ('true' as const),
  };
}

interface FormErrorsProps {
  readonly form: string;
  readonly problem: Problem | undefined;
  /** Fields that show their own errors. */
  readonly shown: readonly string[];
}

/** Shows the errors of fields that are not in the form. */
export function FormErrors({ form, problem, shown }: FormErrorsProps): VNode | null {
  if (problem?.form !== form) return null;
  const rest = Object.entries(problem.fields).flatMap(([field, errors]) => (shown.includes(field) ? [] : errors));
  if (rest.length === 0) return null;
  return (
    <p class="error" role="alert">
      {rest.map(sentence).join(' ')}
    </p>
  );
}

/** The hidden account name: it tells password managers whose password the form asks for. */
export function AccountName({ email }: { readonly email: string }): VNode {
  return (
    <input
      class="sr-only"
      type="text"
      name="username"
      autocomplete="username"
      value={email}
      readonly
      tabindex={-1}
      aria-label="Email of this account"
    />
  );
}

type Query = Pick<URLSearchParams, 'get'>;

/** The words in an address, as many as are searched for. A field without `maxlength` takes more, and `CutSearch` says so. */
export function searchWords(query: Query, charsMax: number): string {
  return typedIn(query).slice(0, charsMax);
}

/** Says that a search was cut; nothing when it was not. */
export function CutSearch({ query, charsMax }: { readonly query: Query; readonly charsMax: number }): VNode | null {
  if (typedIn(query).length <= charsMax) return null;
  return (
    <p class="error" role="alert">
      Only the first {charsMax} characters were searched for.
    </p>
  );
}

const typedIn = (query: Query): string => (query.get('q') ?? '').trim();
