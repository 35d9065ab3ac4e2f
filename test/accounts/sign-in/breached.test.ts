/** Breached passwords of a local file are refused wherever a password is chosen. */
import { hash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { callTool, PASSWORD } from '../../support/gateway.ts';
import { runCairn } from '../../support/hub.ts';
import { PageClient, signedUp } from '../../support/page-client.ts';
import { refusedStart } from '../../support/refused-start.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const BREACHED = 'a rather long one that leaked';
const file = join(temporaryFolder(), 'breached.txt');
const lines = [BREACHED, ...Array.from({ length: 500 }, (_, n) => `leaked ${n}`)].map((one, n) => {
  return `${hash('sha1', one, 'hex').toUpperCase()}:${n}\r\n`;
});
writeFileSync(file, lines.toSorted().join(''));

const hub = useHub({ env: { CAIRN_BREACHED_PASSWORDS: file, CAIRN_SIGNUP: 'open' }, loudest: 30, verified: true });
const SENTENCE = 'his password is in a list of passwords from data breaches';

test('[KEY-9] at sign-up by page and by tool, at a change, and by the operator', async () => {
  const page = new PageClient(hub);
  await page.open('/signup');
  expect((await page.submit('/signup', { email: 'page@example.org', password: BREACHED })).status).toBe(422);
  expect(page.text).toContain(SENTENCE);
  const refused = await callTool(hub, 'signup_and_get_key', { email: 'tool@example.org', password: BREACHED });
  expect(JSON.stringify(refused)).toContain(SENTENCE);
  const member = await signedUp(hub, 'owner@example.org', PASSWORD);
  await member.open('/settings');
  await member.submit('/settings/password', { current_password: PASSWORD, password: BREACHED });
  expect(member.text).toContain(SENTENCE);
  // Nothing has changed: the old one signs in, and was compared with nothing.
  expect((await callTool(hub, 'login_and_get_key', { email: 'owner@example.org', password: PASSWORD })).error).toBe(
    undefined,
  );
});

test('[KEY-9, OPS-30] the operator’s command goes by the settings of the running hub, not of its shell', async () => {
  await signedUp(hub, 'kept@example.org', PASSWORD);
  // Its shell has none of the hub's settings, as under systemd.
  const set = (password: string) =>
    runCairn(['account', 'password', '--email', 'kept@example.org'], { CAIRN_DATA: hub.dataFolder }, password);
  expect(await set(BREACHED)).toMatchObject({ code: 1, stderr: expect.stringContaining(SENTENCE) });
  expect((await set('a rather long one')).code).toBe(0);
});

test('[KEY-9, OPS-1] a file that is no such list stops the start with its name', async () => {
  const other = join(temporaryFolder(), 'other.txt');
  writeFileSync(other, 'password\n');
  expect((await refusedStart({ CAIRN_BREACHED_PASSWORDS: other })).stderr).toMatch(/CAIRN_BREACHED_PASSWORDS .*SHA-1/);
  const missing = await refusedStart({ CAIRN_BREACHED_PASSWORDS: `${other}.none` });
  expect([missing.code, missing.stderr]).toEqual([1, expect.stringMatching(/CAIRN_BREACHED_PASSWORDS .*none/)]);
});
