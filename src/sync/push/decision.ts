/**
 * Decides the outcome of a push, in one fixed order. Time never justifies an overwrite: a matching base decides without
 * any clock, and a clock decides only when no base was given. Pure: all input is passed in.
 */
import type { Fault } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import { parseIsoMs } from '../../time/iso-time.ts';
import { type FileRecord, liveFile } from '../log/file-record.ts';
import { overRoom } from '../log/file-room.ts';
import { compareHlc, type Hlc, isTooFarAhead, receiveTick, secondsAhead, sendTick } from '../log/hlc.ts';
import type { Conflict } from '../log/reader.ts';
import type { ConflictKind } from '../log/records.ts';
import {
  needsBase,
  refuse,
  refuseClash,
  refuseResolves,
  refuseSkew,
  refuseSpelling,
  refuseUnread,
} from './refusals.ts';
import type {
  AcceptOutcome,
  AdoptedClock,
  Base,
  PushDecision,
  PushedContent,
  PushRequest,
  PushState,
} from './types.ts';

/** Follows the order of SYN-3 from the quota on; the path, the hash and the clock's form were checked before. */
export function decidePush(push: PushRequest, state: PushState): PushDecision {
  const { file } = state;
  const live = liveFile(file);
  if (push.resolves !== undefined && !state.hasConflict(push.resolves)) return refuseResolves();
  if (live !== undefined && live.path !== push.path) return refuseSpelling(push, live.path);
  if (live === undefined && push.content !== undefined) {
    const clash = state.clash();
    if (clash !== undefined) return refuseClash(push, clash);
  }
  if (push.content === undefined) return decideDelete(push, state, live);
  // The same bytes take no room, so they are accepted before the quotas are checked.
  if (live?.sha256 === push.content.sha256 && !changesBit(push, live, state)) return { kind: 'unchanged' };
  if (push.base.kind === 'unread' && live !== undefined) return refuseUnread(push, state);
  const over = overQuota(push, state, settledBy(push, state.pending), live?.size_bytes ?? 0);
  if (over !== undefined) return over;
  if (push.base.kind === 'unread') return accept(push, state, 'created');
  if (push.base.kind !== 'unsaid') return decideGuarded(push, state, live);
  if (live !== undefined && state.isProtected()) {
    return needsBase(
      `${push.path} is protected: read the current version, then push with base_sha ${live.sha256}`,
      live,
    );
  }
  if (file === undefined) return accept(push, state, 'created');
  return decideByClock(push, push.content, state, file);
}

/** True when a push of the same bytes changes the executable bit. With an outdated base or clock it changes nothing. */
function changesBit(push: PushRequest, live: FileRecord, state: PushState): boolean {
  if (push.executable === undefined || push.executable === live.executable) return false;
  if (push.base.kind !== 'unsaid') return matches(push.base, live);
  return compareHlc(push.hlc, state.fileHlc(live)) > 0;
}

/** Decides a delete, never by clock: a change unknown to the client wins. */
function decideDelete(push: PushRequest, state: PushState, live: FileRecord | undefined): PushDecision {
  if (live === undefined) {
    return state.file === undefined
      ? refuse({ kind: 'path_not_found', path: push.path, deletedAt: null })
      : { kind: 'unchanged' };
  }
  if (push.base.kind === 'unsaid' || push.base.kind === 'unread') {
    return needsBase(
      `a delete of ${push.path} needs base_sha, so that no change is lost: it is ${live.sha256} now`,
      live,
    );
  }
  if (matches(push.base, live)) return accept(push, state, 'deleted');
  return wrongBase(push, state) ?? { kind: 'conflict', conflictKind: 'delete/edit', reason: 'base' };
}

function decideGuarded(push: PushRequest, state: PushState, live: FileRecord | undefined): PushDecision {
  if (matches(push.base, live)) return accept(push, state, live === undefined ? 'created' : 'updated');
  const reason = live === undefined ? 'deleted' : 'base';
  return wrongBase(push, state) ?? { kind: 'conflict', conflictKind: kindOf(push.base, live), reason };
}

/** Finds a base that belongs to another file: a mix-up by the client, not a conflict. Undefined when there is none. */
function wrongBase({ base, path, baseIsForeign }: PushRequest, state: PushState): PushDecision | undefined {
  if (base.kind !== 'sha' || baseIsForeign === false) return undefined;
  if (baseIsForeign === undefined) {
    return state.hasVersion(base.sha) ? undefined : { kind: 'unknown_base', sha: base.sha };
  }
  const sentence = `base_sha belongs to another file, not to ${path}; read the current one with sync_list`;
  return refuse({ kind: 'invalid_fields', fields: { base_sha: [sentence] } });
}

function decideByClock(push: PushRequest, content: PushedContent, state: PushState, file: FileRecord): PushDecision {
  if (isTooFarAhead(push.hlc, state.nowMs)) return refuseSkew(push, state.nowMs);
  const isNewer = compareHlc(push.hlc, state.fileHlc(file)) > 0;
  if (file.deleted) {
    if (isNewer && !state.hasVersion(content.sha256)) return accept(push, state, 'created');
    return { kind: 'conflict', conflictKind: 'edit/delete', reason: 'deleted' };
  }
  if (isNewer) return accept(push, state, 'updated');
  const isFirst = file.versions === 1 && file.device_id !== push.deviceId;
  return { kind: 'conflict', conflictKind: isFirst ? 'create/create' : 'edit/edit', reason: 'clock' };
}

/** True when a base matches the current file, or its absence. */
export function matches(base: Base, live: FileRecord | undefined): boolean {
  if (base.kind === 'nothing') return live === undefined;
  return base.kind === 'sha' && live !== undefined && (base.sha === live.sha256 || base.sha === live.git_sha);
}

function kindOf(base: Base, live: FileRecord | undefined): ConflictKind {
  if (live === undefined) return 'edit/delete';
  return base.kind === 'nothing' ? 'create/create' : 'edit/edit';
}

function accept(push: PushRequest, state: PushState, status: AcceptOutcome['status']): AcceptOutcome {
  const { file } = state;
  const adopted = adoptClock(push, state, file === undefined ? [] : [state.fileHlc(file)]);
  const regressed = file === undefined || file.deleted ? undefined : mtimeRegressMs(push.mtime, file.mtime);
  const { clock, hubMade, warnings } = adopted;
  if (regressed === undefined) return { kind: 'accept', status, clock, hubMade, warnings };
  const older = `mtime is ${(regressed / 1000).toFixed(1)} s older than in the previous version; check the clock`;
  return { kind: 'accept', status, clock, hubMade, warnings: [older, ...warnings] };
}

/** Adopts the client's clock when it is above all clocks in `before`; otherwise the change gets the hub's. */
export function adoptClock(push: PushRequest, { clock, nowMs }: PushState, before: readonly Hlc[]): AdoptedClock {
  if (isTooFarAhead(push.hlc, nowMs)) {
    const warning = `your clock is ${secondsAhead(push.hlc, nowMs)} s ahead of the hub; the change was stored under a clock of the hub`;
    return { clock: sendTick(clock, nowMs), hubMade: true, warnings: [warning] };
  }
  const received = receiveTick(clock, push.hlc, nowMs);
  if (before.every((hlc) => compareHlc(push.hlc, hlc) > 0)) return { clock: received, hubMade: false, warnings: [] };
  const warning = "your hlc is not above the previous version's; the change was stored under a clock of the hub";
  return { clock: received, hubMade: true, warnings: [warning] };
}

/** Returns by how many ms a modification time is older than the previous one, if enough for a warning. */
function mtimeRegressMs(mtime: string | null, before: string | null): number | undefined {
  if (mtime === null || before === null) return undefined;
  const older = (parseIsoMs(before) ?? 0) - (parseIsoMs(mtime) ?? 0);
  return older > limits.mtimeRegressMs ? older : undefined;
}

/** Refuses content above a quota, after `freedBytes` and settled conflicts have become history. Exact to the byte. */
export function overQuota(
  push: PushRequest,
  state: PushState,
  settled: readonly Settlement[],
  freedBytes: number,
): { readonly kind: 'refuse'; readonly fault: Fault } | undefined {
  if (push.content === undefined) return undefined;
  const freed = settled.reduce((sum, { conflict }) => sum + conflict.record.size_bytes, freedBytes);
  const over = overRoom(state.quotas, () => state.used(), push.content.sizeBytes, freed);
  return over && refuse(over);
}

export interface Settlement {
  readonly conflict: Conflict;
  readonly status: 'resolved' | 'superseded';
}

/** Returns the pending conflicts settled by an accepted push, each with its new status. */
export function settledBy(push: PushRequest, pending: readonly Conflict[]): Settlement[] {
  return pending.flatMap((conflict): Settlement[] => {
    const { device_id: device, your_sha256: sha256 } = conflict.record;
    const isResolved =
      conflict.id === push.resolves ||
      (push.content !== undefined && sha256 === push.content.sha256) ||
      (device === push.deviceId && push.base.kind !== 'unsaid');
    if (isResolved) return [{ conflict, status: 'resolved' }];
    return device === push.deviceId ? [{ conflict, status: 'superseded' }] : [];
  });
}

export type KeepOutcome =
  /** The same device sent the same bytes before, so nothing new is stored. */
  | { readonly kind: 'known'; readonly conflict: Conflict }
  | { readonly kind: 'keep'; readonly superseded: readonly Conflict[] }
  | { readonly kind: 'full' }
  | { readonly kind: 'refuse'; readonly fault: Fault };

/** Decides how the bytes of a conflicting push are kept. */
export function decideKeep(push: PushRequest, state: PushState): KeepOutcome {
  const sha256 = push.content?.sha256 ?? null;
  const own = state.pending.filter(({ record }) => record.device_id === push.deviceId);
  const known = own.find(({ record }) => record.your_sha256 === sha256);
  if (known !== undefined) return { kind: 'known', conflict: known };
  if (state.pending.length - own.length >= limits.pendingConflictsPerPathMax) return { kind: 'full' };
  const freed = own.reduce((sum, { record }) => sum + record.size_bytes, 0);
  const over = overRoom(state.quotas, () => state.used(), push.content?.sizeBytes ?? 0, freed);
  if (over === undefined) return { kind: 'keep', superseded: own };
  // A delete holds no bytes that could be lost, so its conflict is told although there is no room to keep it.
  return push.content === undefined ? { kind: 'full' } : { kind: 'refuse', fault: over };
}
