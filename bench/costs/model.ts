/** What more cores give, from what a request costs on this machine. Pure. */
import type { Cost } from './loads.ts';

/**
 * Requests per second on so many cores: what all of them can do, or what the one hub thread can (Amdahl: the part that only one
 * thread may do bounds the rest). It assumes cores like those measured on, enough connections that nobody waits for the
 * disk, a load generator elsewhere, as many fronts as there are cores to run them, and neither memory nor network as the bound.
 */
export function rateOn(cores: number, { mainUs, allUs }: Pick<Cost, 'mainUs' | 'allUs'>): number {
  return Math.min((cores * 1e6) / allUs, 1e6 / mainUs);
}
