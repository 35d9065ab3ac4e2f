/** Maps each refusal to its JSON-RPC error code. Total over the union: a new fault does not compile without a row. */
import { explain, type Fault, type SyncConflict } from '../common/fault.ts';
import { limits } from '../limits/service.ts';
import type { RpcError } from './envelope.ts';

const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL = -32603;
/** MCP before 2026-07-28: no resource has this URI. */
export const RESOURCE_NOT_FOUND = -32002;
const NOT_AUTHENTICATED = -32001;
const FORBIDDEN = -32003;
const QUOTA = -32004;
const NOT_FOUND = -32005;
const CONFLICT = -32006;
const BUSY = -32007;
/** The hub's disk took nothing: the write was discarded. */
const STORAGE = -32008;
const RATE_LIMITED = -32029;
/** MCP 2026-07-28: a header differs from the body; an unsupported protocol version. */
export const HEADER_MISMATCH = -32020;
export const UNSUPPORTED_VERSION = -32022;

const codes = {
  bad_framing: INVALID_REQUEST,
  blocked_agent: FORBIDDEN,
  origin_forbidden: FORBIDDEN,
  route_unknown: METHOD_NOT_FOUND,
  method_unknown: METHOD_NOT_FOUND,
  unauthenticated: NOT_AUTHENTICATED,
  insufficient_scope: FORBIDDEN,
  not_confirmed: FORBIDDEN,
  wrong_login: NOT_AUTHENTICATED,
  account_disabled: FORBIDDEN,
  signup_closed: FORBIDDEN,
  signups_spent: RATE_LIMITED,
  rate_limited: RATE_LIMITED,
  length_required: INVALID_REQUEST,
  body_too_large: INVALID_REQUEST,
  body_incomplete: INVALID_REQUEST,
  body_late: INVALID_REQUEST,
  media_type: INVALID_REQUEST,
  invalid_json: PARSE_ERROR,
  invalid_fields: INVALID_PARAMS,
  oauth: INVALID_PARAMS,
  unknown_tool: INVALID_PARAMS,
  not_found: NOT_FOUND,
  stale_version: CONFLICT,
  events_gone: NOT_FOUND,
  key_reused: INVALID_PARAMS,
  key_busy: BUSY,
  blob_unverifiable: CONFLICT,
  upload_only: FORBIDDEN,
  download_only: FORBIDDEN,
  sync_conflict: CONFLICT,
  quota_exceeded: QUOTA,
  path_not_found: NOT_FOUND,
  range_unsatisfiable: INVALID_PARAMS,
  key_limit: QUOTA,
  overloaded: BUSY,
  handler_late: BUSY,
  outcome_unknown: BUSY,
  not_owner: BUSY,
  starting: BUSY,
  draining: BUSY,
  storage_full: STORAGE,
  storage_reserved: STORAGE,
  storage_failed: STORAGE,
  damaged: INTERNAL,
  internal: INTERNAL,
} as const satisfies Record<Fault['kind'], number>;

const OWN_CODES: ReadonlySet<number> = new Set([
  NOT_AUTHENTICATED,
  FORBIDDEN,
  QUOTA,
  NOT_FOUND,
  CONFLICT,
  BUSY,
  STORAGE,
  RATE_LIMITED,
]);

/** MCP 2026-07-28 reserves -32768 to -32000, so our own codes are 1000 higher there: -32001 becomes -31001. */
export function modernError(error: RpcError): RpcError {
  return OWN_CODES.has(error.code) ? { ...error, code: error.code + 1000 } : error;
}

/** The JSON-RPC code of a refusal. */
export function rpcCode({ kind }: Fault): number {
  return codes[kind];
}

/** The error object of a refusal. The message also contains what an agent needs, because some clients hide `data`. */
export function rpcError(fault: Fault): RpcError {
  const base = { code: codes[fault.kind], message: messageOf(fault) };
  const data = rpcData(fault);
  return data === undefined ? base : { ...base, data };
}

function messageOf(fault: Fault): string {
  const message = explain(fault);
  return fault.kind === 'not_found' && fault.next !== undefined ? `${message}; ${fault.next}` : message;
}

function rpcData(fault: Fault): Readonly<Record<string, unknown>> | undefined {
  switch (fault.kind) {
    case 'invalid_fields': {
      const [field] = Object.keys(fault.fields);
      return { field, errors: fault.fields, ...fault.data };
    }
    case 'sync_conflict':
      return conflictData(fault);
    case 'quota_exceeded':
      return { quota_bytes: fault.quotaBytes, used_bytes: fault.usedBytes, needed_bytes: fault.neededBytes };
    case 'path_not_found':
      return { path: fault.path, ...(fault.deletedAt === null ? {} : { deleted_at: fault.deletedAt }) };
    case 'key_busy':
    case 'rate_limited':
    case 'overloaded':
    case 'signups_spent':
      return { retry_after_seconds: fault.retryAfterSeconds };
    case 'stale_version':
      return { expected_version: fault.expected, current_version: fault.current, ...fault.record };
    case 'storage_full':
    case 'storage_reserved':
    case 'storage_failed':
      // The same call may be sent again: nothing of it was saved.
      return { reason: fault.kind, retryable: true, retry_after_seconds: limits.storageRetrySeconds };
    case 'unknown_tool':
      return { field: 'name' };
    case 'key_reused':
      return { field: fault.field };
    default:
      return undefined;
  }
}

function conflictData(fault: SyncConflict): Readonly<Record<string, unknown>> {
  return {
    path: fault.path,
    your_hlc: fault.yourHlc,
    server_hlc: fault.serverHlc,
    time_diff_seconds: fault.timeDiffSeconds,
    conflict_id: fault.conflictId,
    kind: fault.conflictKind,
    server_sha256: fault.serverSha256,
    server_git_sha: fault.serverGitSha,
    ...(fault.reason === 'unread' ? { base_sha: fault.serverSha256 } : {}),
    next: nextOf(fault),
  };
}

function nextOf({ reason, broughtBytes, conflictId }: SyncConflict): string {
  if (reason === 'unread') return 'sync_pull';
  if (broughtBytes === false) return 'sync_list';
  return conflictId === null ? 'sync_resolve_conflict' : 'sync_merge';
}
