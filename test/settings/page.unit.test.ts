/** The page of settings is what the code says. */
import { expect, test } from 'vitest';
import { clientSettingNames } from '../../src/client/settings.ts';
import { settingLine, settingNames, settingsTables } from '../../src/settings/page.ts';
import { textOf } from '../support/examples.ts';

test('[MAN-3] the manual lists every setting with its default, as the code has it', () => {
  expect(settingNames.length).toBeGreaterThan(30);
  expect(settingNames.filter((name) => settingLine(name) === undefined)).toEqual([]);
  const text = textOf('src/manual/settings.md');
  // After a change: npm run manual.
  expect(text).toContain(settingsTables());
  expect(clientSettingNames.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
});

test('[MAN-3] defaults are those of the checks', () => {
  expect(settingLine('CAIRN_PORT')).toContain('(default: 8787)');
  expect(settingLine('CAIRN_TLS_CERT')).toContain('(default: none)');
  expect(settingLine('CAIRN_NONE')).toBeUndefined();
});
