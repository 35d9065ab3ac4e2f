/** Formats a log line for a terminal: the time, the level above info, the message, then the other fields. */

const LEVELS: Readonly<Record<number, string>> = { 10: 'trace', 20: 'debug', 40: 'WARN', 50: 'ERROR', 60: 'FATAL' };
const HEAD_FIELDS = new Set(['level', 'time', 'msg']);
/** A log contains text from callers: control characters must not act on a terminal (ECMA-48 control functions). */
const CONTROLS = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** Formats one JSON object of the log as a line with its line end. */
export function textLine(json: string): string {
  const record = JSON.parse(json) as Record<string, unknown>;
  const time = textOf(record['time']).slice(11, 19);
  const level = LEVELS[Number(record['level'])];
  const fields = Object.entries(record)
    .filter(([name]) => !HEAD_FIELDS.has(name))
    .map(([name, value]) => `${name}=${textOf(value)}`);
  const parts = [time, ...(level === undefined ? [] : [level]), textOf(record['msg']), ...fields];
  return `${parts.join(' ').replace(CONTROLS, ' ')}\n`;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
