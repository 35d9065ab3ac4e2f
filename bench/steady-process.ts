/** Child program: sends requests on schedule, each over an idle keep-alive socket, and records the duration of each. */
import { connect, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { SteadyJob, SteadyRequest } from './steady.ts';

/** Timers are late by up to this; the remaining time is spent polling. */
const TIMER_MS = 2;

process.once('message', (job: SteadyJob) => {
  run(job).then(
    (times) => process.send?.(times),
    (error: unknown) => process.send?.({ failed: String(error) }),
  );
});
process.once('disconnect', () => process.exit(0));

async function run({ port, requests, perSecond }: SteadyJob): Promise<Record<string, number[]>> {
  const free: Socket[] = [];
  const times: Record<string, number[]> = {};
  const ask = async ({ name, text }: SteadyRequest, dueMs: number) => {
    let socket = free.pop();
    // The server closes sockets idle for too long.
    while (socket !== undefined && socket.readyState !== 'open') socket = free.pop();
    socket ??= await open(port);
    await exchange(socket, text);
    const list = times[name] ?? [];
    list.push(performance.now() - dueMs);
    times[name] = list;
    free.push(socket);
  };
  const startMs = performance.now() + 50;
  const asked: Promise<void>[] = [];
  for (const [index, request] of requests.entries()) {
    const dueMs = startMs + (index * 1000) / perSecond;
    const leftMs = dueMs - performance.now();
    if (leftMs > TIMER_MS) await sleep(leftMs - TIMER_MS);
    while (performance.now() < dueMs) await nextTurn();
    asked.push(ask(request, dueMs));
  }
  await Promise.all(asked);
  for (const list of Object.values(times)) list.sort((a, b) => a - b);
  return times;
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => resolve(socket));
    socket.once('error', reject);
  });
}

/** Resolves when the response is complete; rejects unless the status is 200, or when the connection ends. */
function exchange(socket: Socket, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const finish = (failure?: string) => {
      socket.off('data', onData);
      socket.off('close', onClose);
      if (failure === undefined) resolve();
      else reject(new Error(failure));
    };
    const onClose = () => finish('a connection that ended');
    const onData = (data: Buffer) => {
      answer += data.toString('latin1');
      const headEnd = answer.indexOf('\r\n\r\n');
      if (headEnd < 0) return;
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(answer.slice(0, headEnd))?.[1] ?? 0);
      if (answer.length < headEnd + 4 + length) return;
      finish(answer.slice(9, 12) === '200' ? undefined : answer.slice(0, 300));
    };
    socket.on('data', onData);
    socket.once('close', onClose);
    socket.write(text);
  });
}
