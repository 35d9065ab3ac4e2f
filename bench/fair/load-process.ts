/** Child program: puts one load on a hub until it is killed. Counts its answers by status. */
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { AGENT } from '../../test/support/http.ts';
import { type Attacked, LOADS, type Send, type Sent } from './loads.ts';

export interface LoadOrder {
  readonly name: string;
  readonly hub: Attacked;
}

/** Answers by status since the last report. */
export type LoadReport = Readonly<Record<string, number>>;

const RETRY_MS = 20;
let statuses: Record<string, number> = {};

/** Sends over one connection that stays open. */
function sender(url: string): Send {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return ({ path, method = 'GET', headers = {}, body = '' }: Sent) =>
    new Promise((resolve, reject) => {
      const length = method === 'GET' ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
      const fields = { 'User-Agent': AGENT, ...headers, ...length };
      const outgoing = request(`${url}${path}`, { method, agent, headers: fields }, (incoming) => {
        const parts: Buffer[] = [];
        incoming.on('data', (part: Buffer) => parts.push(part));
        incoming.on('error', reject);
        incoming.on('end', () => {
          const status = String(incoming.statusCode);
          statuses[status] = (statuses[status] ?? 0) + 1;
          resolve(Buffer.concat(parts).toString());
        });
      });
      outgoing.on('error', reject);
      outgoing.end(body);
    });
}

async function run({ name, hub }: LoadOrder): Promise<void> {
  const load = LOADS[name];
  if (load === undefined) throw new Error(`no load is called ${name}`);
  const lanes = Array.from({ length: load.connections }, (_, at) => ({
    once: load.lane(hub, at),
    send: sender(hub.url),
  }));
  process.send?.('ready');
  await Promise.all(
    lanes.map(async ({ once, send }) => {
      for (;;) {
        try {
          await once(send);
        } catch {
          // A hub may end the connection of a refused body.
          statuses['cut'] = (statuses['cut'] ?? 0) + 1;
          await sleep(RETRY_MS);
        }
      }
    }),
  );
}

process.once('message', (order: LoadOrder) => {
  process.on('message', () => {
    process.send?.(statuses);
    statuses = {};
  });
  void run(order);
});
process.once('disconnect', () => process.exit(0));
