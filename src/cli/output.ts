/** Owns what the command writes for people and scripts; the service itself writes only its log. */

import { shown } from '../client/shown.ts';

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Writes an error. Its words may come from a hub, so nothing in it acts on the terminal. */
export function printError(text: string): void {
  process.stderr.write(`${shown(text)}\n`);
}

/** Lines of `label  value`, aligned. */
export function table(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([label]) => label.length));
  return rows.map(([label, value]) => `${label.padEnd(width)}  ${value}`).join('\n');
}
