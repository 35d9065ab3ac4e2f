/** Decides which pages of other origins may call from a browser: only those in the settings. Pure. */
import { isIP } from 'node:net';
import { NO_HEADERS, type ReplyHeaders } from '../reply/reply.ts';

export interface OriginRule {
  /** Allowed origins, as browsers send them: scheme, host, port. */
  readonly allowed: readonly string[];
  /** True for the service's own origin, given the Host header. */
  readonly isOwn: (origin: string, host: string) => boolean;
}

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const REQUEST_HEADERS =
  'Authorization, Content-Type, Mcp-Method, Mcp-Name, MCP-Protocol-Version, Mcp-Session-Id, X-Request-Id, If-None-Match, Range';
const EXPOSED_HEADERS =
  'ETag, Link, Mcp-Session-Id, Retry-After, X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset';
const PREFLIGHT_SECONDS = 600;

/** True when a request has no origin, the service's own origin, or an allowed one. */
export function isOriginAllowed(rule: OriginRule, origin: string | undefined, host: string | undefined): boolean {
  return origin === undefined || rule.allowed.includes(origin) || rule.isOwn(origin, host ?? '');
}

/**
 * Creates the test for the service's own origin. With a public address, only that origin matches. Without one, the
 * addressed host matches if its name is the service's: the bound host, localhost, or an IP address. The owner of any
 * other name can make it resolve to this machine (DNS rebinding), so its Host header proves nothing.
 */
export function ownOrigin(publicUrl: string | undefined, boundHost: string): OriginRule['isOwn'] {
  if (publicUrl !== undefined) {
    const named = new URL(publicUrl).origin;
    return (origin) => origin === named;
  }
  return (origin, host) => (origin === `http://${host}` || origin === `https://${host}`) && isOwnHost(host, boundHost);
}

/** True when nobody else can make the name in the Host header resolve to this machine. */
export function isOwnHost(host: string, boundHost: string): boolean {
  const name = host.toLowerCase().replace(/:\d*$/, '');
  return name === 'localhost' || name === boundHost.toLowerCase() || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
}

/** Headers that let a browser of an allowed origin read the answer; none for other origins. */
export function corsHeaders(rule: OriginRule, origin: string | undefined): ReplyHeaders {
  if (origin === undefined || !rule.allowed.includes(origin)) return NO_HEADERS;
  return { 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': EXPOSED_HEADERS, Vary: 'Origin' };
}

/** The answer to a preflight of an allowed origin (Fetch standard, CORS protocol). */
export function preflightHeaders(rule: OriginRule, origin: string | undefined): ReplyHeaders {
  const cors = corsHeaders(rule, origin);
  if (cors === NO_HEADERS) return NO_HEADERS;
  return {
    ...cors,
    'Access-Control-Allow-Methods': METHODS,
    'Access-Control-Allow-Headers': REQUEST_HEADERS,
    'Access-Control-Max-Age': String(PREFLIGHT_SECONDS),
  };
}
