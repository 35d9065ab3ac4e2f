/** Owns the bytes and headers of a page: rendered on this side, with no script or style but our own files. */
import { renderToString } from 'preact-render-to-string';
import type { Reply, ReplyHeaders } from '../http/reply/reply.ts';
import { Document, type Frame } from './layout.tsx';

/** Nothing from another host, nothing inline, no frame around it, no form that leads elsewhere. */
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

/** For a page whose own form is answered by a redirect to another origin. */
export const POLICY_WITHOUT_FORMS = POLICY_PARTS.filter((part) => !part.startsWith('form-action')).join('; ');

const PAGE_HEADERS: ReplyHeaders = {
  'Content-Type': 'text/html; charset=utf-8',
  // A page holds one account's data: nothing on the way, and no back button of the next person, may keep it.
  'Cache-Control': 'no-store',
  'Content-Security-Policy': POLICY,
  'X-Frame-Options': 'DENY',
  // Not `no-referrer`: with that, browsers send `Origin: null` with our own forms.
  'Referrer-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=()',
};

export function pageReply(status: number, frame: Frame, headers: ReplyHeaders = {}): Reply {
  const body = `<!doctype html>${renderToString(<Document {...frame} />)}`;
  return { status, headers: { ...PAGE_HEADERS, ...headers }, body };
}

/** 303: whatever was sent, the next request is a GET (RFC 9110, 15.4.4). */
export function seeOther(path: string, headers: ReplyHeaders = {}): Reply {
  return {
    status: 303,
    headers: { Location: path, 'Cache-Control': 'no-store', 'Referrer-Policy': 'same-origin', ...headers },
    body: undefined,
  };
}
