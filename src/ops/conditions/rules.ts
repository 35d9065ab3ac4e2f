/**
 * Decides which conditions of the hub an operator must know about, from measured facts. Pure. Each condition is declared
 * once: `/ready`, metrics, log, letters, `CAIRN_NOTIFY_URL` and `cairn doctor` derive from this table.
 */
import { saidOfTrouble } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';

/** What was measured. Times are in milliseconds since 1970, sizes in bytes. Absent: unknown, or it never happened. */
export interface Facts {
  readonly nowMs: number;
  readonly startedMs: number;
  readonly phase: 'starting' | 'ready' | 'draining';
  readonly writes: {
    /** When a write failed on the disk; no write has succeeded since. */
    readonly failedMs?: number | undefined;
    /** How long the oldest unfinished commit has been waiting for the disk. */
    readonly waitingMs: number;
  };
  /**
   * What may still be written, without the last 16 MiB of the disk, and the size of the disk or the memory map.
   * `isReserved`: writes of ordinary accounts are refused.
   */
  readonly disk?:
    | { readonly usableBytes: number; readonly totalBytes: number; readonly isReserved: boolean }
    | undefined;
  /** `ahead`: it jumped. `behind`: it shows an earlier time than data that is stored. */
  readonly clock: 'right' | 'ahead' | 'behind';
  readonly backup: {
    readonly doneMs?: number | undefined;
    /** CAIRN_BACKUP_HOURS; then a hub without any backup is late too, counted from the creation of its data. */
    readonly everyMs?: number | undefined;
    readonly dataBornMs: number;
  };
  /** The newest sign of life of `cairn follow`, and how often it looks for changes. */
  readonly follow?: { readonly seenMs: number; readonly everyMs: number; readonly isCopyingAll: boolean } | undefined;
  /**
   * What was answered before the log had it: how long the oldest waits, and files of what the log never had.
   * `appendingMs`: how long the log has not said whether it has the newest record.
   */
  readonly log?: { readonly unloggedMs: number; readonly setAside: number; readonly appendingMs: number } | undefined;
  /** Other members of the hub that could not take over: how many are away, and how many are without room. */
  readonly members?: { readonly away: number; readonly withoutRoom: number } | undefined;
  readonly verify?: { readonly doneMs: number; readonly problems: number } | undefined;
  /** When stored bytes that do not match their hash were last read. */
  readonly damagedMs?: number | undefined;
  /** When the hub's own TLS certificate expires. */
  readonly certificateExpiresMs?: number | undefined;
}

export type Severity = 'warning' | 'critical';

interface Declared {
  /** Conditions of one family exclude each other; the first that holds, in the order of this table, counts. */
  readonly family: string;
  readonly severity: Severity;
  /** True while ordinary accounts cannot write. */
  readonly blocksWrites?: true;
  /** True for what the operator causes, which needs no message. */
  readonly isUntold?: true;
  readonly title: string;
  /** What it means and what to do. Strangers may read it at `/ready`: no path, no name, no number of an account. */
  readonly message: string;
}

const CONDITIONS = {
  starting: {
    family: 'phase',
    severity: 'critical',
    blocksWrites: true,
    isUntold: true,
    title: 'Starting',
    message: 'The hub is starting. Try again in a moment.',
  },
  draining: {
    family: 'phase',
    severity: 'critical',
    blocksWrites: true,
    isUntold: true,
    title: 'Stopping',
    message: 'The hub is stopping. Try again in a moment.',
  },
  writes_failing: {
    family: 'writes',
    severity: 'critical',
    blocksWrites: true,
    title: 'Writes fail',
    message:
      'A write failed on the disk, and none has succeeded since. Check the disk and the log. The hub tries again automatically; reads continue.',
  },
  log_away: {
    family: 'writes',
    severity: 'critical',
    blocksWrites: true,
    title: 'The log does not answer',
    message:
      'The log has not answered for a long time, so writes wait. Check the store of CAIRN_LOG, and the network and the clock of this machine. Another member may serve by now: run `cairn member list` there.',
  },
  writes_stalled: {
    family: 'writes',
    severity: 'critical',
    blocksWrites: true,
    title: 'Writes hang',
    message: 'A write has been waiting for the disk for a long time. Check the disk and what else writes to it.',
  },
  disk_full: {
    family: 'disk',
    severity: 'critical',
    blocksWrites: true,
    title: 'Disk full',
    message: 'The disk or CAIRN_MAP_BYTES is used up, so nothing can be saved. Free space, or add some.',
  },
  disk_95: {
    family: 'disk',
    severity: 'critical',
    blocksWrites: true,
    title: 'Disk 95% full',
    message:
      'Less than 5% of the disk or of CAIRN_MAP_BYTES was free, so only operators and marked accounts can write until 6% are, on a small disk until 4 MiB more are. Free space, or add some.',
  },
  disk_90: {
    family: 'disk',
    severity: 'warning',
    title: 'Disk 90% full',
    message: 'Less than 10% of the disk or of CAIRN_MAP_BYTES is free. Add space: below 5% only operators can write.',
  },
  disk_80: {
    family: 'disk',
    severity: 'warning',
    title: 'Disk 80% full',
    message:
      'Less than 20% of the disk or of CAIRN_MAP_BYTES is free. Plan for more space; `cairn stats` says what grows.',
  },
  clock_behind: {
    family: 'clock',
    severity: 'critical',
    title: 'Clock behind',
    message:
      'The clock shows an earlier time than data that is already stored. Set it (timedatectl set-ntp true), then run `cairn doctor`.',
  },
  clock_ahead: {
    family: 'clock',
    severity: 'warning',
    title: 'Clock jumped ahead',
    message:
      'The clock is more than a day ahead of the newest data. If it is wrong, set it. Nothing is deleted by age until then, or for a day.',
  },
  damage: {
    family: 'damage',
    severity: 'critical',
    title: 'Damaged data',
    message:
      'Stored bytes do not match their hash. Run `cairn verify`, check the disk, and see "Damaged bytes" in the manual.',
  },
  backup_late: {
    family: 'backup',
    severity: 'warning',
    title: 'Backup late',
    message: 'The last backup is too old. Run `cairn backup DIR`, then find out why its timer did not.',
  },
  follow_late: {
    family: 'follow',
    severity: 'warning',
    title: 'Continuous backup behind',
    message:
      '`cairn follow` gives no sign of life, so newer changes are not copied. Start it again and read what it prints. If you ended it on purpose, delete `last-follow` in the data folder.',
  },
  log_behind: {
    family: 'log',
    severity: 'warning',
    title: 'Log behind',
    message:
      'Answered writes have waited for the log for seconds. If this machine is lost now, they are lost. Check the store of the log.',
  },
  set_aside: {
    family: 'set_aside',
    severity: 'warning',
    title: 'Writes set aside',
    message:
      'Writes that this member answered never came into the log, because another member took over. They are in the folder set-aside of its data folder. Read them, enter what is missing again, then remove the files.',
  },
  member_away: {
    family: 'member_away',
    severity: 'warning',
    title: 'A member is away',
    message: `Another member of this hub ${saidOfTrouble('away')}. \`cairn member list\` says which. Start it again. If you removed it, run \`cairn member forget NAME\`.`,
  },
  member_no_room: {
    family: 'member_no_room',
    severity: 'warning',
    title: 'A member without room',
    message: `Another member of this hub ${saidOfTrouble('no room')}. \`cairn member list\` says which. Free space there, or check the disk.`,
  },
  verify_late: {
    family: 'verify',
    severity: 'warning',
    title: 'Verification late',
    message: 'The last verification is too old. Run `cairn verify`, then find out why its timer did not.',
  },
  certificate_expired: {
    family: 'certificate',
    severity: 'critical',
    title: 'TLS certificate expired',
    message:
      'The TLS certificate has expired. Renew it, then run systemctl reload cairn (or send SIGHUP to the service).',
  },
  certificate_expires: {
    family: 'certificate',
    severity: 'warning',
    title: 'TLS certificate expires soon',
    message:
      'The TLS certificate expires in less than two weeks. Renew it, then run systemctl reload cairn (or send SIGHUP to the service).',
  },
} as const satisfies Record<string, Declared>;

export type ConditionName = keyof typeof CONDITIONS;

/** All names, in the order of the table. */
export const CONDITION_NAMES = Object.keys(CONDITIONS) as ConditionName[];

export const conditionOf = (name: ConditionName): Declared => CONDITIONS[name];

/** Conditions that held before, with the time when each began: a condition ends later than it begins. */
export type Held = ReadonlyMap<ConditionName, number>;

/** Returns the conditions that hold, at most one of a family. `held` holds a value near its bound where it was. */
export function conditionsOf(facts: Facts, held: Held): ConditionName[] {
  const families = new Set<string>();
  return CONDITION_NAMES.filter((name) => {
    const { family } = conditionOf(name);
    if (families.has(family) || !RULES[name](facts, held)) return false;
    families.add(family);
    return true;
  });
}

/** True when an ordinary account can write. */
export function canWrite(conditions: readonly ConditionName[]): boolean {
  return conditions.every((name) => conditionOf(name).blocksWrites !== true);
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const RULES: Readonly<Record<ConditionName, (facts: Facts, held: Held) => boolean>> = {
  starting: ({ phase }) => phase === 'starting',
  draining: ({ phase }) => phase === 'draining',
  writes_failing: ({ writes }) => writes.failedMs !== undefined,
  log_away: ({ writes, log }) =>
    writes.waitingMs > limits.commitWaitMsMax && log !== undefined && log.appendingMs > limits.commitWaitMsMax,
  writes_stalled: ({ writes }) => writes.waitingMs > limits.commitWaitMsMax,
  disk_full: ({ disk }) => disk !== undefined && disk.usableBytes <= 0,
  // Writes are refused by the same decision, so what `/ready` says is what they are told.
  disk_95: ({ disk }) => disk?.isReserved === true,
  disk_90: ({ disk }, held) => isBelow(disk, limits.diskScarceShare, held, ['disk_90', 'disk_95', 'disk_full']),
  disk_80: ({ disk }, held) =>
    isBelow(disk, limits.diskWarnedShare, held, ['disk_80', 'disk_90', 'disk_95', 'disk_full']),
  clock_behind: ({ clock }) => clock === 'behind',
  clock_ahead: ({ clock }) => clock === 'ahead',
  damage: ({ verify, damagedMs }, held) => {
    if (verify !== undefined && verify.problems > 0) return true;
    const foundMs = Math.max(damagedMs ?? 0, held.get('damage') ?? 0);
    return foundMs > 0 && foundMs >= (verify?.doneMs ?? 0);
  },
  backup_late: ({ backup, nowMs }) => isBackupLate(backup, nowMs),
  follow_late: ({ follow, nowMs, startedMs }) => {
    if (follow === undefined) return false;
    const { seenMs, everyMs, isCopyingAll } = follow;
    const allowedMs = isCopyingAll
      ? limits.followWholeHoursMax * HOUR_MS
      : Math.max(limits.followLateMsMin, 3 * everyMs);
    if (isAfter(seenMs, nowMs)) return true;
    // After a boot both start, in any order.
    return nowMs - Math.max(seenMs, startedMs) > allowedMs;
  },
  log_behind: ({ log }) => log !== undefined && log.unloggedMs > limits.unloggedMsMax,
  set_aside: ({ log }) => log !== undefined && log.setAside > 0,
  member_away: ({ members }) => members !== undefined && members.away > 0,
  member_no_room: ({ members }) => members !== undefined && members.withoutRoom > 0,
  verify_late: ({ verify, nowMs }) => verify !== undefined && isVerifyLate(verify.doneMs, nowMs),
  certificate_expired: ({ certificateExpiresMs: atMs, nowMs }) => atMs !== undefined && atMs <= nowMs,
  certificate_expires: ({ certificateExpiresMs: atMs, nowMs }) =>
    atMs !== undefined && atMs - nowMs < limits.certificateDaysMin * DAY_MS,
};

/** True when a wrong clock dated a chore far ahead: a late one would not be told until then. */
export const isAfter = (doneMs: number, nowMs: number): boolean => doneMs - nowMs > DAY_MS;

/** True when the newest backup is older than it may be. Without any backup, it is late only if a setting says how often. */
function isBackupLate({ doneMs, everyMs, dataBornMs }: Facts['backup'], nowMs: number): boolean {
  const sinceMs = doneMs ?? (everyMs === undefined ? undefined : dataBornMs);
  if (sinceMs === undefined) return false;
  return isAfter(sinceMs, nowMs) || nowMs - sinceMs > (everyMs ?? limits.backupHoursDefault * HOUR_MS);
}

/** True when the last verification is older than it may be. */
function isVerifyLate(doneMs: number, nowMs: number): boolean {
  return isAfter(doneMs, nowMs) || nowMs - doneMs > limits.verifyDaysMax * DAY_MS;
}

function freeShareOf(disk: Facts['disk']): number {
  return disk === undefined ? 1 : disk.usableBytes / disk.totalBytes;
}

/** True below a share of free space; after one of these conditions held, until it is exceeded by `diskSteadyShare`. */
function isBelow(disk: Facts['disk'], share: number, held: Held, worse: readonly ConditionName[]): boolean {
  const steady = worse.some((name) => held.has(name)) ? limits.diskSteadyShare : 0;
  return freeShareOf(disk) < share + steady;
}
