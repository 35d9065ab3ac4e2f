/** Appends a change made by the hub for a user: a restored version, a settled conflict. It gets the hub's clock. */
import { invalidField, Refusal } from '../../common/fault.ts';
import { type FileRecord, liveFile } from '../log/file-record.ts';
import { type FileRoom, overRoom } from '../log/file-room.ts';
import { sendTick } from '../log/hlc.ts';
import type { VaultPath } from '../log/paths.ts';
import type { ReadyContent } from '../log/ready-content.ts';
import type { Turn } from '../log/vault-log.ts';
import type { VersionStatus } from '../log/version.ts';
import { describeClash } from './refusals.ts';
import { findClash } from './state.ts';

/** The device id of changes for which no name was given. */
export const HUB_DEVICE = 'hub';

export interface HubChange {
  readonly path: VaultPath;
  readonly before: FileRecord | undefined;
  /** Undefined for a delete. */
  readonly content: ReadyContent | undefined;
  readonly status: VersionStatus;
  readonly deviceId: string;
  readonly mtime: string | null;
  readonly executable: boolean;
  /** True: an existing file gets this spelling of its path. Otherwise it keeps its own. */
  readonly respells?: boolean;
}

/** Appends the change as the current version. Throws Refusal `invalid_fields`, `quota_exceeded`, `storage_reserved`. */
export function appendByHub({ room }: { readonly room: FileRoom }, turn: Turn, hubChange: HubChange): FileRecord {
  const { reader, change, vaultId, nowMs } = turn;
  const { path, before, content, respells = false } = hubChange;
  const live = liveFile(before);
  if (live === undefined && content !== undefined) {
    const clash = findClash(reader, vaultId, path.folded);
    if (clash !== undefined) throw invalidField('path', describeClash(path.path, clash));
  }
  if (content !== undefined) checkRoom(room, turn, content.sizeBytes, live?.size_bytes ?? 0);
  change.setClock(sendTick(change.clock, nowMs));
  const spelled = live === undefined || respells ? path : { path: live.path, folded: path.folded };
  const renamedFrom = live === undefined || live.path === spelled.path ? undefined : live.path;
  return change.append({ ...hubChange, path: spelled, renamedFrom, hlc: null });
}

/** Throws Refusal `quota_exceeded`, `storage_reserved` when content of this size does not fit. */
export function checkRoom(room: FileRoom, { accountId, change }: Turn, contentBytes: number, freedBytes: number): void {
  room.checkReserve(accountId);
  const over = overRoom(room.quotasOf(accountId), () => change.used, contentBytes, freedBytes);
  if (over === undefined) return;
  room.noteRefused(over.of);
  throw new Refusal(over);
}

/** False when a base was given that does not match the current file. */
export function isBase(base: string | undefined, file: FileRecord | undefined): boolean {
  if (base === undefined) return true;
  const live = liveFile(file);
  if (/^0*$/.test(base)) return live === undefined;
  const sha = base.toLowerCase();
  return live !== undefined && (live.sha256 === sha || live.git_sha === sha);
}
