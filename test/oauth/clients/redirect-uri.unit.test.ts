/** Which redirect URIs a client may register, when two are one, and which addresses are public. */
import { expect, test } from 'vitest';
import { isPublicAddress } from '../../../src/common/public-address.ts';
import { limits } from '../../../src/limits/service.ts';
import { checkRedirectUri, isSameRedirect } from '../../../src/oauth/clients/redirect-uri.ts';

test.each([
  'https://app.example/callback',
  'https://app.example:8443/callback?from=cairn',
  'http://127.0.0.1/callback',
  'http://127.0.0.1:33418/',
  'http://[::1]:1/callback',
  'http://localhost:8080/callback',
  'cursor://anysphere.cursor-retrieval/oauth/callback',
  'com.example.app:/callback',
  'vscode://ms-vscode.mcp/callback',
  'vscode-insiders://ms-vscode.mcp/callback',
  'windsurf://oauth/callback',
  'CLAUDE://oauth/callback',
  `https://app.example/${'x'.repeat(limits.redirectUriCharsMax - 20)}`,
])('[OAUTH-4] %s may be registered', (uri) => {
  expect(checkRedirectUri(uri)).toBe(uri);
});

test.each([
  '',
  'callback',
  '/callback',
  'http://app.example/callback',
  'http://127.0.0.1.attacker.example/callback',
  'https://app.example/callback#fragment',
  'https://user:secret@app.example/callback',
  'https://user@app.example/callback',
  'https://:secret@app.example/callback',
  'https://app.example/call back',
  'https:\\\\app.example/callback',
  'javascript:alert(1)',
  'JavaScript:alert(1)',
  'data:text/html,x',
  'file:///etc/passwd',
  'blob:https://app.example/1',
  'vbscript:x',
  'ws://127.0.0.1/x',
  'ms-msdt:/id',
  'search-ms:query=x',
  'ms-word:ofe|u|https://a.example/x',
  'jar:https://a.example!/x',
  'tel:112',
  'sms:112',
  'mailto:a@b.example',
  'intent:x',
  'chrome-extension://abcdefgh/x',
  'steam://run/1',
  'cursorx://oauth/callback',
  'x:y',
  `https://app.example/${'x'.repeat(limits.redirectUriCharsMax - 19)}`,
])('[OAUTH-4] %s may not', (uri) => {
  expect(() => checkRedirectUri(uri)).toThrow();
});

test.each([
  ['https://a.example/cb', 'https://a.example/cb', true],
  ['https://a.example/cb', 'https://a.example/cb/', false],
  ['https://a.example/cb', 'https://A.example/cb', false],
  ['https://a.example/cb', 'https://a.example:443/cb', false],
  ['https://a.example/cb', 'https://a.example/x/../cb', false],
  ['http://127.0.0.1/cb', 'http://127.0.0.1:5/cb', true],
  ['http://127.0.0.1:1/cb', 'http://127.0.0.1:2/cb', true],
  ['http://[::1]:1/cb', 'http://[::1]:2/cb', true],
  ['http://localhost:1/cb', 'http://localhost:2/cb', true],
  ['http://127.0.0.1:1/cb', 'http://localhost:1/cb', false],
  ['http://127.0.0.1:1/cb', 'http://127.0.0.1:2/cb?x=1', false],
  ['http://127.0.0.1:1/cb', 'http://127.0.0.1:2@a.example/cb', false],
  ['app:/cb', 'app:/cb?x', false],
])('[OAUTH-4] registered %s, asked %s: %s', (registered, asked, same) => {
  expect(isSameRedirect(registered, asked)).toBe(same);
});

test.each([
  ['1.1.1.1', true],
  ['93.184.216.34', true],
  ['2606:4700::1111', true],
  ['0.0.0.0', false],
  ['10.1.2.3', false],
  ['100.64.0.1', false],
  ['127.0.0.1', false],
  ['169.254.169.254', false],
  ['172.31.255.255', false],
  ['192.168.1.1', false],
  ['198.18.0.1', false],
  ['224.0.0.1', false],
  ['255.255.255.255', false],
  ['::', false],
  ['::1', false],
  ['::ffff:127.0.0.1', false],
  ['::ffff:1.1.1.1', false],
  ['64:ff9b::a00:1', false],
  ['2001:db8::1', false],
  ['2002:7f00:1::', false],
  ['fc00::1', false],
  ['fe80::1', false],
  ['ff02::1', false],
])('[OAUTH-4] %s is public: %s', (address, isPublic) => {
  expect(isPublicAddress(address)).toBe(isPublic);
});
