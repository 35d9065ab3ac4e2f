/** Decides which redirect URIs a client may register, and whether a requested one matches a registered one. Pure. */
import { limits } from '../../limits/service.ts';
import { oauthRefusal } from '../rules.ts';

/**
 * Schemes of apps without a domain in them: RFC 8252, section 7.1, wants one, so that no two apps share a scheme by
 * chance, but these known MCP clients register theirs so. Any other scheme without a dot is refused: among them are those
 * that a browser or an operating system runs (`javascript:`, `file:`, `ms-msdt:`, `search-ms:`, `intent:`, `tel:`).
 */
const APP_SCHEMES = new Set(
  [
    ['claude', 'codex', 'chatgpt', 'goose', 'raycast', 'warp', 'cherrystudio', 'jetbrains', 'zed'],
    ['vscode', 'vscode-insiders', 'vscodium', 'code-oss'],
    // Editors built on Visual Studio Code.
    ['cursor', 'cursor-nightly', 'windsurf', 'windsurf-next', 'kiro', 'trae', 'void', 'positron', 'antigravity'],
  ]
    .flat()
    .map((scheme) => `${scheme}:`),
);
const LOOPBACK_HOSTS = new Set(['127.0.0.1', '[::1]', 'localhost']);

/**
 * Checks a redirect URI: https, http on loopback (RFC 8252, section 7.3), or a private-use scheme (section 7.1) with a
 * dot or of a known client; no fragment, no user information. Throws Refusal `invalid_redirect_uri`.
 */
export function checkRedirectUri(text: string): string {
  const refuse = (detail: string) => oauthRefusal('invalid_redirect_uri', detail);
  if (text.length > limits.redirectUriCharsMax || /[\s\p{C}\\]/u.test(text) || !URL.canParse(text)) {
    throw refuse(`each redirect URI must be an absolute URI of at most ${limits.redirectUriCharsMax} characters`);
  }
  const url = new URL(text);
  if (text.includes('#')) throw refuse('a redirect URI must not have a fragment');
  if (url.username !== '' || url.password !== '') throw refuse('a redirect URI must not have a user name or password');
  const isWeb = url.protocol === 'https:' || url.protocol === 'http:';
  if (!isWeb && !url.protocol.includes('.') && !APP_SCHEMES.has(url.protocol)) {
    throw refuse(
      `a redirect URI must not use the scheme ${url.protocol} use https, http on 127.0.0.1, or a reversed domain name of the app, such as com.example.app:`,
    );
  }
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
