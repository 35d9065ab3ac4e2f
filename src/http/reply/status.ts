/**
 * Maps each refusal to its HTTP status; the only such map. Total over the union: a new fault does not compile without a
 * row.
 */
import { explain, type Fault } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import { jsonText, type Reply, type ReplyHeaders } from './reply.ts';

const statuses = {
  bad_framing: 400,
  blocked_agent: 403,
  origin_forbidden: 403,
  route_unknown: 404,
  method_unknown: 405,
  unauthenticated: 401,
  insufficient_scope: 403,
  not_confirmed: 403,
  wrong_login: 401,
  account_disabled: 403,
  signup_closed: 403,
  signups_spent: 429,
  rate_limited: 429,
  length_required: 411,
  body_too_large: 413,
  body_incomplete: 400,
  body_late: 408,
  media_type: 415,
  invalid_json: 400,
  invalid_fields: 422,
  oauth: 400,
  unknown_tool: 404,
  not_found: 404,
  stale_version: 409,
  events_gone: 410,
  key_reused: 422,
  key_busy: 409,
  blob_unverifiable: 422,
  upload_only: 403,
  download_only: 403,
  sync_conflict: 409,
  quota_exceeded: 507,
  path_not_found: 404,
  range_unsatisfiable: 416,
  key_limit: 409,
  overloaded: 503,
  handler_late: 503,
  outcome_unknown: 503,
  not_owner: 503,
  starting: 503,
  draining: 503,
  storage_full: 507,
  storage_reserved: 507,
  storage_failed: 500,
  damaged: 500,
  internal: 500,
} as const satisfies Record<Fault['kind'], number>;

/** RFC 6750, section 3.1: names the scope that would suffice. */
export const INSUFFICIENT_SCOPE = 'Bearer realm="cairn", error="insufficient_scope", scope="read write"';

/** Refusals after which the connection is closed. After broken framing nothing more may be read from it. */
const closing: { readonly [kind in Fault['kind']]?: 'now' | 'after' } = {
  bad_framing: 'now',
  body_late: 'after',
  handler_late: 'after',
  outcome_unknown: 'after',
  not_owner: 'after',
  draining: 'after',
};

/** The HTTP status of a refusal. */
export function statusOf({ kind }: Fault): number {
  return statuses[kind];
}

export function refusalReply(fault: Fault): Reply {
  const body =
    fault.kind === 'invalid_fields' ? { error: explain(fault), errors: fault.fields } : { error: explain(fault) };
  return refusalAs(fault, JSON.stringify(body));
}

/** A refusal whose JSON is worded by another door. */
export function refusalAs(fault: Fault, text: string, status: number = statuses[fault.kind]): Reply {
  const reply = jsonText(status, text, refusalHeaders(fault));
  const close = closing[fault.kind];
  return close === undefined ? reply : { ...reply, close };
}

function refusalHeaders(fault: Fault): ReplyHeaders {
  switch (fault.kind) {
    case 'method_unknown':
      return { Allow: fault.allow.join(', ') };
    case 'unauthenticated':
      return { 'WWW-Authenticate': `${fault.scheme} realm="cairn"` };
    case 'insufficient_scope':
      return fault.canStepUp ? { 'WWW-Authenticate': INSUFFICIENT_SCOPE } : {};
    case 'wrong_login':
      return { 'WWW-Authenticate': 'McpKey realm="cairn"' };
    case 'range_unsatisfiable':
      return { 'Content-Range': `bytes */${fault.bytesTotal}` };
    case 'key_busy':
    case 'overloaded':
    case 'not_owner':
    case 'signups_spent':
      return { 'Retry-After': String(fault.retryAfterSeconds) };
    case 'rate_limited':
      return {
        'Retry-After': String(fault.retryAfterSeconds),
        'X-RateLimit-Limit': String(fault.limit),
        'X-RateLimit-Remaining': String(fault.remaining ?? 0),
        'X-RateLimit-Reset': String(fault.retryAfterSeconds),
      };
    case 'handler_late':
    case 'outcome_unknown':
    case 'starting':
    case 'draining':
      return { 'Retry-After': String(limits.retryAfterSeconds) };
    default:
      return {};
  }
}
