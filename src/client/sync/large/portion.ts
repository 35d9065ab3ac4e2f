/** Owns how many bytes go over the line in one request, so that what is small soon has its turn on a slow line too. */
import { limits } from '../../../limits/service.ts';

export class Portion {
  #bytes: number = limits.clientPortionBytes;

  /** What is larger than this has a request of its own, beside the others. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Learns how fast the line is from a transfer that took `ms`. */
  measure(bytes: number, ms: number): void {
    // A small transfer tells of the hub's work rather than of the line.
    if (bytes < limits.clientPortionBytesMin) return;
    const next = (bytes / Math.max(1, ms)) * limits.clientPortionMs;
    this.#bytes = Math.min(limits.clientPushBytes, Math.max(limits.clientPortionBytesMin, Math.round(next)));
  }
}
