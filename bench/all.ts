/**
 * Runs all benches, or the named ones, one after another, and prints one table. Paired measurements are saved in
 * `figures.json`; `--chart` draws the pictures of README from it and from `felt.json`, without measuring anything.
 */
import { agents } from './agents.ts';
import { archive } from './archive.ts';
import { attacks } from './attacks.ts';
import { drawChart } from './charts/chart.ts';
import { drawFelt } from './charts/felt.ts';
import { saveFigures } from './charts/figures.ts';
import { credentials } from './credentials.ts';
import { documents } from './documents.ts';
import { download } from './download.ts';
import { eventLoop } from './event-loop.ts';
import { fair } from './fair.ts';
import { felt } from './felt.ts';
import { folders } from './folders.ts';
import { gateway } from './gateway.ts';
import { members } from './members.ts';
import { merge } from './merge.ts';
import { pages } from './pages.ts';
import { pullLatency } from './pull-latency.ts';
import { pullMemory } from './pull-memory.ts';
import { pullStalled } from './pull-stalled.ts';
import { pushLarge } from './push-large.ts';
import { type Bench, MissingTool, missingRow, note, type Row, readBenchOptions, table } from './report.ts';
import { searchHub } from './search-hub.ts';
import { smallCalls } from './small-calls.ts';
import { syncPull } from './sync-pull.ts';
import { syncPush } from './sync-push.ts';
import { tasks } from './tasks.ts';
import { tokens } from './tokens.ts';
import { uploadLarge } from './upload-large.ts';
import { uploadMemory } from './upload-memory.ts';
import { uploadSmall } from './upload-small.ts';

const benches: Readonly<Record<string, Bench>> = {
  'what a person feels': felt,
  'synced folders': folders,
  'durable uploads of 50 MiB': uploadLarge,
  'memory under 32 uploads': uploadMemory,
  'durable uploads of 64 KiB': uploadSmall,
  downloads: download,
  'event-loop delay': eventLoop,
  'tool calls': gateway,
  'context of an agent': tokens,
  'tasks of an agent': agents,
  credentials,
  tasks,
  documents,
  'pushes of 1 KiB': syncPush,
  'pushes of 10 MiB': pushLarge,
  'initial pulls': syncPull,
  'calls during initial pulls': pullLatency,
  'small calls beside other work': smallCalls,
  'memory of slow pulls': pullMemory,
  'pulls that stop reading': pullStalled,
  'three-way merges': merge,
  'open pages and large folders': pages,
  'an account from hub to hub': archive,
  'members of a log': members,
  'what one account costs the others': attacks,
  'fair shares': fair,
  'a large account searched': searchHub,
};

async function run(named: readonly string[]): Promise<void> {
  const unknown = named.find((name) => !Object.hasOwn(benches, name));
  if (unknown !== undefined)
    throw new Error(`no bench is called ${unknown}; there are: ${Object.keys(benches).join(', ')}`);
  const rows: Row[] = [];
  for (const [question, bench] of Object.entries(benches)) {
    if (named.length > 0 && !named.includes(question)) continue;
    note(`— ${question}`);
    try {
      rows.push(...(await bench(readBenchOptions())));
    } catch (error) {
      if (!(error instanceof MissingTool)) throw error;
      rows.push(missingRow(question, error.message));
    }
  }
  saveFigures(rows);
  process.stdout.write(table(rows));
}

if (process.argv.includes('--chart')) {
  drawFelt();
  drawChart();
} else await run(process.argv.slice(2).filter((word) => !word.startsWith('--')));
