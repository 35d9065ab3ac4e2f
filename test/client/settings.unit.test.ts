/** The variables of the client, as a shell or a CI job sets them. */
import { expect, test } from 'vitest';
import { clientSettingNames, readClientSettings } from '../../src/client/settings.ts';

const KEY = '0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0';
const HOME = { XDG_CONFIG_HOME: '/home/you/.config', XDG_CACHE_HOME: '/home/you/.cache' };

test('[CLI-1] a variable without a value counts as not set: a CI job has it where a secret is missing', () => {
  const empty = Object.fromEntries(clientSettingNames.map((name) => [name, '']));
  expect(readClientSettings({ ...HOME, ...empty })).toEqual(readClientSettings(HOME));
});

test.each([
  ['CAIRN_SERVER', 'example.org', /CAIRN_SERVER must be the http or https address/],
  ['CAIRN_KEY', KEY.toUpperCase(), /CAIRN_KEY must be an MCP key/],
  ['CAIRN_KEY', ' ', /CAIRN_KEY must be an MCP key/],
  ['CAIRN_MIRROR_TOKEN', KEY.slice(1), /CAIRN_MIRROR_TOKEN must be the 64 hex characters/],
  ['CAIRN_MIRROR_SECRET', 'x', /CAIRN_MIRROR_SECRET must be the 64 hex characters/],
])('[CLI-1] %s=%j is refused by its name', (name, value, sentence) => {
  expect(() => readClientSettings({ ...HOME, [name]: value })).toThrow(sentence);
});
