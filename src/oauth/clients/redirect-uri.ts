/** Owns which redirect URIs a client may register, and when a requested one equals a registered one. Pure. */
import { limits } from '../../limits/service.ts';
import { oauthRefusal } from '../rules.ts';

/** Schemes that a browser runs, reads locally or treats as its own (RFC 8252, section 8.4; RFC 9700, section 4.1). */
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
 * Checks a redirect URI: https, http on loopback (RFC 8252, section 7.3), or an app's own scheme (section 7.1); no
 * fragment, no user information. Refuses with `invalid_redirect_uri`.
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

/** True for the same text, or for the same loopback URI on another port (RFC 8252, section 7.3). */
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

/** The URI as it was written, less its port: a parser would also fold what an exact match must not. */
function withoutPort(text: string): string {
  return text.replace(/^(http:\/\/(?:\[[^\]]*\]|[^/:?#]*)):\d*/, '$1');
}
