/** Defines a push, the input of its decision, and the possible outcomes. Types only. */
import type { Fault, SyncConflict } from '../../common/fault.ts';
import type { FileRecord } from '../log/file-record.ts';
import type { FileBytes } from '../log/file-room.ts';
import type { Hlc, HubClock } from '../log/hlc.ts';
import type { VaultPath } from '../log/paths.ts';
import type { Conflict } from '../log/reader.ts';
import type { ConflictKind } from '../log/records.ts';

/** The version that a push is based on, as stated by the client. */
export type Base =
  | { readonly kind: 'unsaid' }
  /** Neither base nor clock: the push creates a file, and changes none that it has not read. */
  | { readonly kind: 'unread' }
  /** The file must not exist. */
  | { readonly kind: 'nothing' }
  /** SHA-256 or git blob id, lower-case. */
  | { readonly kind: 'sha'; readonly sha: string };

export interface PushedContent {
  readonly sha256: string;
  readonly gitSha: string;
  readonly sizeBytes: number;
}

export interface PushRequest extends VaultPath {
  /** Undefined: the push is a delete, or a rename that keeps the bytes. */
  readonly content: PushedContent | undefined;
  readonly hlc: Hlc;
  readonly hlcText: string;
  readonly base: Base;
  readonly deviceId: string;
  readonly mtime: string | null;
  /** Undefined: unchanged. */
  readonly executable: boolean | undefined;
  /** Id of the pending conflict to settle, as stated by the client. */
  readonly resolves: string | undefined;
  /** The old path, when the push is a rename. */
  readonly from: VaultPath | undefined;
  /** The caller still has its bytes and tries again: a conflict is refused, and nothing of it is kept. */
  readonly isRetried?: boolean | undefined;
  /** True when the base is the hash of another file; undefined before the lookup. */
  readonly baseIsForeign?: boolean;
}

/** The file or folder that blocks a new file. */
export interface Clash {
  readonly kind: 'folder' | 'file';
  readonly path: string;
}

/** The input of the decision. Functions are called only when their result matters. */
export interface PushState extends VaultPath {
  readonly file: FileRecord | undefined;
  readonly pending: readonly Conflict[];
  readonly quotas: FileBytes;
  readonly clock: HubClock;
  readonly nowMs: number;
  /** Bytes counted by the quotas of the account. */
  used(): FileBytes;
  clash(): Clash | undefined;
  isProtected(): boolean;
  /** The clock of the current version, parsed. */
  fileHlc(file: FileRecord): Hlc;
  /** True when the path has this conflict, pending or settled. */
  hasConflict(conflictId: string): boolean;
  /** True when a version of the path has this sha256 or git_sha, or that cannot be ruled out. */
  hasVersion(sha: string): boolean;
}

export interface AdoptedClock {
  readonly clock: HubClock;
  /** True when the client's clock was not adopted, so that the version gets the hub's. */
  readonly hubMade: boolean;
  readonly warnings: readonly string[];
}

export interface AcceptOutcome extends AdoptedClock {
  readonly kind: 'accept';
  readonly status: 'created' | 'updated' | 'deleted';
}

export interface ConflictOutcome {
  readonly kind: 'conflict';
  readonly conflictKind: ConflictKind;
  readonly reason: ConflictReason;
}

export type PushDecision =
  | AcceptOutcome
  | ConflictOutcome
  | { readonly kind: 'unchanged' }
  /** First look up whether the base belongs to another file. */
  | { readonly kind: 'unknown_base'; readonly sha: string }
  | { readonly kind: 'refuse'; readonly fault: Fault };

export type ConflictReason = SyncConflict['reason'];
