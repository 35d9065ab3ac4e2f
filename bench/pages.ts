/** What do 1,000 open pages cost the hub, and how long and how many bytes does the page of a large folder take? */
import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { limits } from '../src/limits/service.ts';
import { EventReader } from '../test/support/event-stream.ts';
import { AGENT } from '../test/support/http.ts';
import { type PageClient, signedUp } from '../test/support/page-client.ts';
import { cpuSeconds } from './cpu-seconds.ts';
import { memoryOf } from './memory.ts';
import { startCairn } from './peers/cairn.ts';
import { fill, post, toolCall } from './peers/servers/start.ts';
import { type Bench, note, type Row, runWhenStarted, shown, summarize } from './report.ts';

const STREAMS = 1000;
const QUIET_SECONDS = 10;
const CHANGES = 10;
const ROUNDS = 40;
const MIB = 2 ** 20;
const PAGE_KIB = 100;
const PAGE_MS = 50;
const PASSWORD = 'correct horse battery staple';

interface Member {
  readonly client: PageClient;
  readonly headers: Record<string, string>;
}

export const pages: Bench = async ({ quick }) => {
  const hub = await startCairn({ CAIRN_LOG_LEVEL: 'warn', CAIRN_SIGNUP: 'open', CAIRN_STREAMS: '2000' });
  try {
    return [...(await openPages(hub)), ...(await folders(hub, quick ? 10_000 : 100_000))];
  } finally {
    await hub.stop();
  }
};

interface Hub {
  readonly url: string;
  readonly pid: number;
}

async function openPages(hub: Hub): Promise<Row[]> {
  const members: Member[] = [];
  while (members.length < STREAMS / limits.livePagesPerAccountMax) {
    members.push(await member(hub, `pages${members.length}@example.org`));
  }
  const idle = memoryOf(hub.pid).RssAnon;
  const idleCpu = await cpuOver(hub.pid, QUIET_SECONDS);
  const streams: EventReader[] = [];
  for (const { client } of members) {
    for (let open = 0; open < limits.livePagesPerAccountMax; open += 1) {
      const stream = await EventReader.open(client, '/live');
      if (stream.status !== 200) throw new Error(`stream ${streams.length} answered ${stream.status}`);
      streams.push(stream);
    }
  }
  // The first event tells each page that it may be outdated.
  await wait(2 * limits.liveGatherMs);
  const anon = memoryOf(hub.pid).RssAnon;
  const cpu = await cpuOver(hub.pid, QUIET_SECONDS);
  const [first] = members;
  if (first === undefined) throw new Error('no account');
  const before = cpuSeconds(hub.pid);
  for (let change = 0; change < CHANGES; change += 1) {
    await post(`${hub.url}/api/mcp`, first.headers, JSON.stringify(toolCall('create_task', { content: `${change}` })));
    await wait(2 * limits.liveGatherMs);
  }
  const perChange = ((cpuSeconds(hub.pid) - before) * 1000) / CHANGES;
  for (const stream of streams) stream.close();
  const perStream = (anon - idle) / STREAMS / 1024;
  return [
    {
      question: `${STREAMS} open pages: RssAnon`,
      cairn: `${(anon / MIB).toFixed(0)} MiB, ${perStream.toFixed(1)} KiB a page`,
      yardstick: `without them ${(idle / MIB).toFixed(0)} MiB`,
      ratio: (anon / idle).toFixed(2),
      target: '',
      reached: undefined,
    },
    {
      question: `${STREAMS} open pages, nothing changes: CPU`,
      cairn: `${(cpu * 100).toFixed(2)} % of a core`,
      yardstick: `without them ${(idleCpu * 100).toFixed(2)} %`,
      ratio: '',
      target: '',
      reached: undefined,
    },
    {
      question: `a change that ${limits.livePagesPerAccountMax} open pages are told of: CPU`,
      cairn: `${perChange.toFixed(1)} ms`,
      yardstick: '',
      ratio: '',
      target: '',
      reached: undefined,
    },
  ];
}

async function folders(hub: Hub, many: number): Promise<Row[]> {
  const { client, headers } = await member(hub, 'folders@example.org');
  const rows: Row[] = [];
  for (const count of [1000, many]) {
    const startedMs = performance.now();
    await fill(hub, headers, { tool: 'sync_push', count, argumentsOf: (index) => fileOf(count, index) });
    note(`${count} files pushed in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
    await client.open('/vaults');
    const vault = /href="(\/vaults\/[\w-]+)"/.exec(client.html)?.[1] ?? '';
    const path = `${vault}?folder=folder-${count}`;
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const fromMs = performance.now();
      const { status } = await client.send(path);
      times.push(performance.now() - fromMs);
      if (status !== 200) throw new Error(`${path} answered ${status}`);
    }
    const bytes = Buffer.byteLength(client.html);
    rows.push({
      question: `the page of a folder of ${count} files, ${limits.fileRowsPerPage} of them shown`,
      cairn: `${shown(times, 'ms', 1)}; ${(bytes / 1024).toFixed(0)} KiB`,
      yardstick: '',
      ratio: '',
      target: `< ${PAGE_MS} ms, < ${PAGE_KIB} KB`,
      reached: summarize(times).median < PAGE_MS && bytes < PAGE_KIB * 1000,
    });
  }
  return rows;
}

function fileOf(count: number, index: number): Record<string, unknown> {
  const content = `file ${index} of ${count}\n`;
  const sha256 = createHash('sha256').update(content).digest('hex');
  return { path: `folder-${count}/file-${index}.md`, content, sha256, base_sha: '', device_id: 'bench' };
}

async function member(hub: Hub, email: string): Promise<Member> {
  const client = await signedUp(hub, email, PASSWORD);
  const key = /[0-9a-f]{64}/.exec(client.text)?.[0] ?? '';
  return { client, headers: { Authorization: `McpKey ${key}`, 'User-Agent': AGENT } };
}

/** Fraction of a core used by a process without requests. */
async function cpuOver(pid: number, seconds: number): Promise<number> {
  const before = cpuSeconds(pid);
  await wait(seconds * 1000);
  return (cpuSeconds(pid) - before) / seconds;
}

await runWhenStarted(import.meta.url, pages);
