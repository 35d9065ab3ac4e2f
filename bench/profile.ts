/**
 * Where does the hub's main thread spend its time under a load of `compare.ts`? Prints the functions with the most
 * processor time of their own, and those with the most below them, in percent of the time in which the thread worked.
 * usage: node dist/bench/profile.js LOAD [--seconds N] [--rows N] [--keep FILE]
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { temporaryFolder } from '../test/support/temporary-folder.ts';
import { costOf, LOAD_NAMES } from './costs/loads.ts';
import { openSide } from './costs/side.ts';
import { takeReport } from './delays.ts';

/** The part of V8's format that is read. */
interface Profile {
  readonly reports: number;
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
    readonly children?: readonly number[];
  }[];
  /** In microseconds of the monotonic clock. */
  readonly startTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

const WARM_UP_SECONDS = 4;

const { values, positionals } = parseArgs({
  options: {
    seconds: { type: 'string', default: '8' },
    rows: { type: 'string', default: '45' },
    keep: { type: 'string' },
  },
  allowPositionals: true,
});
const load = LOAD_NAMES.find((name) => name === positionals[0]);
if (load === undefined) throw new Error(`name a load: ${LOAD_NAMES.join(', ')}`);

const file = values.keep ?? join(temporaryFolder(), 'profile');
const probe = new URL('profile-probe.js', import.meta.url).href;
const side = await openSide(undefined, { NODE_OPTIONS: `--import=${probe}`, BENCH_PROFILE_FILE: file });
await costOf(side, load, WARM_UP_SECONDS);
const from = nowUs();
await costOf(side, load, Number(values.seconds));
const to = nowUs();
tell(await takeReport<Profile>(side.cairn, file));
await side.cairn.stop();

function nowUs(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

function tell({ nodes, startTime, samples, timeDeltas }: Profile): void {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const own = new Map<string, number>();
  const whole = new Map<string, number>();
  let at = startTime;
  let total = 0;
  samples.forEach((id, index) => {
    const us = timeDeltas[index] ?? 0;
    at += us;
    const name = names.get(id) ?? '';
    if (at < from || at > to || name.startsWith('(idle)')) return;
    total += us;
    own.set(name, (own.get(name) ?? 0) + us);
    const stack = new Set<string>();
    for (let node: number | undefined = id; node !== undefined; node = parents.get(node)) {
      stack.add(names.get(node) ?? '');
    }
    for (const one of stack) whole.set(one, (whole.get(one) ?? 0) + us);
  });
  for (const [title, times] of Object.entries({ 'by themselves': own, 'with what they call': whole })) {
    const rows = [...times].toSorted((one, other) => other[1] - one[1]).slice(0, Number(values.rows));
    const lines = rows.map(([name, us]) => `${((100 * us) / total).toFixed(1).padStart(5)}  ${name}`);
    process.stdout.write(`\n${title}\n${lines.join('\n')}\n`);
  }
}

function nameOf({ functionName, url, lineNumber }: Profile['nodes'][number]['callFrame']): string {
  const place = url.replace(/^.*\/(?:dist\/src|node_modules)\//, '');
  return `${functionName || '(no name)'} ${place}:${lineNumber + 1}`;
}
