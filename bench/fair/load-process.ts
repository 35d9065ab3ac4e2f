/** Child program: puts one load on a hub until it is killed. Counts its answers by status. */
import { writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { AGENT } from '../../test/support/http.ts';
import { FLOOR_HEADER, FLOOR_LOAD } from './load.ts';
import { type Attacked, LOADS, type Send, type Sent } from './loads.ts';

export interface LoadOrder {
  readonly name: string;
  readonly hub: Attacked;
  /** The file that the first accepted answer is written to. */
  readonly keep?: string;
  /** The URL of the bare library, which gets the load instead of the hub. */
  readonly floor?: string;
}

/** Answers by status since the last report. */
export type LoadReport = Readonly<Record<string, number>>;

const RETRY_MS = 20;
let statuses: Record<string, number> = {};
let isKept = false;

/** Sends over one connection that stays open. */
function sender({ hub, floor, keep }: LoadOrder): Send {
  const url = floor ?? hub.url;
  const own: Record<string, string> = floor === undefined ? {} : { [FLOOR_HEADER]: FLOOR_LOAD };
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return ({ path, method = 'GET', headers = {}, body = '' }: Sent) =>
    new Promise((resolve, reject) => {
      const length = method === 'GET' ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
      const fields = { 'User-Agent': AGENT, ...headers, ...length, ...own };
      const outgoing = request(`${url}${path}`, { method, agent, headers: fields }, (incoming) => {
        const parts: Buffer[] = [];
        incoming.on('data', (part: Buffer) => parts.push(part));
        incoming.on('error', reject);
        incoming.on('end', () => {
          const status = String(incoming.statusCode);
          statuses[status] = (statuses[status] ?? 0) + 1;
          const whole = Buffer.concat(parts);
          if (keep !== undefined && !isKept && Number(status) < 300) {
            isKept = true;
            writeFileSync(keep, whole);
          }
          resolve(whole.toString());
        });
      });
      outgoing.on('error', reject);
      outgoing.end(body);
    });
}

async function run(order: LoadOrder): Promise<void> {
  const { name, hub } = order;
  const load = LOADS[name];
  if (load === undefined) throw new Error(`no load is called ${name}`);
  const lanes = Array.from({ length: load.connections }, (_, at) => ({
    once: load.lane(hub, at),
    send: sender(order),
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
