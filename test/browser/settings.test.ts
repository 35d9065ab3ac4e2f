/** What the settings promise of devices, pressed by mouse and by finger. */
import { expect, test } from 'vitest';
import { signUp } from '../support/browser.ts';
import { PASSWORD, post, toolRequest, withKey } from '../support/gateway.ts';
import { askDevice, poll, refresh, tokensOf } from '../support/oauth.ts';
import { useBrowser } from '../support/use-browser.ts';

const { hub, visit } = useBrowser();

test.each([
  ['by mouse', false],
  ['by finger', true],
])('[WEB-18] %s: a lost phone is one row, and signing it out ends its tokens and its key', async (_name, isTouch) => {
  const { page, context, complaints } = await visit(
    isTouch ? { hasTouch: true, viewport: { width: 390, height: 844 } } : {},
  );
  await signUp(page, `lost-${isTouch}@example.org`, PASSWORD);
  const codes = await askDevice(hub, { device_name: 'LostPhone', scope: 'mcp' });
  await page.goto(`/device?user_code=${codes.user_code}`);
  await page.getByRole('button', { name: 'Authorize' }).click();
  await page.getByText('“LostPhone” is now signed in.').waitFor();
  const tokens = tokensOf(await poll(hub, codes.device_code));
  const creates = async () =>
    (await post(hub, toolRequest(1, 'create_task', { content: 'From the phone' }), withKey(tokens.mcp_key))).status;
  expect(await creates()).toBe(200);
  await page.goto('/settings');
  // What happened to the account is told below the credentials.
  const rows = page.locator('.panel:not([aria-labelledby="events"]) .row', { hasText: 'LostPhone' });
  expect(await rows.locator('strong').allTextContents()).toEqual(['LostPhone']);
  const press = async (name: string) => {
    const button = name === 'Sign out…' ? rows.locator('summary') : page.getByRole('button', { name });
    await (isTouch ? button.tap() : button.click());
  };
  await press('Sign out…');
  await page.getByText('Its access tokens and its MCP key stop working immediately.').waitFor();
  await press('Sign this device out');
  await page.getByText('“LostPhone” is signed out. Its access tokens and its MCP key no longer work.').waitFor();
  expect([await creates(), (await refresh(hub, tokens.refresh_token)).status]).toEqual([401, 400]);
  expect(complaints).toEqual([]);
  await context.close();
});
