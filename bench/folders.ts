/**
 * What does a synced folder cost? Cairn (a hub and two watches) beside Syncthing (two instances) and, a pass at a time between two
 * folders of one machine, Unison and `rclone bisync`: the first sync, memory, rest, a save; then what becomes of files that both
 * machines edited. Some eight minutes on a quiet machine.
 *
 * usage: node dist/bench/folders.js [--quick] [--only=10000 | --only=50000 | --only=500000 | --only=edits]. 500,000 files are measured when asked
 * only, of Cairn only, with `cairn sync status` beside and without a watch.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { QUICKEST, syncthingVersion } from '../test/client/sync/storm/syncthing.ts';
import { PASSWORD, structured } from '../test/support/gateway.ts';
import { shownTime } from './charts/felt.ts';
import { type CairnPair, cairnPair, type Files, firstSync, type Pair, saves, syncthingPair } from './felt/machines.ts';
import { type ByName, mapped, type Peak, peaksDuring, type Spent, spentSince } from './felt/spent.ts';
import { editedByBoth, type Lines, type Outcomes } from './folders/edits.ts';
import { bisyncPair, type RunnerPair, unisonPair } from './folders/runners.ts';
import { startCairn } from './peers/cairn.ts';
import { type Bench, MiB, MissingTool, note, type Row, runWhenStarted } from './report.ts';
import { percentile } from './steady.ts';
import { makeText } from './zipf-texts.ts';

const FILES_PER_FOLDER = 100;
/** After the last save arrived, whatever it leaves to do. */
const SETTLE_MS = 2500;

interface Size {
  readonly files: number;
  readonly bytes: number;
  readonly saves: number;
  /** Of a program that looks at every file for each. */
  readonly passes: number;
  /** How long processes are measured while nothing changes. 0: not at all. */
  readonly restMs: number;
  /** Cairn alone, with the time of `cairn sync status`. */
  readonly isAlone?: boolean;
}

const SIZES: readonly Size[] = [
  { files: 10_000, bytes: 4096, saves: 20, passes: 3, restMs: 15_000 },
  { files: 50_000, bytes: 400, saves: 10, passes: 1, restMs: 0 },
  { files: 500_000, bytes: 400, saves: 10, passes: 1, restMs: 0, isAlone: true },
];
const QUICK_PART = 20;
/** What is in the folders beside the files that both edit. */
const EDITED_BESIDE = { files: 100, bytes: 400 };

/** One program with two empty folders. */
interface Started {
  readonly name: string;
  readonly pair: Pair;
  /** How many conflicts it lists, where it keeps a list. */
  conflicts?(): Promise<number> | number;
  /** Of Cairn, by the state of its watch. */
  statusMs?(): Promise<ByName<number>>;
  stop(): Promise<void>;
}

const PROGRAMS: readonly (() => Promise<Started>)[] = [startedCairn, startedSyncthing, startedUnison, startedBisync];

export const folders: Bench = async ({ quick, only }) => {
  const startMs = performance.now();
  const isAsked = (part: string, isStandard = true) => (only === undefined ? isStandard : part === only);
  const rows: Row[] = [];
  for (const size of SIZES) {
    const measured = quick ? { ...size, files: size.files / QUICK_PART, saves: 5, passes: 2 } : size;
    if (isAsked(`${size.files}`, size.isAlone !== true)) rows.push(...(await sizeRows(measured)));
  }
  if (isAsked('edits')) rows.push(...(await editRows()));
  note(`${((performance.now() - startMs) / 60_000).toFixed(1)} minutes`);
  return rows;
};

async function startedCairn(): Promise<Started> {
  const hub = await startCairn({ CAIRN_LOG_LEVEL: 'warn', CAIRN_SIGNUP: 'open', CAIRN_LOOP_DELAY_MS: '0' });
  const person = { email: 'folders@example.org', password: PASSWORD };
  const { mcp_key: key } = await structured<{ mcp_key: string }>(hub, 'signup_and_get_key', person);
  const pair: CairnPair = cairnPair(hub, key);
  const stop = async () => {
    await pair.stop();
    await hub.stop();
  };
  return { name: 'Cairn', pair, conflicts: () => pair.conflicts(), statusMs: () => pair.statusMs(), stop };
}

function startedSyncthing(): Promise<Started> {
  if (syncthingVersion() === undefined) throw new MissingTool('syncthing', 'syncthing');
  const pair = syncthingPair(QUICKEST);
  return Promise.resolve({ name: `Syncthing, delay ${QUICKEST.gather} s`, pair, stop: () => pair.stop() });
}

function startedUnison(): Promise<Started> {
  const pair = unisonPair();
  const skipped = () => pair.said().match(/^\s*skipped: .*changed on both sides/gm)?.length ?? 0;
  return Promise.resolve({ name: 'Unison, a pass', pair, conflicts: skipped, stop: () => pair.stop() });
}

function startedBisync(): Promise<Started> {
  const pair: RunnerPair = bisyncPair();
  return Promise.resolve({ name: 'rclone bisync, a pass', pair, stop: () => pair.stop() });
}

/** What `measure` found for each program that is installed, Cairn first. */
async function ofEach<T>(
  measure: (started: Started) => Promise<T>,
  programs = PROGRAMS,
): Promise<readonly (readonly [string, T])[]> {
  const found: (readonly [string, T])[] = [];
  for (const start of programs) {
    try {
      const started = await start();
      try {
        found.push([started.name, await measure(started)]);
      } finally {
        await started.stop();
      }
    } catch (error) {
      if (!(error instanceof MissingTool)) throw error;
      note(error.message);
    }
  }
  return found;
}

interface Found {
  readonly first: { readonly seconds: number; readonly spent: ByName<Spent> };
  readonly peaks: ByName<Peak>;
  /** Undefined: nothing of it runs between passes. */
  readonly rest: ByName<Spent> | undefined;
  /** Ascending, ms. */
  readonly saveMs: readonly number[];
  readonly perSave: ByName<Spent>;
  readonly statusMs: ByName<number> | undefined;
}

async function measured(started: Started, size: Size, files: Files): Promise<Found> {
  const { name, pair } = started;
  const { result, peaks } = await peaksDuring(
    () => pair.processes(),
    async (): Promise<Omit<Found, 'peaks' | 'statusMs'>> => {
      const first = await firstSync(pair, files);
      const resting = pair.spent();
      if (pair.pass === undefined) await sleep(size.restMs);
      const rest = pair.pass === undefined ? spentSince(resting, pair.spent()) : undefined;
      const count = pair.pass === undefined ? size.saves : size.passes;
      const before = pair.spent();
      const saveMs = await saves(pair, files, count);
      if (pair.pass === undefined) await sleep(SETTLE_MS);
      const made = pair.pass === undefined ? count + 1 : count;
      const each = ({ cpuSeconds, writtenBytes }: Spent) => ({
        cpuSeconds: cpuSeconds / made,
        writtenBytes: writtenBytes / made,
      });
      return { first, rest, saveMs, perSave: mapped(spentSince(before, pair.spent()), each) };
    },
  );
  note(
    `${size.files} files, ${name}: first sync ${result.first.seconds.toFixed(1)} s, p50 of saves ${shownTime(percentile(result.saveMs, 0.5))}`,
  );
  return { ...result, peaks, statusMs: size.isAlone === true ? await started.statusMs?.() : undefined };
}

/** Notes in folders, of words as frequent as those of a language. */
function filesOf({ files, bytes }: Pick<Size, 'files' | 'bytes'>): Files {
  const pathOf = (at: number) => `notes ${Math.floor(at / FILES_PER_FOLDER)}/note ${at}.md`;
  const content = () => Buffer.from(makeText().padEnd(bytes, '\n')).subarray(0, bytes);
  return new Map(Array.from({ length: files }, (_, at) => [pathOf(at), content()]));
}

const seconds = (value: number) => `${value.toFixed(1)} s`;
const milliseconds = (value: number) => `${(1000 * value).toFixed(0)} ms`;
const kibibytes = (value: number) => `${(value / 1024).toFixed(0)} KiB`;
const mebibytes = (value: number) => `${(value / MiB).toFixed(0)} MiB`;

/** What a figure of Cairn, in its bare unit, should be at most. */
interface Target {
  readonly text: string;
  readonly holds: (values: ByName<number>) => boolean;
}

const eachMost = (most: ByName<number>): Target['holds'] => {
  return (values) => Object.entries(most).every(([name, value]) => (values[name] ?? Number.NaN) <= value);
};

const TARGETS: Readonly<Record<string, Target>> = {
  '10000 first sync, processor time': { text: '≤ 4 s', holds: (values) => total(values) <= 4 },
  '50000 most memory (RSS)': {
    text: 'hub ≤ 200, each watch ≤ 100 MiB',
    holds: eachMost({ hub: 200 * MiB, A: 100 * MiB, B: 100 * MiB }),
  },
  '50000 processor time of a save': { text: 'each watch ≤ 30 ms', holds: eachMost({ A: 0.03, B: 0.03 }) },
  '50000 written to the disk for a save': {
    text: 'each watch ≤ 50 KiB',
    holds: eachMost({ A: 50 * 1024, B: 50 * 1024 }),
  },
};

async function sizeRows(size: Size): Promise<Row[]> {
  const files = filesOf(size);
  const programs = size.isAlone === true ? [startedCairn] : PROGRAMS;
  const found = await ofEach((started) => measured(started, size, files), programs);
  const what = `${size.files.toLocaleString('en-US')} × ${size.bytes} B`;
  const row = (figure: string, valuesOf: (one: Found) => ByName<number> | undefined, unit: (value: number) => string) =>
    rowOf(
      { question: `${what}: ${figure}`, target: TARGETS[`${size.files} ${figure}`], unit },
      found.map(([name, one]) => [name, valuesOf(one)] as const),
    );
  return [
    row('first sync', ({ first }) => ({ '': first.seconds }), seconds),
    row('first sync, processor time', ({ first }) => mapped(first.spent, cpu), seconds),
    row('most memory (RSS)', ({ peaks }) => mapped(peaks, ({ resident }) => resident), mebibytes),
    row('of it the process’s own (RssAnon)', ({ peaks }) => mapped(peaks, ({ own }) => own), mebibytes),
    ...(size.restMs === 0
      ? []
      : [
          row(`${size.restMs / 1000} s at rest, processor time`, ({ rest }) => rest && mapped(rest, cpu), milliseconds),
        ]),
    row('a save is on the other side, p50', ({ saveMs }) => ({ '': percentile(saveMs, 0.5) }), shownTime),
    row('processor time of a save', ({ perSave }) => mapped(perSave, cpu), milliseconds),
    row('written to the disk for a save', ({ perSave }) => mapped(perSave, written), kibibytes),
    ...statusRows(found[0]?.[1].statusMs ?? {}, what),
  ];
}

const statusRows = (statusMs: ByName<number>, what: string): Row[] =>
  Object.entries(statusMs).map(([state, ms]) =>
    rowOf({ question: `${what}: \`cairn sync status\` ${state}`, target: undefined, unit: shownTime }, [
      ['Cairn', { '': ms }],
    ]),
  );

const cpu = ({ cpuSeconds }: Spent) => cpuSeconds;
const written = ({ writtenBytes }: Spent) => writtenBytes;

interface Figure {
  readonly question: string;
  readonly target: Target | undefined;
  readonly unit: (value: number) => string;
}

/** A row of sums over the processes, each process named where there are several. */
function rowOf(
  { question, target, unit }: Figure,
  found: readonly (readonly [string, ByName<number> | undefined])[],
): Row {
  const shown = (values: ByName<number> | undefined) => {
    if (values === undefined) return 'nothing runs';
    const parts = Object.entries(values);
    const each = parts.map(([name, value]) => `${name} ${unit(value)}`).join(', ');
    return parts.length < 2 ? unit(total(values)) : `${unit(total(values))} (${each})`;
  };
  const [own, ...others] = found;
  const ratio = (values: ByName<number> | undefined) =>
    values === undefined ? '–' : (total(own?.[1] ?? {}) / total(values)).toFixed(2);
  return {
    question,
    cairn: shown(own?.[1]),
    yardstick: others.map(([name, values]) => `${name} ${shown(values)}`).join('; '),
    ratio: others.map(([, values]) => ratio(values)).join('; '),
    target: target?.text ?? '',
    reached: target?.holds(own?.[1] ?? {}),
  };
}

const total = (values: ByName<number>) => Object.values(values).reduce((sum, one) => sum + one, 0);

async function editRows(): Promise<Row[]> {
  const kinds: readonly Lines[] = ['different lines', 'the same line'];
  const found = await ofEach(async (started) => {
    const { name, pair } = started;
    const conflicts = () => started.conflicts?.();
    await firstSync(pair, filesOf(EDITED_BESIDE));
    const told: string[] = [];
    for (const lines of kinds) {
      const before = await conflicts();
      const outcomes = await editedByBoth(pair, lines);
      const after = await conflicts();
      const listed = after === undefined ? undefined : after - (before ?? 0);
      told.push(shownOutcomes(outcomes, listed));
      note(`${name}, ${lines}: ${told.at(-1)}`);
    }
    return told;
  });
  return kinds.map((lines, at) => {
    const [own, ...others] = found;
    return {
      question: `both machines edited ${lines} of ten files`,
      cairn: own?.[1][at] ?? '',
      yardstick: others.map(([name, told]) => `${name}: ${told[at]}`).join('; '),
      ratio: '',
      target: '',
      reached: undefined,
    };
  });
}

function shownOutcomes(outcomes: Outcomes, listed: number | undefined): string {
  const counted = [...outcomes].filter(([, count]) => count > 0).map(([outcome, count]) => `${count} ${outcome}`);
  return [...counted, ...(listed === undefined ? [] : [`${listed} listed as conflicts`])].join(', ');
}

await runWhenStarted(import.meta.url, folders);
