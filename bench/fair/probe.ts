/** The calls of others, whose response times say what a load costs. */
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { AGENT } from '../../test/support/http.ts';
import { percentile } from '../steady.ts';

const PAUSE_MS = 4;
export const FACTOR_MAX = 3;

export interface Asked {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export type Questions = Readonly<Record<string, Asked>>;

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/**
 * Resolves with the status. Rejects when the connection ends without an answer. `keep` gets the parts of the answer.
 */
export function ask(url: string, { path, headers, body }: Asked, keep?: (part: Buffer) => void): Promise<number> {
  const method = body === undefined ? 'GET' : 'POST';
  const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
  return new Promise((resolved, reject) => {
    const fields = { 'User-Agent': AGENT, ...headers, ...length };
    const outgoing = request(`${url}${path}`, { method, agent, headers: fields }, (incoming) => {
      incoming.on('error', reject).on('end', () => resolved(incoming.statusCode ?? 0));
      if (keep === undefined) incoming.resume();
      else incoming.on('data', keep);
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

export interface Times {
  /** Milliseconds by question, ascending. */
  readonly ms: Readonly<Record<string, number[]>>;
  readonly refused: number;
}

/** Asks for `seconds`, one question after another. `questions`: those of each round. */
export async function probe(url: string, questions: (round: number) => Questions, seconds: number): Promise<Times> {
  const ms: Record<string, number[]> = {};
  let refused = 0;
  const endMs = performance.now() + seconds * 1000;
  for (let round = 0; performance.now() < endMs; round += 1) {
    for (const [name, asked] of Object.entries(questions(round))) {
      const startedMs = performance.now();
      const status = await ask(url, asked).catch(() => 0);
      const list = ms[name] ?? [];
      ms[name] = list;
      if (status === 200) list.push(performance.now() - startedMs);
      else refused += 1;
    }
    await sleep(PAUSE_MS);
  }
  for (const list of Object.values(ms)) list.sort((a, b) => a - b);
  return { ms, refused };
}

/** The calls of several probes together. */
export function pooled(probes: readonly Times[]): Times {
  const names = new Set(probes.flatMap(({ ms }) => Object.keys(ms)));
  const all = (name: string) => probes.flatMap(({ ms }) => ms[name] ?? []).sort((a, b) => a - b);
  return {
    ms: Object.fromEntries([...names].map((name) => [name, all(name)])),
    refused: probes.reduce((sum, { refused }) => sum + refused, 0),
  };
}

export const countOf = ({ ms }: Times) => Object.values(ms).reduce((sum, { length }) => sum + length, 0);

export const at = (times: Times, question: string, share: number) => percentile(times.ms[question] ?? [], share);

/** For each question, how many times as long as without the load. */
export function ratios(of: Times, to: Times, share: number): number[] {
  return Object.keys(to.ms).map((question) => at(of, question, share) / at(to, question, share));
}

/** The three measurements of a load, each in times of idle, by question. */
export interface Compared {
  readonly cairn: readonly number[];
  /** The same load on the HTTP library with nothing behind it. */
  readonly floor: readonly number[];
  /** The same processor time, used by foreign processes. */
  readonly burned: readonly number[];
}

/**
 * Whose the waiting is. `holds`: every question is within the factor. `machine`: every one that is not waits no longer
 * than on the bare library, or beside foreign processes that use the same processor time. `ours`: all else.
 */
export type Cause = 'holds' | 'machine' | 'ours';

export function causeOf({ cairn, floor, burned }: Compared, refused: number): Cause {
  if (refused > 0) return 'ours';
  const over = cairn.flatMap((ratio, index) => (ratio <= FACTOR_MAX ? [] : [index]));
  if (over.length === 0) return 'holds';
  const bound = (index: number) => Math.max(floor[index] ?? 0, burned[index] ?? 0);
  return over.every((index) => (cairn[index] ?? Number.NaN) <= bound(index)) ? 'machine' : 'ours';
}
