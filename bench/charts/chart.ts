/** Draws the chart of README from the last figures: one bar per question, its ratio to the yardstick, log scale. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { note, type Summary } from '../report.ts';
import { type Figure, readFigures } from './figures.ts';

const FILE = fileURLToPath(new URL('../../../src/manual/pictures/speed.svg', import.meta.url));

/** The bars, selected by the prefixes of the question and of the yardstick's name. */
const SHOWN: readonly (readonly [label: string, question: string, yardstick: string])[] = [
  ['list_tasks, cached', 'tools/call list_tasks, 25 rows, 32 connections', 'official'],
  ['list_tasks, not cached', 'tools/call list_tasks, 25 rows, 32 connections, each', 'official'],
  ['Page of 1,000 tasks, not cached', 'page of 25 of 1000 tasks, another', 'fastify'],
  ['Durable create_task', 'durable create_task', 'fastify'],
  ['Durable push of 1 KiB', 'durable sync_push of 1 KiB', 'fastify'],
  ['First pull, 64 clients', 'initial pull of 100000 files, 64', 'nginx'],
  ['Download of 50 MiB', 'download of 50 MiB', 'nginx'],
  ['Download of 64 KiB', 'download of 64 KiB, 32 connections (wrk)', 'nginx'],
  ['Durable upload of 50 MiB', 'durable upload of 50 MiB, one', 'nginx'],
  ['Durable upload of 64 KiB', 'durable upload of 64 KiB', 'bare'],
];

/** All in SVG units. */
const WIDTH = 860;
const ROW = 36;
export const TOP = 52;
export const LABELS = 256;
const BARS = 380;
const BAR_HEIGHT = 16;
/** The ends of the scale. */
const LEAST = 0.1;
const MOST = 100;
const TICKS = [0.1, 1, 10, 100];

const STYLE = `
    text { font: 14px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #1f2328; }
    .small { font-size: 12px; fill: #59636e; }
    .bar { fill: #1a7f64; } .less { fill: #b35900; } .other { fill: #818b98; }
    .grid { stroke: #d1d9e0; } .even { stroke: #59636e; }
    .range { stroke: #1f2328; stroke-width: 1.5; }
    @media (prefers-color-scheme: dark) {
      text { fill: #f0f6fc; }
      .small { fill: #9198a1; }
      .bar { fill: #3fb98f; } .less { fill: #db8b3a; } .other { fill: #6e7781; }
      .grid { stroke: #3d444d; } .even { stroke: #9198a1; }
      .range { stroke: #f0f6fc; }
    }`;

/** Writes the chart. Missing figures are left out and reported. */
export function drawChart(): void {
  const figures = readFigures();
  const rows = SHOWN.flatMap(([label, question, yardstick]) => {
    const figure = latestOf(figures, question, yardstick);
    if (figure === undefined) note(`not measured yet: ${label}`);
    return figure === undefined ? [] : [{ label, figure }];
  });
  writeFileSync(FILE, chartOf(rows));
}

/** Returns the figure with the shortest question matching the prefix: longer questions are other measurements. */
function latestOf(figures: readonly Figure[], question: string, yardstick: string): Figure | undefined {
  const fits = figures.filter(
    (figure) => figure.question.startsWith(question) && figure.yardstick.startsWith(yardstick),
  );
  return fits.toSorted((a, b) => a.question.length - b.question.length)[0];
}

interface ChartRow {
  readonly label: string;
  readonly figure: Figure;
}

function chartOf(rows: readonly ChartRow[]): string {
  const bottom = TOP + rows.length * ROW;
  const days = rows.map(({ figure }) => figure.on).toSorted();
  const from = days[0] === days.at(-1) ? days[0] : `${days[0]} to ${days.at(-1)}`;
  const lines = [
    ...TICKS.map((times) =>
      tickAt({ x: xOf(times), bottom, kind: times === 1 ? 'even' : 'grid', label: `${times} ×` }),
    ),
    ...rows.map((row, index) => rowOf(row, TOP + index * ROW)),
  ];
  const title = 'How many times the speed of the program that Cairn is compared with';
  const caption = `Speed relative to another program, measured in the same run (${from}). The thin line is the range of all pairs.`;
  return svgOf({ title, caption, height: bottom + 12, lines });
}

interface Picture {
  readonly title: string;
  /** Small, above the scale. */
  readonly caption: string;
  readonly height: number;
  readonly lines: readonly string[];
}

/** Returns a picture in the style of README, light and dark. */
export function svgOf({ title, caption, height, lines }: Picture): string {
  const all = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title">`,
    `  <title id="title">${title}</title>`,
    `  <style>${STYLE}\n  </style>`,
    `  <text class="small" x="0" y="${TOP - 34}">${caption}</text>`,
    ...lines.map((line) => `  ${line}`),
    '</svg>',
  ];
  return `${all.join('\n')}\n`;
}

interface Tick {
  readonly x: number;
  readonly bottom: number;
  readonly kind: 'grid' | 'even';
  readonly label: string;
}

/** Returns a named line of the scale, from above the first bar down. */
export function tickAt({ x, bottom, kind, label }: Tick): string {
  return `<line class="${kind}" x1="${x}" y1="${TOP - 8}" x2="${x}" y2="${bottom}"/><text class="small" x="${x}" y="${TOP - 14}" text-anchor="middle">${label}</text>`;
}

function rowOf({ label, figure }: ChartRow, y: number): string {
  const { cairn, ratio, unit, yardstick } = figure;
  const middle = y + ROW / 2;
  const [one, end] = [xOf(1), xOf(ratio.median)];
  const bar = `<rect class="bar${ratio.median < 1 ? ' less' : ''}" x="${Math.min(one, end)}" y="${middle - BAR_HEIGHT / 2}" width="${Math.max(1, Math.abs(end - one)).toFixed(1)}" height="${BAR_HEIGHT}" rx="2"/>`;
  return [
    `<text x="0" y="${middle}">${label}</text>`,
    `<text class="small" x="0" y="${middle + 14}">${speed(cairn.median, unit)}</text>`,
    bar,
    `<line class="range" x1="${xOf(ratio.min)}" y1="${middle}" x2="${xOf(ratio.max)}" y2="${middle}"/>`,
    `<text x="${LABELS + BARS + 16}" y="${middle + 5}">${shownRatio(ratio)} × ${yardstick}</text>`,
  ].join('');
}

/** Returns the horizontal position of a ratio on the scale. */
function xOf(times: number): number {
  const share = Math.log(Math.min(MOST, Math.max(LEAST, times)) / LEAST) / Math.log(MOST / LEAST);
  return Math.round((LABELS + share * BARS) * 10) / 10;
}

function shownRatio({ median }: Summary): string {
  return median >= 10 ? median.toFixed(0) : median.toPrecision(2);
}

/** Formats three digits: the fourth differs from run to run. */
function speed(value: number, unit: string): string {
  const rounded = Number(value.toPrecision(3)).toLocaleString('en-US');
  return unit.startsWith('/') ? `${rounded}${unit}` : `${rounded} ${unit}`;
}
