/** Renders small shared parts of pages: forms, secrets, times, confirmations, empty states. */
import type { ComponentChildren, VNode } from 'preact';
import type { ShownSecret } from './notices.ts';
import { Ago } from './rendering/ago.tsx';
import { isYou, type Visit } from './visit.ts';
import type { ZoneFormat } from './zone-format.ts';

/** Name of the hidden token field in each of our forms. */
export const CSRF_FIELD = 'csrf';

export function CsrfField({ csrf }: { readonly csrf: string }): VNode {
  return <input type="hidden" name={CSRF_FIELD} value={csrf} />;
}

export interface FormProps {
  readonly csrf: string;
  readonly action: string;
  readonly class?: string;
  /** The address of the page of this form: the script keeps its unsaved text. Empty: it shows text kept elsewhere. */
  readonly draft?: string;
  readonly children: ComponentChildren;
}

/** A POST form with the token of the page. */
export function Form({ csrf, action, draft, children, ...rest }: FormProps): VNode {
  return (
    <form method="post" action={action} class={rest.class ?? 'stack'} data-draft={draft}>
      <CsrfField csrf={csrf} />
      {children}
    </form>
  );
}

interface SubmitButtonProps {
  readonly look?: 'primary' | 'danger' | 'danger-quiet' | 'small';
  readonly name?: string;
  readonly value?: string;
  readonly formaction?: string;
  readonly children: ComponentChildren;
}

export function SubmitButton({ look, children, ...rest }: SubmitButtonProps): VNode {
  return (
    <button class={look === undefined ? 'button' : `button ${look}`} type="submit" {...rest}>
      {children}
    </button>
  );
}

/** A value shown once, with a copy button if script is enabled. */
export function Secret({ label, value, hint, file }: ShownSecret): VNode {
  return (
    <div class={file === undefined ? 'secret' : 'secret is-printed'}>
      <p class="secret-label">{label}</p>
      <Copyable value={value} label={label} />
      {file === undefined ? null : (
        <p class="actions">
          <a
            class="button small"
            download={file}
            href={`data:text/plain;charset=utf-8,${encodeURIComponent(`${value}\n`)}`}
          >
            Download
          </a>
          <button class="button small" type="button" data-print hidden>
            Print
          </button>
        </p>
      )}
      {hint === undefined ? null : <p class="hint">{hint}</p>}
    </div>
  );
}

/** Text as it is, focusable, so that wide content can be scrolled by keyboard. */
export function ScrollingText({ label, children }: ScrollingTextProps): VNode {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset groups fields, and here are none.
    <pre class="content" tabindex={0} role="group" aria-label={label}>
      {children}
    </pre>
  );
}

interface ScrollingTextProps {
  readonly label: string;
  readonly children: ComponentChildren;
}

/** Text to copy. The button is hidden unless script is enabled. */
export function Copyable({ value, label }: { readonly value: string; readonly label: string }): VNode {
  return (
    <div class="copyable">
      {/* Focusable, so that wide content can be scrolled by keyboard. */}
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset groups fields, and here are none. */}
      <pre tabindex={0} aria-label={label} role="group">
        <code>{value}</code>
      </pre>
      <button class="button small" type="button" data-copy hidden>
        Copy<span class="sr-only"> {label}</span>
      </button>
    </div>
  );
}

/** A time in ISO 8601 or in milliseconds since 1970: shown in relative words, with the exact time in the title. */
export function Moment({ at, zone }: { readonly at: string | number; readonly zone: ZoneFormat }): VNode {
  return <Ago at={at} zone={zone} />;
}

/** An action that needs a second click: closed, it shows a label; open, the details and the button. */
export function Confirm({ label, of, children, danger = true, open = false }: ConfirmProps): VNode {
  return (
    <details class="confirm" open={open}>
      <summary class={danger ? 'button small danger-quiet' : 'button small'}>
        {label}
        {of === undefined ? null : <span class="sr-only"> {of}</span>}
      </summary>
      <div class="confirm-body stack">{children}</div>
    </details>
  );
}

interface ConfirmProps {
  readonly label: string;
  /** What it is done to, for screen readers. */
  readonly of?: string;
  readonly children: ComponentChildren;
  readonly danger?: boolean;
  /** Its form was refused, and says why. */
  readonly open?: boolean;
}

/** An empty state, with the next step to take. */
export function Empty({ title, children }: { readonly title: string; readonly children: ComponentChildren }): VNode {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}

/** Text written by a user or a program: isolated from the page's own text, whatever its direction. */
export function Given({ children }: { readonly children: string }): VNode {
  return <bdi class="given">{children}</bdi>;
}

interface WhoProps {
  readonly name: string;
  readonly visit: Visit;
  /** It begins a sentence. */
  readonly isFirst?: boolean;
}

/** The name of a device, an agent or a browser; the person at this browser is “you”. */
export function Who({ name, visit, isFirst = false }: WhoProps): VNode {
  if (isYou(visit, name)) return <>{isFirst ? 'You' : 'you'}</>;
  return <Given>{name}</Given>;
}

interface ByProps {
  readonly name: string | null | undefined;
  readonly visit: Visit;
}

/** Who did something. Renders nothing when unknown. */
export function By({ name, visit }: ByProps): VNode | null {
  if (name === null || name === undefined) return null;
  return (
    <>
      {' '}
      by <Who name={name} visit={visit} />
    </>
  );
}

/** The text of a refusal as a sentence. */
export function sentence(text: string): string {
  const trimmed = text.trim();
  return `${trimmed.charAt(0).toUpperCase()}${trimmed.slice(1)}${/[.!?…]$/.test(trimmed) ? '' : '.'}`;
}

export function bytesText(bytes: number): string {
  if (bytes === 1) return '1 byte';
  const units = ['bytes', 'KiB', 'MiB', 'GiB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

/** A name and its value, in a `dl`. */
export function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }): VNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
