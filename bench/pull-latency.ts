/** How slow is a small tools/call while 16 clients pull 100,000 files, against nginx sending small and large files? */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Load, wrk } from './loaders.ts';
import { requireTool } from './peers/child.ts';
import { startNginx } from './peers/nginx.ts';
import { fillTasks, toolCall } from './peers/servers/start.ts';
import { pullVault, startVaultHub } from './peers/vault-hub.ts';
import { requestText } from './raw-request.ts';
import { type Bench, MiB, note, type Row, runWhenStarted, shown, summarize } from './report.ts';
import { percentile, runSteady } from './steady.ts';

const FILES = 100_000;
const PULLERS = 16;
const CALLS_PER_SECOND = 100;
const TASKS = 25;
/** Maximum ratio to the p99 of the same calls without any pull. */
const IDLE_TIMES_MAX = 5;
/** Time before the first call and after the last. */
const LOAD_MARGIN_SECONDS = 1;

interface Side {
  readonly port: number;
  /** The small request. */
  readonly small: string;
  readonly load: Omit<Load, 'connections' | 'seconds'>;
}

interface Round {
  readonly idleMs: number;
  readonly loadedMs: number;
}

export const pullLatency: Bench = async ({ quick }) => {
  requireTool('wrk', 'wrk');
  const nginx = await startNginx(1);
  const hub = await startVaultHub(FILES);
  try {
    const { headers } = hub;
    writeFileSync(join(nginx.root, 'vault.ndjson'), await pullVault(hub));
    const call = JSON.stringify(toolCall('list_tasks', {}));
    const plain = { ...headers, Accept: 'application/json' };
    await fillTasks(hub.cairn, plain, TASKS);
    const { url } = hub;
    writeFileSync(join(nginx.root, 'small.json'), await answerOf(url, plain, call));
    const sides = {
      cairn: {
        port: hub.cairn.port,
        small: requestText({ url, headers: plain, body: call }),
        load: { url, headers, body: hub.pull },
      },
      nginx: {
        port: nginx.port,
        small: requestText({ url: `${nginx.url}/small.json`, headers: plain }),
        load: { url: `${nginx.url}/vault.ndjson`, headers },
      },
    };
    const rounds = { cairn: [] as Round[], nginx: [] as Round[] };
    for (let pair = 0; pair < (quick ? 2 : 5); pair += 1) {
      for (const side of pair % 2 === 0 ? (['cairn', 'nginx'] as const) : (['nginx', 'cairn'] as const)) {
        rounds[side].push(await measure(side, sides[side], quick ? 5 : 15));
      }
    }
    return [row(rounds.cairn, rounds.nginx)];
  } finally {
    await hub.stop();
    await nginx.stop();
  }
};

async function answerOf(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<string> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body,
  });
  return await answer.text();
}

/** Measures the same calls without a load and under it. */
async function measure(name: string, { port, small, load }: Side, seconds: number): Promise<Round> {
  const requests = Array.from({ length: seconds * CALLS_PER_SECOND }, () => ({ name: 'small', text: small }));
  const calls = async () => (await runSteady({ port, requests, perSecond: CALLS_PER_SECOND }))['small'] ?? [];
  const idle = await calls();
  const pulls = wrk({ ...load, connections: PULLERS, seconds: seconds + 2 * LOAD_MARGIN_SECONDS });
  await sleep(LOAD_MARGIN_SECONDS * 1000);
  const loaded = await calls();
  const rate = (await pulls) / MiB;
  const told = (ms: readonly number[]) =>
    `p50 ${percentile(ms, 0.5).toFixed(1)} p99 ${percentile(ms, 0.99).toFixed(1)} max ${(ms.at(-1) ?? 0).toFixed(1)} ms`;
  note(`${name}: idle ${told(idle)}; ${PULLERS} pulls at ${rate.toFixed(0)} MiB/s: ${told(loaded)}`);
  return { idleMs: percentile(idle, 0.99), loadedMs: percentile(loaded, 0.99) };
}

function row(cairn: readonly Round[], nginx: readonly Round[]): Row {
  const times = (rounds: readonly Round[]) => rounds.map(({ idleMs, loadedMs }) => loadedMs / idleMs);
  const told = (rounds: readonly Round[]) => {
    const idle = rounds.map(({ idleMs }) => idleMs);
    const loaded = rounds.map(({ loadedMs }) => loadedMs);
    return `${shown(loaded, 'ms', 1)}, idle ${shown(idle, 'ms', 1)}, ${shown(times(rounds), '', 1)} times`;
  };
  return {
    question: `p99 of list_tasks at ${CALLS_PER_SECOND}/s during ${PULLERS} initial pulls of ${FILES} files`,
    cairn: told(cairn),
    yardstick: `nginx ${told(nginx)}`,
    ratio: (summarize(times(cairn)).median / summarize(times(nginx)).median).toFixed(2),
    target: `≤ ${IDLE_TIMES_MAX} times idle`,
    reached: summarize(times(cairn)).median <= IDLE_TIMES_MAX,
  };
}

await runWhenStarted(import.meta.url, pullLatency);
