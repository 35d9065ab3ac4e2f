/** The recipe of the container and the compose file beside it say the same, in names that exist. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { settingNames } from '../../src/settings/page.ts';
import { stepsOf } from '../support/container-steps.ts';

const textOf = (name: string) =>
  readFileSync(fileURLToPath(new URL(`../../src/manual/deploy/container/${name}`, import.meta.url)), 'utf8');
const recipe = stepsOf(textOf('Containerfile'));
const compose = textOf('compose.yaml');
const settings = new Set<string>(settingNames);
const last = (instruction: string) => recipe.findLast(([name]) => name === instruction)?.[1] ?? 'none';

test('[OPS-34] recipe and compose file name settings that exist', () => {
  const named = [...new Set(`${textOf('Containerfile')}\n${compose}`.match(/\bCAIRN_[A-Z_]+\b/g))];
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((name) => !settings.has(name))).toEqual([]);
});

test('[OPS-34] port, volume, user and health check are the same in both', () => {
  const port = last('EXPOSE');
  expect(compose).toContain(`"127.0.0.1:${port}:${port}"`);
  expect(compose).toContain(`"data:${last('VOLUME')}"`);
  expect(last('ENV')).toContain(`CAIRN_DATA=${last('VOLUME')}`);
  expect(last('USER')).toBe('node');
  const [, check = ''] = /test: \["CMD", (.+)\]$/m.exec(compose) ?? [];
  expect(last('HEALTHCHECK')).toContain(`CMD [${check}]`);
  for (const [ours, theirs] of [
    ['interval', 'interval'],
    ['timeout', 'timeout'],
    ['start-period', 'start_period'],
  ]) {
    const [, time = 'none'] = new RegExp(`--${ours}=(\\w+)`).exec(last('HEALTHCHECK')) ?? [];
    expect(compose).toMatch(new RegExp(`^ {6}${theirs}: ${time}$`, 'm'));
  }
});
