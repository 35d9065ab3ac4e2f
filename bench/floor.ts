/**
 * What would a durable `create_task` and a durable `sync_push` of 1 KiB cost at least on this stack, and what do the layers of
 * the hub add? One process with the same libraries does a step more each time, over 64 connections; the hub does the whole
 * call in the same rounds. CPU of the main thread and of all threads, in microseconds a call.
 * usage: node dist/bench/floor.js [--rounds N] [--seconds N] [task] [file]
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { temporaryFolder } from '../test/support/temporary-folder.ts';
import { FLOOR_STEPS, type FloorStep, type FloorWork, STEP_NAMES } from './costs/floor-steps.ts';
import { type Cost, costAt, costOf } from './costs/loads.ts';
import { openSide } from './costs/side.ts';
import { summarize } from './report.ts';

const { values, positionals } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, seconds: { type: 'string', default: '2' } },
  allowPositionals: true,
});
const seconds = Number(values.seconds);
const HUB_LOADS = { task: 'create', file: 'push' } as const;
const program = fileURLToPath(new URL('costs/floor-process.js', import.meta.url));

const side = await openSide();
try {
  for (const work of Object.keys(HUB_LOADS) as FloorWork[]) {
    if (positionals.length === 0 || positionals.includes(work)) await measure(work);
  }
} finally {
  await side.cairn.stop();
}

async function measure(work: FloorWork): Promise<void> {
  const steps = FLOOR_STEPS.filter((step) => work === 'file' || step !== 'hashes');
  const floors = await Promise.all(steps.map((step) => start(step, work)));
  const costs = new Map<FloorStep | 'hub', Cost[]>();
  const load = HUB_LOADS[work];
  // The first round compiles the code.
  for (let round = 0; round <= Number(values.rounds); round += 1) {
    for (const { step, pid, port } of floors) {
      const cost = await costAt({ pid, url: `http://127.0.0.1:${port}` }, side, load, seconds);
      if (round > 0) costs.set(step, [...(costs.get(step) ?? []), cost]);
    }
    const cost = await costOf(side, load, seconds);
    if (round > 0) costs.set('hub', [...(costs.get('hub') ?? []), cost]);
  }
  for (const { stop } of floors) stop();
  for (const [step, measured] of costs) {
    const told = (field: keyof Cost) => {
      const { median, min, max } = summarize(measured.map((cost) => cost[field]));
      return `${median.toFixed(1)} (${min.toFixed(1)}–${max.toFixed(1)})`;
    };
    const name = step === 'hub' ? `the hub: ${load}` : STEP_NAMES[step];
    process.stdout.write(
      `${work}: ${name}: main ${told('mainUs')} us, all ${told('allUs')} us, ${told('rate')} a second\n`,
    );
  }
}

async function start(step: FloorStep, work: FloorWork) {
  const child = fork(program, [temporaryFolder(), step, work], { execArgv: [] });
  const [port] = (await once(child, 'message')) as [number];
  return { step, pid: child.pid ?? 0, port, stop: () => child.connected && child.disconnect() };
}
