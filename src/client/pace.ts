/** Limits the transfer rate: each block of bytes waits for the time of the blocks before it (GCRA without a burst). */
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../limits/service.ts';
import { ClientError } from './client-error.ts';

const UNITS = { k: 1024, m: 1024 * 1024 } as const;

export class Pace {
  readonly #bytesPerSecond: number;
  #freeMs = 0;

  constructor(bytesPerSecond: number) {
    this.#bytesPerSecond = bytesPerSecond;
  }

  /** Resolves when this number of bytes may be sent. */
  async take(bytes: number): Promise<void> {
    const nowMs = performance.now();
    const waitMs = this.#freeMs - nowMs;
    this.#freeMs = Math.max(nowMs, this.#freeMs) + (bytes / this.#bytesPerSecond) * 1000;
    if (waitMs > 0) await sleep(waitMs);
  }
}

/** Parses `500K` or `2M` as bytes per second, with binary units. Throws ClientError that names the option. */
export function readPace(text: string | undefined, option: string): Pace | undefined {
  if (text === undefined) return undefined;
  const [, number = '', unit = ''] = /^(\d{1,7})([km]?)$/i.exec(text) ?? [];
  const factor = UNITS[unit.toLowerCase() as keyof typeof UNITS] ?? 1;
  const bytesPerSecond = Number(number) * factor;
  if (number === '' || bytesPerSecond < limits.clientPaceMin) {
    throw new ClientError(
      `--${option} must be bytes per second, such as 500K or 2M, and at least ${limits.clientPaceMin / 1024}K.`,
    );
  }
  return new Pace(bytesPerSecond);
}
