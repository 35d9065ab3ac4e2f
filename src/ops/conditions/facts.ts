/** Measures the facts from which the conditions of a hub follow. Cheap: some system calls and three small files. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { MemberTrouble } from '../../common/fault.ts';
import type { Config } from '../../config.ts';
import type { MemberTools } from '../../http/route/health.ts';
import type { DiskReserve } from '../../quotas/disk-reserve.ts';
import type { Damage } from '../../store/data-file/damage.ts';
import { DATA_FILE } from '../../store/data-file/names.ts';
import type { ClockWatch } from '../../store/meta/clock-watch.ts';
import { newestKnownMs } from '../../store/meta/clock-watch.ts';
import type { Store } from '../../store/store.ts';
import { lastDone, lastFollowed } from '../marks.ts';
import { SetAsideFiles } from '../member/set-aside.ts';
import type { Facts } from './rules.ts';

/** Tolerated difference between clocks when the newest time in the data file is in the future. */
const CLOCK_SLACK_MS = 60_000;
const HOUR_MS = 3_600_000;

export interface FactSources {
  readonly config: Pick<Config, 'dataFolder' | 'backupHours'>;
  readonly store: Store;
  readonly disk: Pick<DiskReserve, 'look'>;
  readonly clock: Pick<ClockWatch, 'isRight'>;
  readonly damage: Pick<Damage, 'lastFoundMs'>;
  readonly member: Pick<MemberTools, 'troubles' | 'appendingMs'> | undefined;
  readonly phase: () => Facts['phase'];
  readonly certificateExpiresMs: () => number | undefined;
  readonly now: () => number;
}

/** Returns the function that measures a running hub. */
export function hubFacts({
  config,
  store,
  disk,
  clock,
  damage,
  member,
  phase,
  certificateExpiresMs,
  now,
}: FactSources): () => Facts {
  const startedMs = now();
  const aside = new SetAsideFiles(config.dataFolder);
  return () => {
    const nowMs = now();
    return {
      nowMs,
      startedMs,
      phase: phase(),
      writes: store.writing,
      disk: disk.look(),
      clock: clockOf(newestKnownMs(store), nowMs, clock),
      ...choresOf(config),
      log: {
        unloggedMs: store.logLag?.ms ?? 0,
        setAside: aside.names.length,
        appendingMs: member?.appendingMs() ?? 0,
      },
      members: member && troublesOf(Object.values(member.troubles())),
      damagedMs: damage.lastFoundMs,
      certificateExpiresMs: certificateExpiresMs(),
    };
  };
}

const troublesOf = (troubles: readonly MemberTrouble[]): Facts['members'] => ({
  away: troubles.filter((trouble) => trouble === 'away').length,
  withoutRoom: troubles.filter((trouble) => trouble === 'no room').length,
});

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
