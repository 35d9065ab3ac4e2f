/** Owns what a push is, what a decision on it looks at, and what can become of it. Types only. */
import type { Fault, SyncConflict } from '../../common/fault.ts';
import type { FileRecord } from '../log/file-record.ts';
import type { FileBytes } from '../log/file-room.ts';
import type { Hlc, HubClock } from '../log/hlc.ts';
import type { VaultPath } from '../log/paths.ts';
import type { Conflict } from '../log/reader.ts';
import type { ConflictKind } from '../log/records.ts';

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
  /** Undefined: the push is a delete, or a rename that keeps the bytes. */
  readonly content: PushedContent | undefined;
  readonly hlc: Hlc;
  readonly hlcText: string;
  readonly base: Base;
  readonly deviceId: string;
  readonly mtime: string | null;
  /** Undefined: as it is now. */
  readonly executable: boolean | undefined;
  /** The pending conflict that this push settles, as the client says. */
  readonly resolves: string | undefined;
  /** The path that the file had until now: the push is a rename. */
  readonly from: VaultPath | undefined;
  /** Whether the base is the hash of another file; undefined: nobody looked. */
  readonly baseIsForeign?: boolean;
}

/** What stands in the way of a new file. */
export interface Clash {
  readonly kind: 'folder' | 'file';
  readonly path: string;
}

/** What the decision looks at. Functions are asked only where their answer counts. */
export interface PushState extends VaultPath {
  readonly file: FileRecord | undefined;
  /** Pending conflicts of the path. */
  readonly pending: readonly Conflict[];
  readonly quotas: FileBytes;
  readonly clock: HubClock;
  readonly nowMs: number;
  /** What the quotas of the account count. */
  used(): FileBytes;
  clash(): Clash | undefined;
  isProtected(): boolean;
  /** The clock of the current version, parsed. */
  fileHlc(file: FileRecord): Hlc;
  /** True when the path has such a conflict, settled ones too. */
  hasConflict(conflictId: string): boolean;
  /** True when a version of the path has this sha256 or git_sha, or that cannot be ruled out. */
  hasVersion(sha: string): boolean;
}

export interface AdoptedClock {
  /** The hub's clock from now on. */
  readonly clock: HubClock;
  /** The client's clock was not adopted: the version gets the hub's. */
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
  /** Whether the base belongs to another file has to be looked up first. */
  | { readonly kind: 'unknown_base'; readonly sha: string }
  | { readonly kind: 'refuse'; readonly fault: Fault };

export type ConflictReason = SyncConflict['reason'];
