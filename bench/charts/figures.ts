/** Stores the last figures of each paired measurement in `bench/figures.json`. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Pairs, Row } from '../report.ts';

/** In the source tree, also when run from `dist/bench/charts`. */
const FILE = fileURLToPath(new URL('../../../bench/figures.json', import.meta.url));

export interface Figure extends Pairs {
  readonly question: string;
  /** Day of the measurement. */
  readonly on: string;
}

/** Returns all stored figures, in the order of their first measurement. */
export function readFigures(): Figure[] {
  return existsSync(FILE) ? (JSON.parse(readFileSync(FILE, 'utf8')) as Figure[]) : [];
}

/** Stores the rows of a run; a row replaces the earlier one with the same question and yardstick. */
export function saveFigures(rows: readonly Row[]): void {
  const nameOf = ({ question, yardstick }: Figure) => `${question}, ${yardstick}`;
  const kept = new Map(readFigures().map((figure) => [nameOf(figure), figure]));
  const on = new Date().toISOString().slice(0, 10);
  for (const { question, pairs } of rows) {
    if (pairs === undefined || !Number.isFinite(pairs.ratio.median)) continue;
    const figure = { question, on, ...pairs };
    kept.set(nameOf(figure), figure);
  }
  writeFileSync(FILE, `${JSON.stringify([...kept.values()], undefined, 2)}\n`);
}
