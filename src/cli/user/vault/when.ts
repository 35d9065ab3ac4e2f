/** Parses a time typed by a person: a date, a date and time in the local or another zone, or a duration ago. Pure. */
import { UsageError } from '../../usage-error.ts';

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** Parses a time. Returns milliseconds since 1970. Throws UsageError when the text is not a time. */
export function readTime(text: string, nowMs: number): number {
  const ago = /^(\d{1,6})\s*([smhdw])(?: ago)?$/.exec(text.trim());
  if (ago !== null) return nowMs - Number(ago[1]) * UNIT_MS[ago[2] as keyof typeof UNIT_MS];
  const date = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)(Z|[+-]\d\d:?\d\d)?)?$/.exec(text.trim());
  const [, day = '', time = '00:00', zone = ''] = date ?? [];
  // A date or time without a zone is local.
  const ms = date === null ? Number.NaN : Date.parse(`${day}T${time}${zone}`);
  const isDay = date !== null && new Date(`${day}T00:00Z`).getUTCDate() === Number(day.slice(8));
  if (Number.isNaN(ms) || !isDay) {
    throw new UsageError(`${text} is not a time; write e.g. '2026-11-20 18:00', 2026-11-20, or 2h for two hours ago`);
  }
  return ms;
}
