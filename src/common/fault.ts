/** Defines all expected refusals and the message of each. Every door maps a kind to its own status or code. */

/** Errors of the OAuth endpoints: RFC 6749 (4.1.2.1, 5.2), RFC 7591 (3.2.2), RFC 8628 (3.5), RFC 8707 (2). */
export type OAuthError =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'invalid_target'
  | 'invalid_redirect_uri'
  | 'invalid_client_metadata'
  | 'invalid_scope'
  | 'authorization_pending'
  | 'slow_down'
  | 'access_denied'
  | 'expired_token';

/** Kinds of quotas of an account: bytes of mirror blobs, of current files, of their history, of documents and tasks. */
export type QuotaKind = 'blobs' | 'files' | 'history' | 'documents';

/** Field names with the sentences that describe their errors. */
export type FieldErrors = Readonly<Record<string, readonly string[]>>;

export type Fault =
  | { readonly kind: 'bad_framing'; readonly detail: string }
  | { readonly kind: 'blocked_agent' }
  | { readonly kind: 'origin_forbidden' }
  | { readonly kind: 'route_unknown' }
  | { readonly kind: 'method_unknown'; readonly allow: readonly string[] }
  | { readonly kind: 'unauthenticated'; readonly scheme: string; readonly detail: string }
  /** `canStepUp`: true when the caller may ask its user for a wider scope; a read-only key cannot. */
  | { readonly kind: 'insufficient_scope'; readonly what: string; readonly canStepUp: boolean }
  | { readonly kind: 'not_confirmed'; readonly detail: string }
  | { readonly kind: 'wrong_login' }
  | { readonly kind: 'account_disabled' }
  | { readonly kind: 'signup_closed'; readonly detail: string }
  | { readonly kind: 'signups_spent'; readonly perDay: number; readonly retryAfterSeconds: number }
  | {
      readonly kind: 'rate_limited';
      readonly limit: number;
      /** Calls left in the window, fewer than requested; default 0. */
      readonly remaining?: number;
      readonly retryAfterSeconds: number;
    }
  | { readonly kind: 'length_required' }
  | { readonly kind: 'body_too_large'; readonly bytesMax: number; readonly forStrangers?: true }
  | { readonly kind: 'body_incomplete' }
  | { readonly kind: 'body_late'; readonly seconds: number }
  | { readonly kind: 'media_type'; readonly expected: string; readonly given: string }
  | { readonly kind: 'invalid_json'; readonly detail: string }
  | {
      readonly kind: 'invalid_fields';
      readonly fields: FieldErrors;
      /** Data that a program needs to act, in addition to the sentences. */
      readonly data?: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: 'oauth'; readonly error: OAuthError; readonly detail: string }
  | { readonly kind: 'unknown_tool'; readonly name: string; readonly guesses: readonly string[] }
  /** `next`: what an agent does next. */
  | { readonly kind: 'not_found'; readonly what: string; readonly next?: string; readonly isInTrash?: true }
  | {
      readonly kind: 'stale_version';
      readonly detail: string;
      readonly expected: number;
      readonly current: number;
      readonly record?: Readonly<Record<string, unknown>> | undefined;
    }
  /** A cursor of events after which some changes are no longer kept. */
  | { readonly kind: 'events_gone'; readonly detail: string }
  /** An idempotency key was used for another request, or its request still runs. `field`: where it was sent. */
  | { readonly kind: 'key_reused'; readonly field: string }
  | { readonly kind: 'key_busy'; readonly retryAfterSeconds: number }
  | { readonly kind: 'blob_unverifiable' }
  /** A credential that only uploads was used for something else. */
  | { readonly kind: 'upload_only' }
  | { readonly kind: 'download_only' }
  | SyncConflict
  | {
      readonly kind: 'quota_exceeded';
      readonly of: QuotaKind;
      readonly quotaBytes: number;
      readonly usedBytes: number;
      readonly neededBytes: number;
    }
  | { readonly kind: 'path_not_found'; readonly path: string; readonly deletedAt: string | null }
  | { readonly kind: 'range_unsatisfiable'; readonly bytesTotal: number }
  | { readonly kind: 'key_limit'; readonly keysMax: number }
  | { readonly kind: 'overloaded'; readonly what: string; readonly retryAfterSeconds: number }
  | { readonly kind: 'handler_late'; readonly seconds: number }
  /** The log has not said whether it has a write. */
  | { readonly kind: 'outcome_unknown' }
  /** Another member serves, or none does. `state` is that of this one, as a sentence. */
  | { readonly kind: 'not_owner'; readonly state: string; readonly retryAfterSeconds: number }
  | { readonly kind: 'starting' }
  | { readonly kind: 'draining' }
  | { readonly kind: 'storage_full' }
  | { readonly kind: 'storage_reserved' }
  | { readonly kind: 'storage_failed' }
  | { readonly kind: 'damaged' }
  | { readonly kind: 'internal' };

/** A push rejected because of a change it was not based on. Null: not present. */
export interface SyncConflict {
  readonly kind: 'sync_conflict';
  readonly path: string;
  /** Reason: the given base, the clocks, the file is deleted, another file already exists, or the push told no version of it. */
  readonly reason: 'base' | 'clock' | 'deleted' | 'exists' | 'unread';
  /** Conflict with the refused bytes; null when they were discarded: too many conflicts are pending, or the file was unread. */
  readonly conflictId: string | null;
  readonly conflictKind: string | null;
  readonly yourHlc: string;
  readonly serverHlc: string | null;
  /** The hub's clock minus the client's. */
  readonly timeDiffSeconds: number | null;
  readonly serverSha256: string | null;
  readonly serverGitSha: string | null;
  /** False for a rename without content: there are no bytes to keep. */
  readonly broughtBytes?: boolean;
}

/**
 * An expected refusal. Thrown anywhere below a door, caught only at the door. It has no stack, and its sentence is made
 * when it is read: a refused call costs no more than an accepted one.
 */
export class Refusal extends Error {
  readonly fault: Fault;

  constructor(fault: Fault) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super();
    Error.stackTraceLimit = stackTraceLimit;
    this.fault = fault;
  }

  override get message(): string {
    return explain(this.fault);
  }
}
Refusal.prototype.name = 'Refusal';

/** Refusal of one field, with one sentence. */
export function invalidField(field: string, sentence: string): Refusal {
  return new Refusal({ kind: 'invalid_fields', fields: { [field]: [sentence] } });
}

/** Throws one Refusal for all invalid fields, if there are any. */
export function refuseFields(fields: FieldErrors): void {
  if (Object.keys(fields).length > 0) throw new Refusal({ kind: 'invalid_fields', fields });
}

/** Returns an actionable sentence. It never contains a secret, a path or an internal name. */
export function explain(fault: Fault): string {
  switch (fault.kind) {
    case 'bad_framing':
      return `bad request framing: ${fault.detail}`;
    case 'blocked_agent':
      return 'Forbidden. Your request has been blocked.';
    case 'method_unknown':
      return `method not allowed; use ${fault.allow.join(', ')}`;
    case 'unauthenticated':
    case 'signup_closed':
    case 'not_confirmed':
    case 'invalid_json':
    case 'oauth':
    case 'stale_version':
    case 'events_gone':
      return fault.detail;
    case 'insufficient_scope':
      return explainScope(fault);
    case 'wrong_login':
    case 'account_disabled':
    case 'signups_spent':
    case 'rate_limited':
    case 'key_limit':
      return explainEntry(fault);
    case 'length_required':
    case 'body_too_large':
    case 'body_incomplete':
    case 'body_late':
    case 'media_type':
    case 'range_unsatisfiable':
      return explainBody(fault);
    case 'invalid_fields':
      return eachOnce(Object.values(fault.fields).flat());
    case 'unknown_tool':
      return `unknown tool ${fault.name}; ${fault.guesses.length === 0 ? 'tools/list lists them all' : `did you mean ${fault.guesses.join(' or ')}?`}`;
    case 'not_found':
      return fault.what;
    case 'sync_conflict':
    case 'quota_exceeded':
    case 'path_not_found':
      return explainSync(fault);
    case 'key_busy':
    case 'overloaded':
    case 'handler_late':
    case 'outcome_unknown':
    case 'not_owner':
    case 'starting':
    case 'draining':
      return explainBusy(fault);
    case 'storage_full':
    case 'storage_reserved':
    case 'storage_failed':
    case 'damaged':
    case 'blob_unverifiable':
    case 'upload_only':
    case 'download_only':
    case 'origin_forbidden':
    case 'route_unknown':
    case 'key_reused':
    case 'internal':
      return FIXED_SENTENCES[fault.kind];
  }
}

/** Many items of a call often have the same fault. */
const eachOnce = (sentences: readonly string[]): string => [...new Set(sentences)].join('; ');

type BusyFault = 'key_busy' | 'overloaded' | 'handler_late' | 'outcome_unknown' | 'not_owner' | 'starting' | 'draining';

/** Messages of what may be tried again. */
function explainBusy(fault: Extract<Fault, { kind: BusyFault }>): string {
  switch (fault.kind) {
    case 'key_busy':
      return `the request with this idempotency key is still running; send it again in ${fault.retryAfterSeconds} s for its answer`;
    case 'overloaded':
      return `too busy: ${fault.what}; try again in ${fault.retryAfterSeconds} s`;
    case 'handler_late':
      return `no answer within ${fault.seconds} seconds; it is safe to send the same request again`;
    case 'outcome_unknown':
      return 'it is not known yet whether this was saved; look first whether it is there, then send it again if it is not';
    case 'not_owner':
      return `${fault.state}; try again in ${fault.retryAfterSeconds} s`;
    case 'starting':
    case 'draining':
      return `the service is ${fault.kind === 'starting' ? 'starting' : 'stopping'}; try again in a moment`;
  }
}

/** Messages of refused access. */
function explainEntry(
  fault: Extract<Fault, { kind: 'wrong_login' | 'account_disabled' | 'signups_spent' | 'rate_limited' | 'key_limit' }>,
): string {
  switch (fault.kind) {
    case 'wrong_login':
      return 'email or password is wrong; sign up with signup_and_get_key if there is no account yet';
    case 'account_disabled':
      return 'this account is disabled; ask the operator of this hub to enable it';
    case 'signups_spent':
      return `this hub accepts ${fault.perDay} new accounts a day and has reached that; try again after midnight UTC, or ask its operator for an invitation`;
    case 'rate_limited':
      return `too many calls; try again in ${fault.retryAfterSeconds} s`;
    case 'key_limit':
      return `this account already has ${fault.keysMax} active keys; revoke one before you create another`;
  }
}

/** Messages of errors of bodies and of ranges of them. */
function explainBody(
  fault: Extract<
    Fault,
    {
      kind:
        | 'length_required'
        | 'body_too_large'
        | 'body_incomplete'
        | 'body_late'
        | 'media_type'
        | 'range_unsatisfiable';
    }
  >,
): string {
  switch (fault.kind) {
    case 'length_required':
      return 'Content-Length is required; send the exact size of the body in bytes';
    case 'body_too_large':
      return `the body is larger than ${fault.bytesMax} bytes, the most accepted here${fault.forStrangers === true ? ' without a valid credential' : ''}`;
    case 'body_incomplete':
      return 'the body ended before its declared length; send it again';
    case 'body_late':
      return `the body did not arrive within ${fault.seconds} seconds; send it again over a faster connection`;
    case 'media_type':
      return explainMediaType(fault);
    case 'range_unsatisfiable':
      return `the requested range is outside the ${fault.bytesTotal} bytes of this blob`;
  }
}

function explainScope({ what, canStepUp }: Extract<Fault, { kind: 'insufficient_scope' }>): string {
  return canStepUp
    ? `${what} changes data, and this token may only read; sign in again and allow changes`
    : `${what} changes data, and this key may only read; use a key with full access`;
}

type FixedFault =
  | 'storage_full'
  | 'storage_reserved'
  | 'storage_failed'
  | 'damaged'
  | 'blob_unverifiable'
  | 'upload_only'
  | 'download_only'
  | 'origin_forbidden'
  | 'route_unknown'
  | 'key_reused'
  | 'internal';

const FIXED_SENTENCES: Readonly<Record<FixedFault, string>> = {
  origin_forbidden: 'this Origin is not allowed; the operator can add it to CAIRN_ALLOWED_ORIGINS',
  route_unknown: 'nothing exists at this path; /help/rest lists the paths of this hub',
  key_reused: 'this idempotency key was used for another request; make a new key for a new request',
  internal: 'internal error; the operator can find it in the log by this X-Request-Id',
  storage_full: "the server's disk is full, so nothing was saved; ask the operator to free space, then send it again",
  storage_reserved:
    "the server's disk is nearly full, so only accounts marked by the operator can write. Nothing was saved. Reading and deleting still work; ask the operator to free space",
  storage_failed: "the server's disk failed, so nothing was saved; the operator must check the log",
  damaged:
    'the stored bytes are damaged; send the same bytes again to replace them, or ask the operator to restore a backup',
  blob_unverifiable:
    'this blob was uploaded under a credential that no longer exists and fails HMAC verification; its bytes are not lost: ' +
    'export the account (on its settings page, or the operator with `cairn export`), then upload the file of this sha256 in blobs/ again',
  upload_only:
    'this token may only upload backups; use the token of the account’s backup credential, or one of its keys',
  download_only:
    'this token may only list and download backups; use the token of the account’s backup credential, or one of its keys',
};

function explainMediaType({ given, expected }: Extract<Fault, { kind: 'media_type' }>): string {
  return given.startsWith('multipart/')
    ? `multipart is not supported, because the signature covers the exact bytes; send the raw body with Content-Type: ${expected}`
    : `unsupported Content-Type; send Content-Type: ${expected}`;
}

function explainSync(fault: Extract<Fault, { kind: 'sync_conflict' | 'quota_exceeded' | 'path_not_found' }>): string {
  switch (fault.kind) {
    case 'sync_conflict':
      return explainConflict(fault);
    case 'quota_exceeded':
      return `over the quota of ${fault.quotaBytes} bytes${QUOTA_NAMES[fault.of]}: ${fault.usedBytes} are used and this needs ${fault.neededBytes} more; ${QUOTA_STEPS[fault.of]}`;
    case 'path_not_found':
      return fault.deletedAt === null
        ? `path not found: ${fault.path}; sync_list lists the files`
        : `path not found: ${fault.path} was deleted at ${fault.deletedAt}; restore it with sync_restore`;
  }
}

/** Why a member could not take over, in words that follow its name. */
const MEMBER_TROUBLES = {
  away: 'it gives no sign of life',
  'no room': 'its disk is nearly full or failed',
} as const;

export type MemberTrouble = keyof typeof MEMBER_TROUBLES;

/** What an operator is told of a member with a trouble: the list of members, the page, refusals and conditions say the same. */
export const saidOfTrouble = (trouble: MemberTrouble): string => `could not take over: ${MEMBER_TROUBLES[trouble]}`;

const QUOTA_NAMES: Readonly<Record<QuotaKind, string>> = {
  blobs: ' for mirror blobs',
  files: '',
  history: ' for earlier versions of files',
  documents: ' for documents and tasks',
};

const QUOTA_STEPS: Readonly<Record<QuotaKind, string>> = {
  blobs: 'remove earlier backups with `cairn backups prune`, or ask the operator of this hub for a larger quota',
  files: 'delete files or resolve conflicts, or ask the operator of this hub for a larger quota',
  history: 'delete earlier versions on the page of a vault, or ask the operator of this hub for a larger quota',
  documents: 'the trash counts too: wait until it is emptied, or ask the operator of this hub for a larger quota',
};

const CONFLICT_REASONS: Readonly<Record<SyncConflict['reason'], string>> = {
  base: 'the file changed since base_sha',
  clock: 'server has newer HLC',
  deleted: 'the file was deleted',
  exists: 'a file already exists there',
  unread: 'a file with other content exists there',
};

function explainConflict(fault: SyncConflict): string {
  const { path, conflictId, serverSha256 } = fault;
  const what = `Conflict: ${CONFLICT_REASONS[fault.reason]} (${path}, now ${serverSha256 ?? 'deleted'})`;
  if (fault.reason === 'unread') {
    return `${what}. Nothing was changed: read it, then push again with base_sha ${serverSha256}`;
  }
  if (fault.broughtBytes === false) {
    return `${what}. Nothing was changed: read the current version (sync_list), then repeat the rename with its base_sha`;
  }
  if (conflictId === null) {
    return `${what}. Your bytes were not kept, because the path has too many pending conflicts: resolve some with sync_resolve_conflict, then push again`;
  }
  return `${what}. Your bytes are kept as conflict ${conflictId}: call sync_merge with it, then sync_push with the base_sha it returns and resolves ${conflictId}; or sync_resolve_conflict`;
}
