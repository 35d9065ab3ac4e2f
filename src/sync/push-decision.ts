/**
 * Decides what becomes of a push, in one fixed order. Nothing that time says ever excuses an overwrite: a base that matches
 * decides without any clock, and a clock decides only where no base was given. Pure: what it looks at is passed in.
 */
import type { Fault } from '../fault.ts';
import { limits } from '../limits.ts';
import { compareHlc, type Hlc, type HubClock, isTooFarAhead, receiveTick, secondsAhead, sendTick } from './hlc.ts';
import { parseIsoMs } from './iso-time.ts';
import type { VaultPath } from './paths.ts';
import type { Conflict } from './reader.ts';
import type { ConflictKind, ConflictRecord, FileRecord } from './records.ts';

/** What a push builds on, as the client says. */
export type Base =
  | { readonly kind: 'unsaid' }
  /** There must be no file. */
  | { readonly kind: 'nothing' }
  /** SHA-256 or git blob id, lower-case. */
  | { readonly kind: 'sha'; readonly sha: string };

export interface PushedContent {
  readonly sha256: string;
  readonly gitSha: string;
  readonly sizeBytes: number;
}

export interface PushRequest extends VaultPath {
  /** Undefined: the push is a delete. */
  readonly content: PushedContent | undefined;
  readonly hlc: Hlc;
  readonly hlcText: string;
  readonly base: Base;
  readonly deviceId: string;
  readonly mtime: string | null;
  /** The pending conflict that this push settles, as the client says. */
  readonly resolves: string | undefined;
}

/** What stands in the way of a new file. */
export interface Clash {
  readonly kind: 'folder' | 'file';
  readonly path: string;
}

/** What the decision looks at. Functions are asked only where their answer counts. */
export interface PushState {
  readonly file: FileRecord | undefined;
  /** Pending conflicts of the path. */
  readonly pending: readonly Conflict[];
  readonly usageBytes: number;
  readonly quotaBytes: number;
  readonly clock: HubClock;
  readonly nowMs: number;
  clash(): Clash | undefined;
  isProtected(): boolean;
  /** The clock of the current version, parsed. */
  fileHlc(file: FileRecord): Hlc;
  /** True when the path had these bytes before, or that cannot be ruled out. */
  isKnownOld(sha256: string): boolean;
}

export type PushOutcome =
  | {
      readonly kind: 'accept';
      readonly status: 'created' | 'updated' | 'deleted';
      /** The hub's clock from now on. */
      readonly clock: HubClock;
      /** The client's clock was not adopted: the version gets the hub's. */
      readonly hubMade: boolean;
      readonly warnings: readonly string[];
    }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'conflict'; readonly conflictKind: ConflictKind; readonly reason: ConflictReason }
  | { readonly kind: 'refuse'; readonly fault: Fault };

export type ConflictReason = 'base' | 'clock' | 'deleted';

/** The order of SYN-3 from the quota on; the path, the hash and the clock's form were checked before. */
export function decidePush(push: PushRequest, state: PushState): PushOutcome {
  const { file } = state;
  const live = file !== undefined && !file.deleted ? file : undefined;
  if (live !== undefined && live.path !== push.path) return refuseSpelling(push, live.path);
  if (live === undefined && push.content !== undefined) {
    const clash = state.clash();
    if (clash !== undefined) return refuseClash(push, clash);
  }
  const quota = checkQuota(push, state, live);
  if (quota !== undefined) return quota;
  if (push.content === undefined) return decideDelete(push, state, live);
  if (live?.sha256 === push.content.sha256) return { kind: 'unchanged' };
  if (push.base.kind !== 'unsaid') return decideGuarded(push, state, live);
  if (live !== undefined && state.isProtected()) {
    return needsBase(`${push.path} is protected: read what is there, then push with base_sha ${live.sha256}`, live);
  }
  if (file === undefined) return accept(push, state, 'created');
  return decideByClock(push, push.content, state, file);
}

/** A delete never goes by clocks: a change that it did not know of beats it. */
function decideDelete(push: PushRequest, state: PushState, live: FileRecord | undefined): PushOutcome {
  if (live === undefined) {
    return state.file === undefined
      ? { kind: 'refuse', fault: { kind: 'path_not_found', path: push.path, deletedAt: null } }
      : { kind: 'unchanged' };
  }
  if (push.base.kind === 'unsaid') {
    return needsBase(
      `a delete of ${push.path} needs base_sha, so that no change is lost: it is ${live.sha256} now`,
      live,
    );
  }
  if (!matches(push.base, live)) return { kind: 'conflict', conflictKind: 'delete/edit', reason: 'base' };
  return accept(push, state, 'deleted');
}

function decideGuarded(push: PushRequest, state: PushState, live: FileRecord | undefined): PushOutcome {
  if (matches(push.base, live)) return accept(push, state, live === undefined ? 'created' : 'updated');
  return { kind: 'conflict', conflictKind: kindOf(push.base, live), reason: live === undefined ? 'deleted' : 'base' };
}

function decideByClock(push: PushRequest, content: PushedContent, state: PushState, file: FileRecord): PushOutcome {
  if (isTooFarAhead(push.hlc, state.nowMs)) return refuseSkew(push, state.nowMs);
  const isNewer = compareHlc(push.hlc, state.fileHlc(file)) > 0;
  if (file.deleted) {
    if (isNewer && !state.isKnownOld(content.sha256)) return accept(push, state, 'created');
    return { kind: 'conflict', conflictKind: 'edit/delete', reason: 'deleted' };
  }
  if (isNewer) return accept(push, state, 'updated');
  const isFirst = file.versions === 1 && file.device_id !== push.deviceId;
  return { kind: 'conflict', conflictKind: isFirst ? 'create/create' : 'edit/edit', reason: 'clock' };
}

function matches(base: Base, live: FileRecord | undefined): boolean {
  if (base.kind === 'nothing') return live === undefined;
  return base.kind === 'sha' && live !== undefined && (base.sha === live.sha256 || base.sha === live.git_sha);
}

function kindOf(base: Base, live: FileRecord | undefined): ConflictKind {
  if (live === undefined) return 'edit/delete';
  return base.kind === 'nothing' ? 'create/create' : 'edit/edit';
}

/** Adopts the client's clock when it is above what was there; else the version gets the hub's. */
function accept(push: PushRequest, state: PushState, status: 'created' | 'updated' | 'deleted'): PushOutcome {
  const { clock, nowMs, file } = state;
  const warnings: string[] = [];
  const regressed = file === undefined || file.deleted ? undefined : mtimeRegressMs(push.mtime, file.mtime);
  if (regressed !== undefined) {
    warnings.push(`mtime is ${(regressed / 1000).toFixed(1)} s older than that of the version before; check the clock`);
  }
  if (isTooFarAhead(push.hlc, nowMs)) {
    warnings.push(
      `your clock is ${secondsAhead(push.hlc, nowMs)} s ahead of the hub; the change was stored under a clock of the hub`,
    );
    return { kind: 'accept', status, clock: sendTick(clock, nowMs), hubMade: true, warnings };
  }
  const received = receiveTick(clock, push.hlc, nowMs);
  if (file === undefined || compareHlc(push.hlc, state.fileHlc(file)) > 0) {
    return { kind: 'accept', status, clock: received, hubMade: false, warnings };
  }
  warnings.push('your clock is not above that of the version before; the change was stored under a clock of the hub');
  return { kind: 'accept', status, clock: received, hubMade: true, warnings };
}

/** How much older a modification time is than the one before it, when that is worth a warning. */
function mtimeRegressMs(mtime: string | null, before: string | null): number | undefined {
  if (mtime === null || before === null) return undefined;
  const older = (parseIsoMs(before) ?? 0) - (parseIsoMs(mtime) ?? 0);
  return older > limits.mtimeRegressMs ? older : undefined;
}

/** Exactly at the byte, and never in the way of what takes no more room than before. */
function checkQuota(push: PushRequest, state: PushState, live: FileRecord | undefined): PushOutcome | undefined {
  const settled = settledBy(push, state.pending);
  const freed = settled.reduce((sum, { conflict }) => sum + conflict.record.size_bytes, live?.size_bytes ?? 0);
  const grown = (push.content?.sizeBytes ?? 0) - freed;
  if (grown <= 0 || state.usageBytes + grown <= state.quotaBytes) return undefined;
  return { kind: 'refuse', fault: quotaFault(state, grown) };
}

function quotaFault({ usageBytes, quotaBytes }: PushState, neededBytes: number): Fault {
  return { kind: 'quota_exceeded', quotaBytes, usedBytes: usageBytes, neededBytes };
}

export interface Settlement {
  readonly conflict: Conflict;
  readonly status: 'resolved' | 'superseded';
}

/** Which pending conflicts an accepted push settles, and as what. */
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
  /** The same device sent the same bytes before: nothing new is kept. */
  | { readonly kind: 'known'; readonly conflict: Conflict }
  | { readonly kind: 'keep'; readonly superseded: readonly Conflict[] }
  | { readonly kind: 'full' }
  | { readonly kind: 'refuse'; readonly fault: Fault };

/** How the bytes of a push that met a conflict are kept. */
export function decideKeep(push: PushRequest, state: PushState): KeepOutcome {
  const sha256 = push.content?.sha256 ?? null;
  const own = state.pending.filter(({ record }) => record.device_id === push.deviceId);
  const known = own.find(({ record }) => record.your_sha256 === sha256);
  if (known !== undefined) return { kind: 'known', conflict: known };
  if (state.pending.length - own.length >= limits.pendingConflictsPerPathMax) return { kind: 'full' };
  const freed = own.reduce((sum, { record }) => sum + record.size_bytes, 0);
  const grown = (push.content?.sizeBytes ?? 0) - freed;
  if (grown > 0 && state.usageBytes + grown > state.quotaBytes) {
    return { kind: 'refuse', fault: quotaFault(state, grown) };
  }
  return { kind: 'keep', superseded: own };
}

/** What a client is told of a conflict. */
export function conflictFault(
  push: PushRequest,
  state: PushState,
  reason: ConflictReason,
  conflict: { readonly id: string; readonly kind: ConflictRecord['kind'] } | undefined,
): Fault {
  const { file } = state;
  const live = file !== undefined && !file.deleted ? file : undefined;
  const ahead = file === undefined ? null : Math.round(state.fileHlc(file).ms - push.hlc.ms) / 1000;
  return {
    kind: 'sync_conflict',
    path: push.path,
    reason,
    conflictId: conflict?.id ?? null,
    conflictKind: conflict?.kind ?? null,
    yourHlc: push.hlcText,
    serverHlc: file?.hlc ?? null,
    timeDiffSeconds: ahead,
    serverSha256: live?.sha256 ?? null,
    serverGitSha: live?.git_sha ?? null,
  };
}

function needsBase(sentence: string, live: FileRecord): PushOutcome {
  const data = { current_sha: live.sha256, current_git_sha: live.git_sha };
  return { kind: 'refuse', fault: { kind: 'invalid_fields', fields: { base_sha: [sentence] }, data } };
}

function refuseSpelling(push: PushRequest, existing: string): PushOutcome {
  const sentence = `path ${push.path} differs from ${existing} only in case or Unicode form; use that spelling, or rename it with from_path`;
  return {
    kind: 'refuse',
    fault: { kind: 'invalid_fields', fields: { path: [sentence] }, data: { existing_path: existing } },
  };
}

function refuseClash(push: PushRequest, clash: Clash): PushOutcome {
  const sentence =
    clash.kind === 'folder'
      ? `path ${push.path} is a folder that holds files; choose another name`
      : `path ${push.path} lies below ${clash.path}, which is a file; choose another name or delete that file first`;
  const data = { existing_path: clash.path };
  return { kind: 'refuse', fault: { kind: 'invalid_fields', fields: { path: [sentence] }, data } };
}

/** Without a base only the clock could say that this push is newer, and this clock says nothing. */
function refuseSkew(push: PushRequest, nowMs: number): PushOutcome {
  const skew = secondsAhead(push.hlc, nowMs);
  const serverTime = new Date(nowMs).toISOString();
  const most = limits.hlcAheadMsMax / 1000;
  const sentence = `hlc is ${skew} s ahead of the hub, whose time is ${serverTime}; ${most} s is the most: set the clock, or push with base_sha`;
  const data = { skew_seconds: skew, server_time: serverTime, max_drift_seconds: most };
  return { kind: 'refuse', fault: { kind: 'invalid_fields', fields: { hlc: [sentence] }, data } };
}
