/** An account from its first page to its last in a real browser, with script and without. */
import { TOTP } from 'otpauth';
import { describe, expect, test } from 'vitest';
import { newProof, queryOf, REDIRECT, redeem, register } from '../support/authorize.ts';
import { SCRIPTS, signUp } from '../support/browser.ts';
import { startLogin } from '../support/device-login.ts';
import { PASSWORD, structured } from '../support/gateway.ts';
import { call } from '../support/http.ts';
import { headed, press, says, tabTo, write } from '../support/keyboard.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { useBrowser } from '../support/use-browser.ts';

const { hub, visit } = useBrowser();

/** The gateway's answer to a key. */
const statusOf = async (key: string) =>
  (
    await call(hub, '/api/mcp/tools/list_tasks', {
      method: 'POST',
      headers: { Authorization: `McpKey ${key}`, 'Content-Type': 'application/json' },
      body: '{}',
    })
  ).status;

const momentIn = (timeZone: string, at: Date): string =>
  new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone }).format(at);

describe.each(SCRIPTS)('%s', (name, javaScriptEnabled) => {
  const email = `${name.replace(' ', '-')}@example.org`;

  test('[WEB-1, WEB-5] sign up, make a key, use it, revoke it, sign out and in', async () => {
    const { page, context, complaints } = await visit({ javaScriptEnabled });
    await page.goto('/');
    await page.getByRole('link', { name: 'Create an account' }).click();
    const first = await signUp(page, email, PASSWORD);
    expect(await structured(hub, 'list_tasks', {}, first)).toMatchObject({ count: 0 });

    await page.getByRole('link', { name: 'Settings', exact: true }).click();
    await page.getByLabel('Name of a new key').fill('Browser test');
    await page.getByRole('button', { name: 'Create key' }).click();
    const key = (await page.locator('.notice code').textContent()) ?? '';
    expect(await statusOf(key)).toBe(200);
    await page.reload();
    expect(await page.content()).not.toContain(key);

    const row = page.locator('.row', { hasText: 'Browser test' });
    const confirm = row.getByRole('button', { name: 'Revoke this key' });
    expect(await confirm.isVisible()).toBe(false);
    await row.locator('summary').click();
    await confirm.click();
    await page.getByText('The key is revoked.').waitFor();
    expect([await statusOf(key), await statusOf(first)]).toEqual([401, 200]);

    await page.locator('header').getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are signed out.').waitFor();
    await page.goto('/settings');
    expect(new URL(page.url()).pathname).toBe('/signin');
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill('wrong password');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Email or password is wrong.').waitFor();
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Settings' }).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('[WEB-5] copy buttons are there with script only, and times are in words, exact ones the reader’s', async () => {
    const { page, context, complaints } = await visit({
      javaScriptEnabled,
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const key = await signUp(page, `copy-${email}`, PASSWORD);
    const copy = page.getByRole('button', { name: 'Copy First MCP key' });
    expect(await copy.isVisible()).toBe(javaScriptEnabled);
    if (javaScriptEnabled) {
      await copy.click();
      await page.getByRole('button', { name: 'Copied First MCP key' }).waitFor();
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(key);
    }
    for (const visit of ['first', 'second']) {
      await page.goto('/settings');
      const time = page.locator('time').first();
      const at = new Date((await time.getAttribute('datetime')) ?? '');
      const expected = javaScriptEnabled ? momentIn('Asia/Tokyo', at) : `${momentIn('UTC', at)} UTC`;
      const shown = [await time.getAttribute('title'), await time.textContent()];
      expect([visit, ...shown]).toEqual([visit, expected, expect.stringMatching(/^(just now|1 minute ago)$/)]);
    }
    expect(complaints).toEqual([]);
    await context.close();
  });
});

test('[WEB-1, WEB-5] by keyboard: keys and tokens are created and revoked, the account key is replaced, the time zone is set', async () => {
  const { page, context, complaints } = await visit();
  await signUp(page, 'keys@example.org', PASSWORD);
  await press(page, 'Settings');
  await headed(page, 'Settings');
  await write(page, 'Name of a new key', 'Agent');
  await tabTo(page, 'Read only');
  await page.keyboard.press('Space');
  await press(page, 'Create key');
  await says(page, 'Key “Agent” created.');
  const key = (await page.locator('.notice code').first().textContent()) ?? '';
  expect(await statusOf(key)).toBe(200);
  await press(page, 'Revoke… Agent');
  await press(page, 'Revoke this key');
  await says(page, 'The key is revoked.');
  expect(await statusOf(key)).toBe(401);
  await press(page, 'Replace…');
  await press(page, 'Replace the account key');
  await says(page, 'Account key replaced.');
  await press(page, 'Create access token');
  await says(page, 'Access token created.');
  await press(page, 'Revoke this access token');
  await says(page, 'The access token is revoked.');
  await write(page, 'IANA time zone (optional)', 'Asia/Seoul');
  await page.keyboard.press('Enter');
  await says(page, 'The time zone is Asia/Seoul.');
  expect(complaints).toEqual([]);
  await context.close();
});

test('[WEB-1, WEB-5, OAUTH-1, OAUTH-4] by keyboard: a device and an app are authorized, and lose access in the settings', async () => {
  const { page, context } = await visit();
  await signUp(page, 'devices@example.org', PASSWORD);
  const device = await startLogin(temporaryFolder(), '--server', hub.url, '--name', 'build-box');
  await page.goto('/device');
  await write(page, 'Code', device.code);
  await press(page, 'Continue');
  await headed(page, 'Authorize this device?');
  await press(page, 'Authorize');
  await page.getByText('“build-box” is now signed in.').waitFor();
  expect(await device.end()).toMatchObject({ code: 0 });
  // The reader comes back from the device to the end of the page, which then lists it.
  await page.evaluate(() => {
    scrollTo(0, document.body.scrollHeight);
    dispatchEvent(new Event('focus'));
  });
  await page.locator('.row', { hasText: 'Sign out… build-box' }).waitFor();
  const [clientId, proof] = [await register(hub), newProof()];
  await page.goto(`/oauth/authorize?${queryOf(clientId, proof)}`);
  // The app of this test does not listen: its page ends at an error, whose address was asked for.
  const back = page.waitForRequest((request) => request.url().startsWith(REDIRECT));
  await press(page, 'Authorize');
  const code = new URL((await back).url()).searchParams.get('code') ?? '';
  expect((await redeem(hub, clientId, code, proof)).status).toBe(200);
  const settings = await context.newPage();
  await settings.goto('/settings');
  await press(settings, 'Revoke… Test agent');
  await press(settings, 'Revoke access');
  await says(settings, '“Test agent” is signed out. Its access tokens no longer work.');
  await press(settings, 'Sign out… build-box');
  await press(settings, 'Sign this device out');
  await says(settings, '“build-box” is signed out.');
  await context.close();
});

test('[WEB-1, WEB-5] by keyboard: the password is changed, and the new one signs in', async () => {
  const { page, context, complaints } = await visit();
  await signUp(page, 'password@example.org', PASSWORD);
  await page.goto('/settings');
  await write(page, 'Current password', PASSWORD);
  await write(page, 'New password', `${PASSWORD} anew`);
  await press(page, 'Change password');
  await says(page, 'password');
  await press(page, 'Sign out');
  await says(page, 'You are signed out.');
  await press(page, 'Sign in');
  await headed(page, 'Sign in');
  await write(page, 'Email', 'password@example.org');
  await write(page, 'Password', `${PASSWORD} anew`);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Welcome' }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('[WEB-1, WEB-5, AUTH-3] by keyboard: two-factor sign-in is set up, data exported, and the account deleted', async () => {
  const { page, context, complaints } = await visit();
  await signUp(page, 'leaving@example.org', PASSWORD);
  await page.goto('/settings');
  await press(page, 'Set up an authenticator app');
  await headed(page, 'Turn on two-factor sign-in');
  const secret = ((await page.locator('main code').first().textContent()) ?? '').replaceAll(' ', '');
  await write(page, 'Code', new TOTP({ secret }).generate());
  await page.keyboard.press('Enter');
  await says(page, 'Two-factor sign-in is on.');
  const download = page.waitForEvent('download');
  await press(page, 'Export my data');
  expect((await download).suggestedFilename()).toMatch(/^cairn-export-.*\.tar$/);
  await press(page, 'Delete my account…');
  await write(page, 'Your password', PASSWORD);
  await press(page, 'Delete everything');
  await says(page, 'Your account is deleted');
  expect(complaints).toEqual([]);
  await context.close();
});
