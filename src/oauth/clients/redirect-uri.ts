/** Decides which redirect URIs a client may register, and whether a requested one matches a registered one. Pure. */
import { limits } from '../../limits/service.ts';
import { oauthRefusal } from '../rules.ts';

/** Schemes run, read locally or handled internally by a browser (RFC 8252, section 8.4; RFC 9700, section 4.1). */
const FORBIDDEN_SCHEMES = new Set([
  'about:',
  'blob:',
  'chrome:',
  'data:',
  'file:',
  'filesystem:',
  'ftp:',
  'javascript:',
  'mailto:',
  'resource:',
  'vbscript:',
  'view-source:',
  'ws:',
  'wss:',
]);
const LOOPBACK_HOSTS = new Set(['127.0.0.1', '[::1]', 'localhost']);

/**
 * Checks a redirect URI: https, http on loopback (RFC 8252, section 7.3), or a private-use scheme (section 7.1); no
 * fragment, no user information. Throws Refusal `invalid_redirect_uri`.
 */
export function checkRedirectUri(text: string): string {
  const refuse = (detail: string) => oauthRefusal('invalid_redirect_uri', detail);
  if (text.length > limits.redirectUriCharsMax || /[\s\p{C}\\]/u.test(text) || !URL.canParse(text)) {
    throw refuse(`each redirect URI must be an absolute URI of at most ${limits.redirectUriCharsMax} characters`);
  }
  const url = new URL(text);
  if (text.includes('#')) throw refuse('a redirect URI must not have a fragment');
  if (url.username !== '' || url.password !== '') throw refuse('a redirect URI must not have a user name or password');
  if (FORBIDDEN_SCHEMES.has(url.protocol)) throw refuse(`a redirect URI must not use the scheme ${url.protocol}`);
  if (url.protocol === 'http:' && !LOOPBACK_HOSTS.has(url.hostname)) {
    throw refuse('an http redirect URI must be on 127.0.0.1, [::1] or localhost; use https otherwise');
  }
  return text;
}

/** True for identical text, or the same loopback URI on another port (RFC 8252, section 7.3). */
export function isSameRedirect(registered: string, asked: string): boolean {
  if (registered === asked) return true;
  if (!isLoopback(registered) || !isLoopback(asked)) return false;
  return withoutPort(registered) === withoutPort(asked);
}

function isLoopback(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'http:' && LOOPBACK_HOSTS.has(hostname);
}

/** Returns the URI text without its port. A URL parser would also normalize differences relevant to an exact match. */
function withoutPort(text: string): string {
  return text.replace(/^(http:\/\/(?:\[[^\]]*\]|[^/:?#]*)):\d*/, '$1');
}
