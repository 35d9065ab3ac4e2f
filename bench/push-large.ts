/** What does a durable sync_push of 10 MiB cost, compared with only parsing its body and hashing its content once? */
import { createHash } from 'node:crypto';
import { limits } from '../src/limits/service.ts';
import { clockAt, sha256Of } from '../test/support/sync.ts';
import { cpuSeconds } from './cpu-seconds.ts';
import { post, startTaskHub } from './peers/servers/start.ts';
import { type Bench, note, pairedRow, runWhenStarted } from './report.ts';

const QUESTION = 'durable sync_push of 10 MiB';

export const pushLarge: Bench = async ({ quick }) => {
  const rounds = quick ? 5 : 15;
  const hub = await startTaskHub(0);
  const url = `${hub.cairn.url}/api/mcp`;
  const wall = { cairn: [] as number[], bare: [] as number[] };
  const cpu: number[] = [];
  try {
    // The first round is warm-up.
    for (let round = 0; round <= rounds; round += 1) {
      const body = bodyOf(round);
      const cpuBefore = cpuSeconds(hub.cairn.pid);
      const cairn = await timed(async () => {
        const answer = JSON.parse(await post(url, hub.headers, body)) as { readonly error?: unknown };
        if (answer.error !== undefined) throw new Error(JSON.stringify(answer.error));
      });
      const cpuMs = Math.round((cpuSeconds(hub.cairn.pid) - cpuBefore) * 1000);
      const bare = await timed(() => readOnce(Buffer.from(body)));
      if (round === 0) continue;
      wall.cairn.push(cairn);
      wall.bare.push(bare);
      cpu.push(cpuMs);
      note(`${QUESTION}: ${cairn.toFixed(0)} ms, ${cpuMs} ms of CPU; bare ${bare.toFixed(0)} ms`);
    }
  } finally {
    await hub.stop();
  }
  const row = (question: string, cairn: readonly number[]) =>
    pairedRow({
      question,
      yardstickName: 'JSON.parse + SHA-256, one thread',
      cairn,
      yardstick: wall.bare,
      unit: 'ms',
      target: undefined,
    });
  return [row(QUESTION, wall.cairn), row(`${QUESTION}, CPU of all threads`, cpu)];
};

/** Returns a message with a text of prose-like lines, different in each round. */
function bodyOf(round: number): string {
  const line = `round ${round}: a line of "prose", some of it naïve, that a person wrote down\n`;
  const content = line.repeat(Math.floor(limits.fileBytesMax / Buffer.byteLength(line)));
  const args = {
    path: `large-${round}.md`,
    content,
    sha256: sha256Of(content),
    hlc: clockAt(round + 1),
    device_id: 'a',
  };
  return JSON.stringify({
    jsonrpc: '2.0',
    id: round,
    method: 'tools/call',
    params: { name: 'sync_push', arguments: args },
  });
}

function readOnce(body: Buffer): void {
  const { params } = JSON.parse(body.toString()) as {
    readonly params: { readonly arguments: { readonly content: string } };
  };
  createHash('sha256').update(params.arguments.content).digest('hex');
}

async function timed(run: () => Promise<void> | void): Promise<number> {
  const startedMs = performance.now();
  await run();
  return performance.now() - startedMs;
}

await runWhenStarted(import.meta.url, pushLarge);
