/** Formats the errors of the OAuth endpoints: `{error, error_description}` (RFC 6749, 5.2). */
import { explain, type Fault } from '../common/fault.ts';
import { type Reply, withHeaders } from '../http/reply/reply.ts';
import { refusalReply } from '../http/reply/status.ts';

/** For caches without support for Cache-Control (RFC 6749, 5.1). */
export const NO_CACHE = { Pragma: 'no-cache' } as const;

export function oauthRefusalReply(fault: Fault): Reply {
  const plain = refusalReply(fault);
  const error = errorOf(fault, plain.status);
  return {
    ...plain,
    status: statusOf(fault, plain.status),
    headers: withHeaders(plain.headers, NO_CACHE, challengeOf(error)),
    body: JSON.stringify({ error, error_description: describable(explain(fault)) }),
  };
}

function errorOf(fault: Fault, status: number): string {
  if (fault.kind === 'oauth') return fault.error;
  // The account reached its key limit after the approval: the device can only start again.
  if (fault.kind === 'key_limit') return 'access_denied';
  if (status === 429 || status === 503) return 'temporarily_unavailable';
  return status >= 500 ? 'server_error' : 'invalid_request';
}

function statusOf(fault: Fault, status: number): number {
  if (fault.kind === 'oauth' && fault.error === 'invalid_client') return 401;
  return fault.kind === 'key_limit' ? 400 : status;
}

/** A client that authenticated in the header must be answered with the scheme it used: Basic. */
function challengeOf(error: string): Readonly<Record<string, string>> {
  return error === 'invalid_client' ? { 'WWW-Authenticate': 'Basic realm="cairn"' } : {};
}

/** Replaces characters not allowed in a description: only printable ASCII without quote and backslash is. */
function describable(text: string): string {
  return text.replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?');
}
