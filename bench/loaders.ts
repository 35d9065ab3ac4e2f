/** Runs load generators for downloads: autocannon and wrk, each as a separate process, returning bytes per second. */
import { fileURLToPath } from 'node:url';
import { runProgram } from './peers/child.ts';
import { REQUESTS_SCRIPT } from './peers/servers/start.ts';

export interface Load {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connections: number;
  readonly seconds: number;
  /** Sent with POST; without it the request is GET. wrk only. */
  readonly body?: string;
}

/** Resolves with the bytes received per second, in complete responses and in those still running at the end. */
export type Loader = (load: Load) => Promise<number>;

const WRK_UNITS = ['B', 'KB', 'MB', 'GB', 'TB'];

/** One Node thread: its cost is part of the measurement. */
export const autocannon: Loader = async ({ url, headers, connections, seconds }) => {
  const program = fileURLToPath(import.meta.resolve('autocannon'));
  const fields = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}=${value}`]);
  const args = [program, '-j', '-n', '-c', String(connections), '-d', String(seconds), ...fields, url];
  const result = JSON.parse(await runProgram(process.execPath, args)) as Record<string, unknown>;
  if (result['non2xx'] !== 0 || result['errors'] !== 0) throw new Error('autocannon met answers that were not 200');
  return (result['throughput'] as { average: number }).average;
};

/** One thread in C: uses less of the machine than autocannon. */
export const wrk: Loader = async ({ url, headers, connections, seconds, body }) => {
  const fields = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const target = ['-s', REQUESTS_SCRIPT, url, ...(body === undefined ? [] : ['--', body])];
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '30s', ...fields, ...target];
  const text = await runProgram('wrk', args);
  if (text.includes('Non-2xx') || text.includes('Socket errors')) throw new Error(`wrk met errors: ${text}`);
  const [, taken, amount, unit = ''] = /requests in ([\d.]+)s, ([\d.]+)([KMGT]?B) read/.exec(text) ?? [];
  if (!WRK_UNITS.includes(unit)) throw new Error(`wrk said: ${text}`);
  return (Number(amount) * 1024 ** WRK_UNITS.indexOf(unit)) / Number(taken);
};
