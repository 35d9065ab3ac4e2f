/** Builds the refusals of a push, with the data that a client needs to act. Pure. */
import type { Fault } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import { type FileRecord, liveFile } from '../log/file-record.ts';
import { secondsAhead } from '../log/hlc.ts';
import type { ConflictRecord } from '../log/records.ts';
import type { Clash, ConflictReason, PushRequest, PushState } from './types.ts';

/** Returns the fault that reports a conflict to the client. */
export function conflictFault(
  push: PushRequest,
  state: PushState,
  reason: ConflictReason,
  conflict: { readonly id: string; readonly kind: ConflictRecord['kind'] } | undefined,
): Fault {
  const { file } = state;
  const live = liveFile(file);
  const ahead = file === undefined ? null : Math.round(state.fileHlc(file).ms - push.hlc.ms) / 1000;
  return {
    kind: 'sync_conflict',
    path: state.path,
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

/** Refuses to replace a file that the caller has not read. Its bytes are not kept: the caller still has them. */
export function refuseUnread(push: PushRequest, state: PushState) {
  return refuse(conflictFault(push, state, 'unread', undefined));
}

/** Refuses a change without a base, and reports the current hashes to send as the base. */
export function needsBase(sentence: string, live: FileRecord) {
  const data = { current_sha: live.sha256, current_git_sha: live.git_sha };
  return refuse({ kind: 'invalid_fields', fields: { base_sha: [sentence] }, data });
}

export function refuseSpelling(push: PushRequest, existing: string) {
  const sentence = `path ${push.path} differs from ${existing} only in case or Unicode form; use that spelling, or rename it with from_path`;
  return refuse({ kind: 'invalid_fields', fields: { path: [sentence] }, data: { existing_path: existing } });
}

export function refuseClash(push: PushRequest, clash: Clash) {
  const fields = { path: [describeClash(push.path, clash)] };
  return refuse({ kind: 'invalid_fields', fields, data: { existing_path: clash.path } });
}

export function refuseResolves() {
  const sentence = 'resolves must be the id of a conflict of this path; sync_pending_conflicts lists them';
  return refuse({ kind: 'invalid_fields', fields: { resolves: [sentence] } });
}

export function describeClash(path: string, clash: Clash): string {
  return clash.kind === 'folder'
    ? `path ${path} is a folder with files; choose another name`
    : `path ${path} is below ${clash.path}, which is a file; choose another name or delete that file first`;
}

/** Refuses a clock too far ahead: without a base only the clock could prove that the push is newer. */
export function refuseSkew(push: PushRequest, nowMs: number) {
  const skew = secondsAhead(push.hlc, nowMs);
  const serverTime = new Date(nowMs).toISOString();
  const most = limits.hlcAheadMsMax / 1000;
  const sentence = `hlc is ${skew} s ahead of the hub's time, ${serverTime}; the limit is ${most} s. Set the clock, or push with base_sha`;
  const data = { skew_seconds: skew, server_time: serverTime, max_drift_seconds: most };
  return refuse({ kind: 'invalid_fields', fields: { hlc: [sentence] }, data });
}

export function refuse(fault: Fault) {
  return { kind: 'refuse' as const, fault };
}
