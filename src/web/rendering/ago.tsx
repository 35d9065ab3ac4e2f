/** Renders a time in relative words, with the exact time in the title. */
import type { VNode } from 'preact';
import type { ZoneFormat } from '../zone-format.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const STEPS = [
  { unit: 'day', ms: DAY_MS },
  { unit: 'hour', ms: HOUR_MS },
  { unit: 'minute', ms: MINUTE_MS },
] as const;
/** Older times are shown as dates. */
const RELATIVE_DAYS = 30;

/** Made when a page first needs it: it reads the data of a language. */
let words: Intl.RelativeTimeFormat | undefined;

/** `3 hours ago`; undefined for times better shown as a date. Pure. */
export function agoText(ms: number, nowMs: number): string | undefined {
  const age = nowMs - ms;
  if (age < 0 || age > RELATIVE_DAYS * DAY_MS) return undefined;
  const step = STEPS.find((one) => age >= one.ms);
  if (step === undefined) return 'just now';
  words ??= new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
  return words.format(-Math.floor(age / step.ms), step.unit);
}

/** A time in ISO 8601 or in milliseconds since 1970. */
export function Ago({ at, zone }: { readonly at: string | number; readonly zone: ZoneFormat }): VNode {
  const iso = typeof at === 'number' ? new Date(at).toISOString() : at;
  const exact = zone.moment(iso);
  return (
    <time datetime={iso} title={exact} data-ago>
      {agoText(Date.parse(iso), Date.now()) ?? exact}
    </time>
  );
}
