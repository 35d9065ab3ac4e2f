/** How long is the hub's event loop blocked while eight uploads of 50 MiB run? */
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../src/limits/service.ts';
import { checkStatuses, prepareClient } from './client.ts';
import { type Delays, delayProbe, takeDelays } from './delays.ts';
import { startCairn } from './peers/cairn.ts';
import { type Bench, note, type Row, runWhenStarted, shown, summarize } from './report.ts';

const UPLOADS = 8;
const P99_MS_MAX = 10;
const IDLE_MS = 3000;

export const eventLoop: Bench = async ({ quick }) => {
  const { file, env } = delayProbe();
  const cairn = await startCairn(env);
  const job = { port: cairn.port, connections: UPLOADS, requestsPerConnection: 1, bodyBytes: limits.uploadBytesMax };
  const idle: Delays[] = [];
  const busy: Delays[] = [];
  try {
    const credential = await cairn.account();
    for (let round = 0; round < (quick ? 2 : 5); round += 1) {
      const client = await prepareClient({ ...job, credential });
      await takeDelays(cairn, file);
      await sleep(IDLE_MS);
      idle.push(await takeDelays(cairn, file));
      const result = await client.run();
      checkStatuses({ ...job, credential }, result);
      busy.push(await takeDelays(cairn, file));
      note(`event loop, round ${round + 1}: idle ${told(idle.at(-1))}; eight uploads ${told(busy.at(-1))}`);
    }
  } finally {
    await cairn.stop();
  }
  return [row(idle, busy)];
};

function row(idle: readonly Delays[], busy: readonly Delays[]): Row {
  const p99 = busy.map((delays) => delays.p99);
  const idleP99 = idle.map((delays) => delays.p99);
  return {
    question: 'event-loop delay p99, eight uploads of 50 MiB',
    cairn: shown(p99, 'ms', 1),
    yardstick: `idle ${shown(idleP99, 'ms', 1)}`,
    ratio: shown(
      p99.map((value, index) => value / (idleP99[index] ?? Number.NaN)),
      '',
      2,
    ),
    target: `< ${P99_MS_MAX} ms`,
    reached: summarize(p99).median < P99_MS_MAX,
  };
}

function told(delays: Delays | undefined): string {
  if (delays === undefined) return 'unknown';
  return `p50 ${delays.p50.toFixed(1)} p90 ${delays.p90.toFixed(1)} p99 ${delays.p99.toFixed(1)} max ${delays.max.toFixed(1)} ms`;
}

await runWhenStarted(import.meta.url, eventLoop);
