/** Fronts beside one thread: two hubs in one run, in turn. usage: node dist/bench/fronts-gate.js FRONTS PAIRS SECONDS LOAD... */

import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AGENT, call } from '../test/support/http.ts';
import { runCairn } from '../test/support/hub.ts';
import { randomCommit, uploadHeaders } from '../test/support/mirror.ts';
import { temporaryFolder } from '../test/support/temporary-folder.ts';
import { startCairn } from './peers/cairn.ts';
import { runProgram } from './peers/child.ts';
import { fillTasks, REQUESTS_SCRIPT, toolCall } from './peers/servers/start.ts';
import { summarize } from './report.ts';

const [fronts = '1', pairs = '10', seconds = '2', ...loads] = process.argv.slice(2);

async function open(env: Record<string, string>) {
  const folder = temporaryFolder();
  const data = { CAIRN_DATA: join(folder, 'data') };
  const settings = {
    ...data,
    CAIRN_RATE_LIMIT: '0',
    CAIRN_SIGNIN_LIMIT: '0',
    CAIRN_LOG_LEVEL: process.env['GATE_LOG'] ?? 'info',
  };
  const first = await startCairn(settings);
  let cairn = first;
  const cli = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCairn([...args, '--email', 'gate@example.org', '--json'], data);
    if (code !== 0) throw new Error(stderr);
    return JSON.parse(stdout) as Record<string, string>;
  };
  const { mcp_key: key } = await cli('account', 'create');
  const headers = { Authorization: `McpKey ${key}`, 'User-Agent': AGENT, 'Content-Type': 'application/json' };
  const { access_token: token } = await cli('token', 'create');
  await fillTasks(cairn, headers, 1000);
  const issued = await call(cairn, '/api/cert_mirror/credentials', { method: 'POST', headers, body: '{}' });
  const credential = issued.json() as unknown as Parameters<typeof uploadHeaders>[0];
  const commit = randomCommit();
  const bytes = randomBytes(65536);
  const stored = await call(cairn, '/api/cert_mirror', {
    method: 'POST',
    headers: uploadHeaders(credential, commit, bytes),
    body: bytes,
  });
  if (stored.status !== 200) throw new Error(stored.text);
  await first.stop();
  cairn = await startCairn({ ...settings, ...env });
  return { cairn, headers, token, credential, commit };
}
type Side = Awaited<ReturnType<typeof open>>;

const CONNECTIONS = 32;
const LOADS: Record<
  string,
  (side: Side) => { path: string; headers: Record<string, string>; body?: string; connections: number }
> = {
  list: ({ headers }) => ({
    path: '/api/mcp',
    headers,
    body: JSON.stringify(toolCall('list_tasks', { limit: 25 })),
    connections: CONNECTIONS,
  }),
  listNew: ({ headers }) => ({
    path: '/api/mcp',
    headers,
    body: JSON.stringify(toolCall('list_tasks', { limit: 25, created_from: '0000-00-00' })),
    connections: CONNECTIONS,
  }),
  page: ({ token }) => ({
    path: '/api/tasks?completed=false&sort_by=due_date',
    headers: { Authorization: `Bearer ${token}`, 'User-Agent': AGENT },
    connections: CONNECTIONS,
  }),
  download: ({ credential, commit }) => ({
    path: `/api/cert_mirror/${commit}/download`,
    headers: { Authorization: `McpKey ${credential.token}`, 'User-Agent': AGENT },
    connections: CONNECTIONS,
  }),
  create: ({ headers }) => ({
    path: '/api/mcp',
    headers,
    body: JSON.stringify(toolCall('create_task', { content: 'Renew the certificate', due_date: '2026-12-01' })),
    connections: 64,
  }),
};

function cpuUs(pid: number): number {
  let ticks = 0;
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    try {
      const stat = readFileSync(`/proc/${pid}/task/${task}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      ticks += Number(fields[11]) + Number(fields[12]);
    } catch {}
  }
  return ticks * 10_000;
}

async function run(side: Side, name: string, time: number): Promise<{ rate: number; us: number }> {
  const load = (LOADS[name] as (typeof LOADS)[string])(side);
  const before = cpuUs(side.cairn.pid);
  const fields = Object.entries(load.headers).flatMap(([key, value]) => ['-H', `${key}: ${value}`]);
  const text = await runProgram('wrk', [
    '-t1',
    `-c${load.connections}`,
    `-d${Math.ceil(time)}s`,
    ...fields,
    '-s',
    REQUESTS_SCRIPT,
    side.cairn.url + load.path,
    ...(load.body === undefined ? [] : ['--', load.body]),
  ]);
  if (text.includes('Non-2xx') || text.includes('Socket errors')) throw new Error(text);
  const rate = Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1]);
  const count = Number(/(\d+) requests in/.exec(text)?.[1]);
  return { rate, us: (cpuUs(side.cairn.pid) - before) / count };
}

const one = await open({ CAIRN_FRONTS: '0' });
const many = await open({ CAIRN_FRONTS: fronts });
try {
  for (const name of loads) {
    const ratios: number[] = [];
    const rates = { one: [] as number[], many: [] as number[] };
    const cpu = { one: [] as number[], many: [] as number[] };
    await run(one, name, 3);
    await run(many, name, 3);
    for (let pair = 0; pair < Number(pairs); pair += 1) {
      const order = pair % 2 === 0 ? (['one', 'many'] as const) : (['many', 'one'] as const);
      for (const side of order) {
        const { rate, us } = await run(side === 'one' ? one : many, name, Number(seconds));
        rates[side].push(rate);
        cpu[side].push(us);
      }
      ratios.push((rates.many.at(-1) ?? 0) / (rates.one.at(-1) ?? 1));
    }
    const { median, min, max } = summarize(ratios);
    const show = (values: readonly number[]) => summarize(values).median.toFixed(0);
    process.stdout.write(
      `${name}: ratio ${median.toFixed(2)} (${min.toFixed(2)}-${max.toFixed(2)}); one ${show(rates.one)}/s ${show(cpu.one)} us; fronts ${show(rates.many)}/s ${show(cpu.many)} us\n`,
    );
  }
} finally {
  await one.cairn.stop();
  await many.cairn.stop();
}
process.exit(0);
