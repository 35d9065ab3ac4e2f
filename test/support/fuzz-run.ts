/** Sends fuzzed requests to a hub of its own and looks at what no request may bring about: a 500, a hang, lost memory, damage. */
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FuzzedRequest, Fuzzer, type Known } from './fuzz.ts';
import { samplesOf } from './fuzz-samples.ts';
import { accessToken, argumentSchemas } from './gateway.ts';
import { call } from './http.ts';
import { type Hub, startHub } from './hub.ts';
import { mirrorAccount } from './mirror.ts';
import { verified } from './mirror-state.ts';

export interface FuzzReport {
  readonly problems: readonly string[];
  readonly statuses: Readonly<Record<string, number>>;
  /** Anonymous memory at the end over that after the first requests. */
  readonly memoryFactor: number;
}

const AT_ONCE = 8;
/** After so many requests another account goes on: what requests revoke, fill and delete is that of the one before. */
const PER_ACCOUNT = 1000;
/** A request that takes longer hangs. The clock stands still while this process does. */
const HANG_SECONDS = 60;
const WARM_UP = 4000;
const REST_MS = 4000;

export async function fuzz(requests: number, seed: number, tell: (line: string) => void): Promise<FuzzReport> {
  const hub = await startHub({ env: { CAIRN_RATE_LIMIT: '0', CAIRN_SIGNIN_LIMIT: '0', CAIRN_SIGNUPS_PER_DAY: '100' } });
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  const statuses: Record<string, number> = {};
  const problems: string[] = [];
  let startBytes = 0;
  try {
    for (let sent = 0; sent < requests; sent += PER_ACCOUNT) {
      const fuzzer = new Fuzzer(seed + sent, await knownOf(hub));
      const count = Math.min(PER_ACCOUNT, requests - sent);
      let left = count;
      const worker = async () => {
        while (left > 0) {
          left -= 1;
          const fuzzed = fuzzer.next();
          const { status, text } = await send(hub, agent, fuzzed);
          statuses[status] = (statuses[status] ?? 0) + 1;
          if (status === 'hang' || status === '500' || text.includes('-32603')) {
            problems.push(
              `seed ${seed + sent}: ${status} ${fuzzed.method} ${fuzzed.path} ${String(fuzzed.body).slice(0, 500)}`,
            );
          }
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, worker));
      if (startBytes === 0 && sent + count >= Math.min(WARM_UP, requests / 2)) startBytes = await memoryOf(hub);
      if (sent % 50_000 === 0) tell(`${sent + count} of ${requests}, ${problems.length} problems`);
    }
    const endBytes = await memoryOf(hub);
    const report = await verified(hub);
    problems.push(...report.problems.map((problem) => `verify: ${problem}`));
    for (const line of hub.logs.filter(({ level }) => Number(level) >= 50))
      problems.push(JSON.stringify(line).slice(0, 500));
    return { problems, statuses, memoryFactor: endBytes / startBytes };
  } finally {
    agent.destroy();
    await hub.stop();
  }
}

async function knownOf(hub: Hub): Promise<Known> {
  const who = await mirrorAccount(hub);
  const { paths } = (await call(hub, '/api/mcp/openapi.json')).json() as { paths: Record<string, object> };
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => [method.toUpperCase(), path] as const),
  );
  const token = await accessToken(hub, who.email);
  const credentials = [`McpKey ${who.mcp_key}`, `McpKey ${who.account_key}`, `McpKey ${who.token}`, `Bearer ${token}`];
  return { routes, tools: await argumentSchemas(hub), credentials, samples: await samplesOf(hub, who) };
}

function send(hub: Hub, agent: Agent, { method, path, headers, body }: FuzzedRequest) {
  return new Promise<{ readonly status: string; readonly text: string }>((resolve) => {
    const length = body === undefined ? {} : { 'Content-Length': String(body.length) };
    const end = (status: string, text = '') => resolve({ status, text });
    const options = { agent, method, path, port: hub.port, host: '127.0.0.1', headers: { ...headers, ...length } };
    const outgoing = request(options, (incoming) => {
      const parts: Buffer[] = [];
      incoming.on('data', (part: Buffer) => {
        parts.push(part);
        // Listening for events never ends.
        if (String(incoming.headers['content-type']).includes('event-stream')) outgoing.destroy();
      });
      incoming.on('end', () => end(String(incoming.statusCode), Buffer.concat(parts).toString()));
      incoming.on('error', () => end('cut'));
    });
    let seconds = 0;
    const clock = setInterval(() => {
      seconds += 1;
      if (seconds < HANG_SECONDS) return;
      end('hang');
      outgoing.destroy();
    }, 1000);
    outgoing.on('close', () => clearInterval(clock));
    outgoing.on('error', () => end('cut'));
    outgoing.end(body);
  });
}

/** Anonymous memory of the hub once it rests, in bytes. */
async function memoryOf(hub: Hub): Promise<number> {
  await sleep(REST_MS);
  const status = readFileSync(`/proc/${hub.process.pid}/status`, 'utf8');
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}
