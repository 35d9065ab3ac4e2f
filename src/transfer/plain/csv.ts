/** Writes tables that spreadsheets open: RFC 4180, and no cell is a formula. Pure. */

/** A spreadsheet takes a cell that starts like this for a formula (OWASP ASVS 5.0, 1.2.10). */
const FORMULA = /^[=+\-@\t\0]/u;
const QUOTED = /[",\r\n]/u;

type Cell = string | number | boolean | null | undefined;

/** One line of a table, with its end. A text that would be a formula gets an apostrophe in front. */
export const csvLine = (cells: readonly Cell[]): string => `${cells.map(cellText).join(',')}\r\n`;

function cellText(cell: Cell): string {
  const text = typeof cell === 'string' && FORMULA.test(cell) ? `'${cell}` : String(cell ?? '');
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
