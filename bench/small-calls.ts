/**
 * How slow is a small call while another account causes the highest load: batches of 100 searches, eight uploads of 50
 * MiB, sixteen pulls of 10,000 files? An open loop of calls, before and during each load, in one run.
 */
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AGENT } from '../test/support/http.ts';
import { runCairn } from '../test/support/hub.ts';
import type { Credential } from '../test/support/mirror.ts';
import { type ClientJob, prepareClient } from './client.ts';
import { wrk } from './loaders.ts';
import { requireTool } from './peers/child.ts';
import { fillTasks, toolCall } from './peers/servers/start.ts';
import { startVaultHub, type VaultHub } from './peers/vault-hub.ts';
import { requestText } from './raw-request.ts';
import { type Bench, MiB, note, type Row, runWhenStarted, shown, summarize } from './report.ts';
import { percentile, runSteady } from './steady.ts';

const FILES = 10_000;
const LOADED_TASKS = 1000;
const CALLS_PER_SECOND = 100;
const UPLOADS = 8;
const IDLE_TIMES_MAX = 3;
/** Time before the first call and after the last. */
const MARGIN_SECONDS = 1;

/** Runs for at least `seconds`. */
type Load = (hub: Loaded, seconds: number) => Promise<unknown>;

interface Loaded extends VaultHub {
  /** For uploads. */
  readonly credential: Credential;
}

/** Each search scans all tasks of the account and finds none. */
const SEARCHES = JSON.stringify(
  Array.from({ length: 100 }, (_, id) => toolCall('list_tasks', { search: `nothing has this ${id}` }, id)),
);

const LOADS: Readonly<Record<string, Load>> = {
  'batches of 100 searches, over 4 connections': ({ url, headers }, seconds) =>
    wrk({ url, headers: { ...headers, Accept: 'application/json' }, body: SEARCHES, connections: 4, seconds }),
  'uploads of 50 MiB, eight at a time': uploads,
  'initial pulls of 10,000 files, sixteen at a time': ({ url, headers, pull }, seconds) =>
    wrk({ url, headers, body: pull, connections: 16, seconds }),
};

/** Uploads in rounds, each with new bodies created before it starts. */
async function uploads({ cairn, credential }: Loaded, seconds: number): Promise<void> {
  const job: ClientJob = {
    port: cairn.port,
    credential,
    connections: UPLOADS,
    requestsPerConnection: 1,
    bodyBytes: 50 * MiB,
  };
  const endMs = performance.now() + seconds * 1000;
  while (performance.now() < endMs) await (await prepareClient(job)).run();
}

export const smallCalls: Bench = async ({ quick, only = '' }) => {
  requireTool('wrk', 'wrk');
  const vault = await startVaultHub(FILES, { CAIRN_INFLIGHT_BYTES: String(UPLOADS * 50 * MiB) });
  try {
    const hub: Loaded = { ...vault, credential: await vault.cairn.account() };
    const env = { CAIRN_DATA: dirname(hub.dataFile) };
    const { stdout } = await runCairn(['account', 'create', '--email', 'small@example.org', '--json'], env);
    const { mcp_key: key } = JSON.parse(stdout) as { mcp_key: string };
    const plain = { 'User-Agent': AGENT, Accept: 'application/json' };
    const headers = { ...plain, Authorization: `McpKey ${key}` };
    await fillTasks(hub.cairn, headers, 25);
    await fillTasks(hub.cairn, { ...hub.headers, ...plain }, LOADED_TASKS);
    const text = requestText({ url: hub.url, headers, body: JSON.stringify(toolCall('list_tasks', {})) });
    const p99 = async (seconds: number) => {
      const requests = Array.from({ length: seconds * CALLS_PER_SECOND }, () => ({ name: 'small', text }));
      const times = await runSteady({ port: hub.cairn.port, requests, perSecond: CALLS_PER_SECOND });
      return percentile(times['small'] ?? [], 0.99);
    };
    const rows: Row[] = [];
    for (const [name, load] of Object.entries(LOADS)) {
      if (!name.includes(only)) continue;
      const rounds = { idle: [] as number[], loaded: [] as number[] };
      for (let round = 0; round < (quick ? 2 : 5); round += 1) {
        const seconds = quick ? 4 : 6;
        rounds.idle.push(await p99(seconds));
        const running = load(hub, seconds + 2 * MARGIN_SECONDS);
        await sleep(MARGIN_SECONDS * 1000);
        rounds.loaded.push(await p99(seconds));
        await running;
        note(`${name}: idle ${rounds.idle.at(-1)?.toFixed(1)} ms, ${rounds.loaded.at(-1)?.toFixed(1)} ms`);
      }
      rows.push(row(name, rounds.idle, rounds.loaded));
    }
    return rows;
  } finally {
    await vault.stop();
  }
};

function row(name: string, idle: readonly number[], loaded: readonly number[]): Row {
  const times = loaded.map((ms, round) => ms / (idle[round] ?? Number.NaN));
  return {
    question: `p99 of another account's list_tasks at ${CALLS_PER_SECOND}/s during ${name}`,
    cairn: shown(loaded, 'ms', 1),
    yardstick: `idle ${shown(idle, 'ms', 1)}`,
    ratio: shown(times, '', 1),
    target: `≤ ${IDLE_TIMES_MAX} times idle`,
    reached: summarize(times).median <= IDLE_TIMES_MAX,
  };
}

await runWhenStarted(import.meta.url, smallCalls);
