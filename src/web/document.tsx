/** Builds the bytes and headers of a page: rendered on the server, loading only our own script and style. */
import { renderToString } from 'preact-render-to-string';
import { type Reply, type ReplyHeaders, withHeaders } from '../http/reply/reply.ts';
import { Document, type Frame } from './layout.tsx';

/** Blocks resources from other hosts, inline code, framing, and forms that submit elsewhere. */
const POLICY_PARTS = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
];
const POLICY = POLICY_PARTS.join('; ');

/** For a page whose form is answered by a redirect to another origin. */
export const POLICY_WITHOUT_FORMS = POLICY_PARTS.filter((part) => !part.startsWith('form-action')).join('; ');

const PAGE_HEADERS: ReplyHeaders = {
  'Content-Type': 'text/html; charset=utf-8',
  // A page contains one account's data: no cache and no back button may reveal it to the next person.
  'Cache-Control': 'no-store',
  'Content-Security-Policy': POLICY,
  'X-Frame-Options': 'DENY',
  // With `no-referrer`, browsers would send `Origin: null` with our own forms.
  'Referrer-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=()',
};

export function pageReply(status: number, frame: Frame, headers: ReplyHeaders = {}): Reply {
  const body = `<!doctype html>${renderToString(<Document frame={frame} status={status} />)}`;
  return { status, headers: withHeaders(PAGE_HEADERS, headers), body };
}

/** Redirects with 303: the next request is a GET, whatever this one was (RFC 9110, 15.4.4). */
export function seeOther(path: string, headers: ReplyHeaders = {}): Reply {
  return {
    status: 303,
    headers: { Location: path, 'Cache-Control': 'no-store', 'Referrer-Policy': 'same-origin', ...headers },
    body: undefined,
  };
}
