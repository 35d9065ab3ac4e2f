/** Names, reads and writes the cookies of the pages (RFC 6265). Pure. */

import { limits } from '../limits/service.ts';

const SESSION = 'cairn_session';
const MARK = 'cairn_browser';
const ZONE = 'cairn_zone';

/** With TLS, the prefix makes browsers reject the cookie from a sibling host or over plain HTTP (RFC 6265bis). */
export function sessionCookieName(secure: boolean): string {
  return secure ? `__Host-${SESSION}` : SESSION;
}

export function markCookieName(secure: boolean): string {
  return secure ? `__Host-${MARK}` : MARK;
}

export function markCookie(mark: string, secure: boolean): string {
  return setCookie(markCookieName(secure), mark, { secure, seconds: limits.browserMarkSeconds });
}

/** The value of the first cookie with a name in a Cookie header. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  for (const part of header?.split(';') ?? []) {
    const equals = part.indexOf('=');
    if (equals > 0 && part.slice(0, equals).trim() === name) return part.slice(equals + 1).trim();
  }
  return undefined;
}

/**
 * The time zone in a Cookie header, which is trusted for nothing else. The script of the page sets it, with the prefix if the browser
 * uses TLS.
 */
export function readZone(header: string | undefined): string | undefined {
  return readCookie(header, `__Host-${ZONE}`) ?? readCookie(header, ZONE);
}

/** The Set-Cookie value for the id of a browser. `lasting`: signed in, so the cookie lasts as long as a session can. */
export function sessionCookie(id: string, { secure, lasting }: { secure: boolean; lasting: boolean }): string {
  return setCookie(sessionCookieName(secure), id, {
    secure,
    seconds: lasting ? limits.browserSessionSeconds : undefined,
  });
}

/** `seconds`: how long it lasts; undefined: until the browser closes. */
function setCookie(name: string, value: string, { secure, seconds }: { secure: boolean; seconds: number | undefined }) {
  const parts = [`${name}=${value}`, 'Path=/', 'HttpOnly', 'SameSite=Lax'];
  if (secure) parts.push('Secure');
  if (seconds !== undefined) parts.push(`Max-Age=${seconds}`);
  return parts.join('; ');
}
