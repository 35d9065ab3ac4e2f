/** Keeps the last run of `bench/felt.ts` in `bench/felt.json`, and draws the first picture of README from it: bars of time, log scale. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { note } from '../report.ts';
import { LABELS, svgOf, TOP, tickAt } from './chart.ts';

/** In the source tree, also when run from `dist/bench/charts`. */
const FILE = fileURLToPath(new URL('../../../bench/felt.json', import.meta.url));
const PICTURE = fileURLToPath(new URL('../../../src/manual/pictures/felt.svg', import.meta.url));

export type Question = 'search' | 'page' | 'save' | 'first sync';

/** In the order of the picture, in words. */
export const QUESTIONS: readonly (readonly [question: Question, text: (files: number) => string])[] = [
  ['search', (files) => `Search of ${files.toLocaleString('en-US')} files`],
  ['page', () => 'An agent’s change is on an open page'],
  ['save', () => 'A saved file is on the other machine'],
  ['first sync', (files) => `First sync of ${files.toLocaleString('en-US')} files`],
];

/** One figure of a run. */
export interface Felt {
  readonly question: Question;
  /** Cairn, or what it is compared with. */
  readonly by: string;
  /** The median, or the only one. */
  readonly ms: number;
  /** Of repeated ones. */
  readonly p99Ms?: number;
  /** Of all processes on both machines, and the hub. */
  readonly cpuSeconds?: number;
}

interface FeltRun {
  /** Day of the run. */
  readonly on: string;
  /** Load average when it began. */
  readonly load: number;
  readonly cores: number;
  readonly files: number;
  readonly found: readonly Felt[];
}

export function saveFelt(run: FeltRun): void {
  writeFileSync(FILE, `${JSON.stringify(run, undefined, 2)}\n`);
}

/** Two digits: the third differs from run to run. */
export function shownTime(ms: number): string {
  const [value, unit] = ms < 995 ? [ms, 'ms'] : [ms / 1000, 's'];
  return `${Number(value.toPrecision(2))} ${unit}`;
}

/** All in SVG units. */
const ROW = 28;
const BAR_HEIGHT = 14;
const BARS = 360;
/** The ends of the scale, and the times that are named on it. */
const LEAST_MS = 1;
const MOST_MS = 100_000;
const TICKS_MS = [1, 10, 100, 1000, 10_000, 100_000];

/** Draws the picture, once there was a run. */
export function drawFelt(): void {
  if (!existsSync(FILE)) {
    note('not measured yet: what a person feels');
    return;
  }
  const { on, load, cores, files, found } = JSON.parse(readFileSync(FILE, 'utf8')) as FeltRun;
  const bars = QUESTIONS.flatMap(([question, text]) =>
    found
      .filter((one) => one.question === question)
      .map((one) => ({ one, label: one.by === 'Cairn' ? text(files) : one.by })),
  );
  const height = TOP + bars.length * ROW;
  const caption = `How long a person waits (${on}, load ${load}, ${cores} cores). The thin line ends at the 99th percentile.`;
  const lines = [
    ...TICKS_MS.map((ms) => tickAt({ x: xOf(ms), bottom: height, kind: 'grid', label: shownTime(ms) })),
    ...bars.map(({ one, label }, at) => barOf(one, label, TOP + at * ROW)),
  ];
  writeFileSync(PICTURE, svgOf({ title: 'How long a person waits', caption, height: height + 12, lines }));
}

function barOf({ by, ms, p99Ms, cpuSeconds }: Felt, label: string, y: number): string {
  const middle = y + ROW / 2;
  const isOurs = by === 'Cairn';
  const spent = cpuSeconds === undefined ? '' : `, ${shownTime(1000 * cpuSeconds)} of processor time`;
  return [
    `<text${isOurs ? '' : ' class="small"'} x="${isOurs ? 0 : 16}" y="${middle + 5}">${label}</text>`,
    `<rect class="bar${isOurs ? '' : ' other'}" x="${LABELS}" y="${middle - BAR_HEIGHT / 2}" width="${(xOf(ms) - LABELS).toFixed(1)}" height="${BAR_HEIGHT}" rx="2"/>`,
    p99Ms === undefined ? '' : `<line class="range" x1="${xOf(ms)}" y1="${middle}" x2="${xOf(p99Ms)}" y2="${middle}"/>`,
    `<text x="${LABELS + BARS + 16}" y="${middle + 5}">${shownTime(ms)}${spent}</text>`,
  ].join('');
}

/** Returns the horizontal position of a time on the scale. */
function xOf(ms: number): number {
  const share = Math.log(Math.min(MOST_MS, Math.max(LEAST_MS, ms)) / LEAST_MS) / Math.log(MOST_MS / LEAST_MS);
  return Math.round((LABELS + share * BARS) * 10) / 10;
}
