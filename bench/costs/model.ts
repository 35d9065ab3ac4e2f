/** Models the effect of more cores, from the measured cost of a request. Pure. */
import type { Cost } from './loads.ts';

/**
 * Returns the requests per second on `cores`: limited by all of them, or by the one hub thread (Amdahl: the part
 * restricted to one thread bounds the rest). Assumes cores like those measured, enough connections that none waits for
 * the disk, a load generator elsewhere, as many fronts as there are cores to run them, and no limit by memory or
 * network.
 */
export function rateOn(cores: number, { mainUs, allUs }: Pick<Cost, 'mainUs' | 'allUs'>): number {
  return Math.min((cores * 1e6) / allUs, 1e6 / mainUs);
}
