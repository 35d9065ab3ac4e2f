/** Owns the cookies of the pages: their names, how they are read, how they are set (RFC 6265). Pure. */

import { limits } from '../limits/service.ts';

const SESSION = 'cairn_session';
const MARK = 'cairn_browser';
/** Set by the page's own script; it names a time zone and is trusted with nothing else. */
export const ZONE_COOKIE = 'cairn_zone';

/** Under TLS the name's prefix makes browsers refuse the cookie from a neighbouring host or in clear (RFC 6265bis). */
export function sessionCookieName(secure: boolean): string {
  return secure ? `__Host-${SESSION}` : SESSION;
}

/** What a browser keeps that has signed in before. */
export function markCookieName(secure: boolean): string {
  return secure ? `__Host-${MARK}` : MARK;
}

/** The Set-Cookie value of a browser's mark. */
export function markCookie(mark: string, secure: boolean): string {
  const parts = [`${markCookieName(secure)}=${mark}`, 'Path=/', 'HttpOnly', 'SameSite=Lax'];
  if (secure) parts.push('Secure');
  return [...parts, `Max-Age=${limits.browserMarkSeconds}`].join('; ');
}

/** The first cookie of a name in a Cookie header. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  for (const part of header?.split(';') ?? []) {
    const equals = part.indexOf('=');
    if (equals > 0 && part.slice(0, equals).trim() === name) return part.slice(equals + 1).trim();
  }
  return undefined;
}

/** The Set-Cookie value of a browser's id; that of a signed-in one lasts as long as its session may. */
export function sessionCookie(id: string, { secure, lasting }: { secure: boolean; lasting: boolean }): string {
  const parts = [`${sessionCookieName(secure)}=${id}`, 'Path=/', 'HttpOnly', 'SameSite=Lax'];
  if (secure) parts.push('Secure');
  if (lasting) parts.push(`Max-Age=${limits.browserSessionSeconds}`);
  return parts.join('; ');
}
