/** Writes the output of a command for people and scripts. The service itself writes only its log. */

import { refusesColour } from '../client/settings.ts';
import { jsonLine, printed } from '../client/shown.ts';

/**
 * Writes text for a person, or a line of JSON from `jsonLine`. Names, contents and errors in the text may come from
 * other users, so nothing in it acts on the terminal: escape sequences, C1, carriage returns and bidi controls are
 * shown as `\\u{…}`.
 */
export function print(text: string): void {
  process.stdout.write(`${printed(text)}\n`);
}

/** Writes a table whose cells are escaped already, with the colours of the terminal. */
export function printTable(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** True on a terminal that shows colours. */
export function hasColour(): boolean {
  return process.stdout.isTTY && !refusesColour();
}

/** Writes a content unchanged to a pipe or file; on a terminal it is escaped as by `print`. */
export function printContent(text: string): void {
  process.stdout.write(process.stdout.isTTY ? printed(text) : text);
}

/** Writes an error. The text may come from a hub, so nothing in it acts on the terminal. */
export function printError(text: string): void {
  process.stderr.write(`${printed(text)}\n`);
}

/** Tells a person one sentence beside the result. */
export const tellUser = (sentence: string): void => printError(`cairn: ${sentence}`);

/**
 * Prints the result of a command: as one line of JSON for a script, else the text that `tell` returns for a person.
 * Returns the exit code of success.
 */
export function printResult({ json }: { readonly json: boolean }, result: unknown, tell: () => string): number {
  print(json ? jsonLine(result) : tell());
  return 0;
}

/** Lines of `label  value`, aligned. */
export function table(rows: readonly (readonly [string, string])[]): string {
  const labels = aligned(rows.map(([label]) => [label]));
  return rows.map(([, value], at) => `${labels[at]?.[0]}  ${value}`).join('\n');
}

/** Pads each cell to the widest of its column. */
export function aligned(rows: readonly (readonly string[])[]): string[][] {
  const widths: number[] = [];
  for (const row of rows)
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, Array.from(cell).length);
  return rows.map((row) => row.map((cell, at) => cell + ' '.repeat((widths[at] ?? 0) - Array.from(cell).length)));
}

/** A text with at most so many characters; a longer one ends with an ellipsis. */
export function cut(text: string, room: number): string {
  const chars = Array.from(text);
  return chars.length <= room ? text : `${chars.slice(0, room - 1).join('')}…`;
}
