/**
 * Formats a log line for a terminal: the time, the level above info, the message, then the other fields. Names modules in
 * traces: the build packs the hub's modules into few files, each after a line with its name.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

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

interface Start {
  readonly line: number;
  readonly module: string;
}

const PLACE = /(file:\/\/\S+\/packed-[\w-]+\.js):(\d+):\d+/g;
const STARTS = /^\/\/ ((?:dist|node_modules)\/\S+\.m?js)$/;

const known = new Map<string, readonly Start[]>();

/** Puts the module's name before each place in a packed file. A file that cannot be read changes nothing. */
export function withModules(trace: string): string {
  return trace.replace(PLACE, (place: string, url: string, line: string) => {
    const module = startsIn(url).findLast((start) => start.line < Number(line))?.module;
    return module === undefined ? place : `${module}, ${place}`;
  });
}

function startsIn(url: string): readonly Start[] {
  const found = known.get(url) ?? read(url);
  known.set(url, found);
  return found;
}

function read(url: string): readonly Start[] {
  try {
    return readFileSync(fileURLToPath(url), 'utf8')
      .split('\n')
      .flatMap((text, index) => {
        const module = STARTS.exec(text)?.[1];
        return module === undefined ? [] : [{ line: index + 1, module }];
      });
  } catch {
    return [];
  }
}
