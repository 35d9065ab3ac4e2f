/** Summarizes and formats figures: medians with their range, ratios of pairs, one table. */
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface BenchOptions {
  /** Fewer and shorter rounds: for a quick look, not for publication. */
  readonly quick: boolean;
  /** Only the parts of the bench whose name contains this, of a bench that has parts. */
  readonly only?: string | undefined;
}

/** One line of the table: a question and its measurement. */
export interface Row {
  readonly question: string;
  readonly cairn: string;
  readonly yardstick: string;
  readonly ratio: string;
  readonly target: string;
  /** Undefined: the figure has no target, or could not be measured. */
  readonly reached: boolean | undefined;
  /** The same as numbers, for paired measurements. */
  readonly pairs?: Pairs;
}

export interface Pairs {
  readonly cairn: Summary;
  readonly ratio: Summary;
  readonly unit: string;
  readonly yardstick: string;
}

export type Bench = (options: BenchOptions) => Promise<Row[]>;

/** Thrown when a tool for comparison is not installed: the bench is skipped, the others run. */
export class MissingTool extends Error {
  constructor(tool: string, debianPackage: string) {
    super(`${tool} is missing; install it with: apt-get install ${debianPackage}`);
  }
}

export interface Summary {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function summarize(values: readonly number[]): Summary {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (index: number) => sorted[Math.max(0, Math.min(sorted.length - 1, index))] ?? Number.NaN;
  const middle = (sorted.length - 1) / 2;
  return {
    median: (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2,
    min: at(0),
    max: at(sorted.length - 1),
  };
}

/** Formats median (min–max), with a unit. */
export function shown(values: readonly number[], unit: string, digits = 0): string {
  const { median, min, max } = summarize(values);
  return `${median.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)}) ${unit}`.trim();
}

/** Returns a row comparing two sides measured in pairs: the ratio is the median of the ratios of the pairs. */
export function pairedRow(options: {
  readonly question: string;
  readonly yardstickName: string;
  readonly cairn: readonly number[];
  readonly yardstick: readonly number[];
  readonly unit: string;
  readonly target: number | undefined;
}): Row {
  const { question, yardstickName, cairn, yardstick, unit, target } = options;
  const ratios = cairn.map((value, index) => value / (yardstick[index] ?? Number.NaN));
  return {
    question,
    cairn: shown(cairn, unit),
    yardstick: `${yardstickName} ${shown(yardstick, unit)}`,
    ratio: shown(ratios, '', 2),
    target: target === undefined ? '' : `≥ ${target}`,
    reached: target === undefined ? undefined : summarize(ratios).median >= target,
    pairs: { cairn: summarize(cairn), ratio: summarize(ratios), unit, yardstick: yardstickName },
  };
}

/** Returns the row of a figure that could not be measured. */
export function missingRow(question: string, why: string): Row {
  return { question, cairn: '', yardstick: why, ratio: '', target: '', reached: undefined };
}

type Column = Exclude<keyof Row, 'pairs'>;

const TITLES: Readonly<Record<Column, string>> = {
  question: 'Question',
  cairn: 'Cairn',
  yardstick: 'Yardstick',
  ratio: 'Ratio',
  target: 'Target',
  reached: 'Reached',
};

/** Formats the rows as a Markdown table, ready for a document. */
export function table(rows: readonly Row[]): string {
  const names = Object.keys(TITLES) as Column[];
  const cell = (row: Row, name: Column) =>
    name === 'reached' ? (row.reached === undefined ? '' : row.reached ? 'yes' : 'no') : row[name];
  const cells = [names.map((name) => TITLES[name]), ...rows.map((row) => names.map((name) => cell(row, name)))];
  const widths = names.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)));
  const lines = cells.map((line) => `| ${line.map((text, column) => text.padEnd(widths[column] ?? 0)).join(' | ')} |`);
  lines.splice(1, 0, `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`);
  return `${lines.join('\n')}\n`;
}

/** Reports progress on standard error, so that the table on standard output stays clean. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`);
}

const ONLY = '--only=';

export function readBenchOptions(): BenchOptions {
  const only = process.argv.find((word) => word.startsWith(ONLY))?.slice(ONLY.length);
  return { quick: process.argv.includes('--quick'), only };
}

/** Runs a bench and prints its table when its file was started directly. */
export async function runWhenStarted(moduleUrl: string, bench: Bench): Promise<void> {
  const started = process.argv[1];
  if (started === undefined || realpathSync(started) !== fileURLToPath(moduleUrl)) return;
  try {
    process.stdout.write(table(await bench(readBenchOptions())));
  } catch (error) {
    if (!(error instanceof MissingTool)) throw error;
    note(error.message);
    process.exitCode = 1;
  }
}

export const MiB = 1024 * 1024;
