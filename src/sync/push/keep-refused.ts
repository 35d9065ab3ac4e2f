/** Keeps the bytes of a refused push as a pending conflict, so that nothing sent by a client is lost. */
import { randomBytes } from 'node:crypto';
import { Refusal } from '../../common/fault.ts';
import type { Contents } from '../contents/incoming.ts';
import { liveFile } from '../log/file-record.ts';
import { type ConflictKind, type ConflictRecord, conflictBytes } from '../log/records.ts';
import { decideKeep } from './decision.ts';
import { conflictFault } from './refusals.ts';
import type { Decided, PushStep } from './step.ts';
import type { ConflictOutcome, PushState } from './types.ts';

/**
 * Within a decision: stores the conflict, or finds the one stored by an earlier try. Throws Refusal `quota_exceeded`,
 * or `sync_conflict` without an id when the path has too many pending conflicts.
 */
export function keepRefused(
  { contents }: { readonly contents: Contents },
  step: PushStep,
  state: PushState,
  { conflictKind, reason }: ConflictOutcome,
): Decided {
  const { push, content, turn } = step;
  const { batch, change, vaultId } = turn;
  const keeping = decideKeep(push, state);
  if (keeping.kind === 'refuse') throw new Refusal(keeping.fault);
  const refusal = (conflict: { id: string; kind: ConflictKind } | undefined) =>
    conflictFault(push, state, reason, conflict);
  if (keeping.kind === 'full') throw new Refusal(refusal(undefined));
  if (keeping.kind === 'known') {
    const { id, record } = keeping.conflict;
    return { kind: 'conflict', fault: refusal({ id, kind: record.kind }), adopted: false };
  }
  const id = `c_${randomBytes(8).toString('hex')}`;
  for (const earlier of keeping.superseded) change.settle(state.folded, earlier, 'superseded', null);
  change.keep(state.folded, { id, record: refusedRecord(step, state, conflictKind) });
  const bytes = content?.bytes();
  if (bytes !== undefined) batch.put(conflictBytes, [vaultId, id], bytes);
  contents.adopt(batch, content);
  change.finish();
  return { kind: 'conflict', fault: refusal({ id, kind: conflictKind }), adopted: true };
}

function refusedRecord({ push, content }: PushStep, state: PushState, kind: ConflictKind): ConflictRecord {
  const { file } = state;
  const live = liveFile(file);
  const inPieces = content?.stored.kind === 'pieces' ? content.stored : undefined;
  return {
    path: state.path,
    kind,
    status: 'pending',
    device_id: push.deviceId,
    your_sha256: content?.sha256 ?? null,
    your_git_sha: content?.gitSha ?? null,
    your_hlc: push.hlcText,
    size_bytes: content?.sizeBytes ?? 0,
    encoding: content?.encoding ?? 'utf-8',
    mtime: push.mtime,
    executable: push.executable ?? live?.executable ?? false,
    storage_id: inPieces?.storageId ?? 0,
    escaped_bytes: inPieces?.escapedBytes ?? 0,
    server_seq: file?.seq ?? 0,
    server_sha256: live?.sha256 ?? null,
    server_git_sha: live?.git_sha ?? null,
    server_hlc: file?.hlc ?? null,
    base_sha: push.base.kind === 'sha' ? push.base.sha : null,
    detected_at: new Date(state.nowMs).toISOString(),
    settled_at: null,
    settled_seq: null,
  };
}
