/** What befalls devices and the hub of a storm, and how often each. */
import type { Station } from './station.ts';

/** What faults act on. */
interface Faulty {
  readonly station: () => Station;
  readonly sleep: (ms: number) => Promise<void>;
  /** Kills the hub for a while; undefined: it is down already. */
  readonly killHub: (downMs: number) => Promise<void> | undefined;
}

/** Begins a fault, for a while that the storm gives; resolves when it is over. Undefined: there was nothing to befall. */
type Fault = (storm: Faulty, downMs: number) => Promise<void> | undefined;

export const DOWN_MS_MAX = 4000;

async function killClient({ station, sleep }: Faulty, downMs: number): Promise<void> {
  const one = station();
  if (!one.isWatched) return;
  await one.stop('kill');
  await sleep(downMs);
  if (!one.isWatched) one.watch();
}

function takeFolderAway({ station, sleep }: Faulty, downMs: number): Promise<void> | undefined {
  const bringBack = station().leave();
  return bringBack && sleep(downMs).then(bringBack);
}

/** By how often each happens. */
export const FAULTS: readonly (readonly [string, Fault])[] = [
  ['kill a client', (storm, downMs) => killClient(storm, downMs / 4)],
  ['kill a client', (storm, downMs) => killClient(storm, downMs / 4)],
  ['a client is offline', (storm, downMs) => killClient(storm, downMs * 4)],
  ['a folder is away', (storm, downMs) => takeFolderAway(storm, downMs)],
  ['kill the hub', (storm, downMs) => storm.killHub(downMs)],
];
