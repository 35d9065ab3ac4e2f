/** Every wrong value of a setting is refused with one sentence that names the setting. */
import { expect, test } from 'vitest';
import { StartError } from '../src/common/start-error.ts';
import { readConfig } from '../src/config.ts';

function refusal(environment: Record<string, string>): string {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof StartError) return error.message;
    throw error;
  }
  return 'accepted';
}

const seconds = ['', '0', '-1', '1.5', '3601', 'ten', '1e1', ' 5'];

const wrongSettings: readonly (readonly [name: string, values: readonly string[]])[] = [
  ['CAIRN_PORT', ['', 'http', '-1', '65536', '80.5', '0x50', '+80']],
  ['CAIRN_HOST', ['']],
  ['CAIRN_DATA', ['']],
  ['CAIRN_LOG_LEVEL', ['', 'loud', 'INFO']],
  ['CAIRN_ACCESS_LOG', ['']],
  ['CAIRN_SLOW_MS', ['', '-1', '1.5', '86400001', '1s']],
  ['CAIRN_ALLOW_MISSING_AGENT', ['', 'yes', 'TRUE', '1']],
  ['CAIRN_TLS_CERT', ['']],
  ['CAIRN_TLS_KEY', ['']],
  ['CAIRN_INFLIGHT_BYTES', ['', '0', '1', '256MiB', '-5']],
  ['CAIRN_OAUTH_METADATA', ['', 'true', 'ON']],
  [
    'CAIRN_IDP_ISSUER',
    [
      '',
      'idp.example.org',
      'http://idp.example.org',
      'ftp://idp.example.org',
      'https://idp.example.org?x',
      'https://u@x.org',
    ],
  ],
  ['CAIRN_IDP_AUDIENCE', ['', 'two words', 'x'.repeat(256)]],
  ['CAIRN_BODY_SECONDS', seconds],
  ['CAIRN_HANDLER_SECONDS', seconds],
  ['CAIRN_DRAIN_SECONDS', seconds],
  ['CAIRN_POOL_THREADS', ['', '0', '65', 'all', '2.0']],
];

test.each(wrongSettings)('[OPS-1] a wrong %s is refused with a sentence that names it', (name, values) => {
  for (const value of values) {
    const sentence = refusal({ [name]: value });
    expect([value, sentence]).toEqual([value, expect.stringMatching(new RegExp(`^${name} .+\\.$`))]);
    if (value.length > 8) expect(sentence).not.toContain(value);
  }
});

test('[OPS-1] the defaults are accepted, and variables of other programs are ignored', () => {
  expect(readConfig({})).toEqual(readConfig({ HOME: '/home/x', PORT: 'nonsense' }));
  expect(readConfig({ CAIRN_PORT: '1' }).port).toBe(1);
});

test('[OPS-1] a setting of an earlier version is a warning, whatever its value, and no setting', () => {
  const config = readConfig({ CAIRN_FRONTS: 'four', CAIRN_PORT: '1' });
  expect(config.warnings).toEqual([
    expect.stringMatching(/^CAIRN_FRONTS no longer has an effect: .+; delete it .+\.$/),
  ]);
  expect(config.given).toEqual({ CAIRN_PORT: '1' });
  expect(readConfig({}).warnings).toEqual([]);
});

test.each([
  ['on a hub that only its own machine reaches', {}, 6],
  ['on one with a public address', { CAIRN_PUBLIC_URL: 'https://hub.example.org' }, 8],
  ['on one that listens everywhere', { CAIRN_HOST: '0.0.0.0' }, 8],
  ['behind a proxy', { CAIRN_TRUSTED_PROXIES: '127.0.0.1' }, 8],
  ['as set', { CAIRN_PASSWORD_MIN: '12' }, 12],
])('[KEY-7] the least bytes of a new password %s: %j, %i', (_, given, bytes) => {
  expect(readConfig(given).passwordBytesMin).toBe(bytes);
});
