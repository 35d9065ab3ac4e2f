/** Measures the facts from which the conditions of a hub follow. Cheap: some system calls and three small files. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../config.ts';
import { limits } from '../../limits/service.ts';
import type { Damage } from '../../store/data-file/damage.ts';
import { DATA_FILE } from '../../store/data-file/names.ts';
import type { ClockWatch } from '../../store/meta/clock-watch.ts';
import { newestKnownMs } from '../../store/meta/clock-watch.ts';
import type { Store } from '../../store/store.ts';
import { lastDone, lastFollowed } from '../marks.ts';
import type { Facts } from './rules.ts';

/** Tolerated difference between clocks when the newest time in the data file is in the future. */
const CLOCK_SLACK_MS = 60_000;
const HOUR_MS = 3_600_000;

export interface FactSources {
  readonly config: Pick<Config, 'dataFolder' | 'backupHours'>;
  readonly store: Store;
  readonly clock: Pick<ClockWatch, 'isRight'>;
  readonly damage: Pick<Damage, 'lastFoundMs'>;
  readonly phase: () => Facts['phase'];
  readonly certificateExpiresMs: () => number | undefined;
  readonly now: () => number;
}

/** Returns the function that measures a running hub. */
export function hubFacts({ config, store, clock, damage, phase, certificateExpiresMs, now }: FactSources): () => Facts {
  const startedMs = now();
  return () => {
    const nowMs = now();
    return {
      nowMs,
      startedMs,
      phase: phase(),
      writes: store.writing,
      disk: diskOf(store),
      clock: clockOf(newestKnownMs(store), nowMs, clock),
      ...choresOf(config),
      damagedMs: damage.lastFoundMs,
      certificateExpiresMs: certificateExpiresMs(),
    };
  };
}

/** What the commands of the operator left in the data folder. */
function choresOf({ dataFolder, backupHours }: FactSources['config']): Pick<Facts, 'backup' | 'follow' | 'verify'> {
  const verify = lastDone(dataFolder, 'verify');
  const follow = lastFollowed(dataFolder);
  return {
    backup: {
      doneMs: lastDone(dataFolder, 'backup')?.at_ms,
      everyMs: backupHours === undefined ? undefined : backupHours * HOUR_MS,
      dataBornMs: statSync(join(dataFolder, DATA_FILE)).birthtimeMs,
    },
    follow: follow && { seenMs: follow.at_ms, everyMs: follow.every_ms, isCopyingAll: follow.copying_all },
    verify: verify && { doneMs: verify.at_ms, problems: verify.problems },
  };
}

/** Returns whether the clock shows an earlier time than the newest stored data, in milliseconds; 0: there is none. */
function isClockBehind(newestMs: number, nowMs: number): boolean {
  return newestMs > nowMs + CLOCK_SLACK_MS;
}

function clockOf(newestMs: number, nowMs: number, watch: FactSources['clock']): Facts['clock'] {
  if (isClockBehind(newestMs, nowMs)) return 'behind';
  return watch.isRight() ? 'right' : 'ahead';
}

/** Undefined when the system does not tell: a failing disk is told by its writes. */
function diskOf(store: Store): Facts['disk'] {
  try {
    const { freeBytes, totalBytes } = store.space();
    const free = freeBytes - limits.diskFreeBytesMin;
    // Unused pages of the file cost a look at all tables, and matter only on a disk that fills up.
    const isScarce = free < totalBytes * (limits.diskWarnedShare + limits.diskSteadyShare);
    return { usableBytes: isScarce ? free + store.unusedBytes() : free, totalBytes };
  } catch {
    return undefined;
  }
}
