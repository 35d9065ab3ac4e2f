/** Owns the small parts that pages are put together from: fields, secrets, times, confirmations, empty states. */
import type { ComponentChildren, VNode } from 'preact';
import type { ShownSecret } from './notices.ts';
import { Ago } from './rendering/ago.tsx';
import type { ZoneFormat } from './zone-format.ts';

/** The hidden field that every form of ours carries. */
export const CSRF_FIELD = 'csrf';

export function CsrfField({ csrf }: { readonly csrf: string }): VNode {
  return <input type="hidden" name={CSRF_FIELD} value={csrf} />;
}

export interface FormProps {
  readonly csrf: string;
  readonly action: string;
  readonly class?: string;
  readonly children: ComponentChildren;
}

/** A form that posts with the session's token. */
export function Form({ csrf, action, children, ...rest }: FormProps): VNode {
  return (
    <form method="post" action={action} class={rest.class ?? 'stack'}>
      <CsrfField csrf={csrf} />
      {children}
    </form>
  );
}

/** A value that is shown once, with a button that copies it where there is script. */
export function Secret({ label, value, hint }: ShownSecret): VNode {
  return (
    <div class="secret">
      <p class="secret-label">{label}</p>
      <Copyable value={value} label={label} />
      {hint === undefined ? null : <p class="hint">{hint}</p>}
    </div>
  );
}

/** Text to take along. The button is hidden until there is a script to serve it. */
export function Copyable({ value, label }: { readonly value: string; readonly label: string }): VNode {
  return (
    <div class="copyable">
      {/* Focusable, because it scrolls: a keyboard must reach what is wider than the page. */}
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

/** A moment, in ISO 8601 or in milliseconds since 1970: how long ago, and exactly in the title. */
export function Moment({ at, zone }: { readonly at: string | number; readonly zone: ZoneFormat }): VNode {
  return <Ago at={at} zone={zone} />;
}

/** A step that needs a second click: closed, it shows what it is; open, what it does. */
export function Confirm({ label, children, danger = true }: ConfirmProps): VNode {
  return (
    <details class="confirm">
      <summary class={danger ? 'button small danger-quiet' : 'button small'}>{label}</summary>
      <div class="confirm-body stack">{children}</div>
    </details>
  );
}

interface ConfirmProps {
  readonly label: ComponentChildren;
  readonly children: ComponentChildren;
  readonly danger?: boolean;
}

/** What stands where there is nothing yet: what to do next. */
export function Empty({ title, children }: { readonly title: string; readonly children: ComponentChildren }): VNode {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}

/** Text that a person or a program wrote: kept apart from the page's own, whichever way it is written. */
export function Given({ children }: { readonly children: string }): VNode {
  return <bdi class="given">{children}</bdi>;
}

/** A refusal's words as a sentence. */
export function sentence(text: string): string {
  const trimmed = text.trim();
  return `${trimmed.charAt(0).toUpperCase()}${trimmed.slice(1)}${/[.!?…]$/.test(trimmed) ? '' : '.'}`;
}

/** Bytes for people. */
export function bytesText(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

/** A name and what belongs to it, in a `dl`. */
export function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }): VNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
