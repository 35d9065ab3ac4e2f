/** Which proxy leads to a hub, by the variables of the environment. */
import { expect, test } from 'vitest';
import { proxyFor } from '../../src/client/proxy.ts';

const isThrough = (server: string, NO_PROXY: string) =>
  proxyFor(server, { HTTPS_PROXY: 'http://proxy.example.org:3128', NO_PROXY }) !== undefined;

test.each([
  ['https://10.20.30.40', '10.0.0.0/8', false],
  ['https://10.20.30.40', '10.20.99.99/16', false],
  ['https://11.20.30.40', '10.0.0.0/8', true],
  ['https://10.20.30.40', '10.20.30.40', false],
  ['https://10.20.30.40:8443', '10.20.30.40:8443', false],
  ['https://10.20.30.40:8443', '10.20.30.40:443', true],
  ['https://110.20.30.40', '10.20.30.40', true],
  ['https://[fd00::1]', 'fd00::1', false],
  ['https://[fd00::1]', 'FD00:0:0::0001', false],
  ['https://[fd00::1]', '[fd00::1]', false],
  ['https://[fd00::1]:8443', '[fd00::1]:8443', false],
  ['https://[fd00::1]', '[fd00::1]:8443', true],
  ['https://[fd00::1]', 'fd00::/8', false],
  ['https://[fe00::1]', 'fd00::/8', true],
  ['https://hub.example.org', '10.0.0.0/8', true],
  ['https://hub.example.org', '10.0.0.0/99, 10.0.0.0/x, 0.0.0.0/0, /8, :, [, []:1, ., *.', true],
  ['https://hub.example.org', 'EXAMPLE.org', false],
  ['https://hub.example.org', '.example.org', false],
  ['https://hub.example.org', '*.example.org:443', false],
  ['https://hub.example.org', 'ample.org', true],
  ['https://hub.example.org.', 'example.org', false],
  ['https://hub.example.org', 'other.example.org\thub.example.org.', false],
  ['https://hub.example.org', 'example.org,*', false],
])('[CLI-9] to %s with NO_PROXY %j: through the proxy %j', (server, exempt, expected) => {
  expect(isThrough(server, exempt)).toBe(expected);
});
