/** What the settings promise of devices, pressed by mouse and by finger. */
import { expect, test } from 'vitest';
import { signUp } from '../support/browser.ts';
import { PASSWORD, post, structured, toolRequest, withKey } from '../support/gateway.ts';
import { askDevice, poll, refresh, tokensOf } from '../support/oauth.ts';
import { Device } from '../support/sync.ts';
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

test('[WEB-1, WEB-17] on a phone one press leads from the top of the settings to each part, and the start page to the conflict', async () => {
  const { page, context, complaints } = await visit({ hasTouch: true, viewport: { width: 360, height: 640 } });
  const key = await signUp(page, 'parts@example.org', PASSWORD);
  await page.goto('/settings');
  const parts = page.getByRole('navigation', { name: 'On this page' }).getByRole('link');
  expect(await parts.count()).toBeGreaterThan(8);
  for (const part of await parts.all()) {
    await part.tap();
    const id = (await part.getAttribute('href')) ?? '';
    expect(await page.locator(`h2${id}`).evaluate((one) => one.getBoundingClientRect().top)).toBeLessThan(600);
  }
  const device = new Device(hub, key);
  const { sha256 } = await device.push('list.md', 'one\n');
  await device.push('list.md', 'two\n', { base_sha: sha256 });
  await device.other('phone').refusedPush('list.md', 'three\n', { base_sha: sha256 });
  await page.goto('/');
  await page.getByText('1 conflict to resolve').tap();
  await page.getByRole('heading', { name: 'Conflicts' }).waitFor();
  await structured(hub, 'create_paper', { title: 'On stones', content: 'They lie.' }, key);
  await page.goto('/documents/papers');
  await page.getByLabel('Find papers by words in them').fill('lie');
  await page.getByRole('button', { name: 'Find' }).tap();
  await page.getByRole('link', { name: 'On stones' }).tap();
  await page.getByRole('heading', { name: 'On stones' }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test.each([
  ['by mouse', false],
  ['by finger', true],
])(
  '[WEB-5, WEB-1] %s: a password can be looked at while it is typed, and is hidden again when it is sent',
  async (_name, isTouch) => {
    const { page, context, complaints } = await visit(
      isTouch ? { hasTouch: true, viewport: { width: 360, height: 640 } } : {},
    );
    await page.goto('/signup');
    const field = page.getByLabel('Password');
    await page.getByLabel('Email').fill(`shown-${isTouch}@example.org`);
    await field.fill('short');
    const show = page.getByRole('button', { name: 'Show password' });
    await (isTouch ? show.tap() : show.click());
    // What a password manager and a spelling service go by stays.
    const attributes = () =>
      field.evaluate((one: HTMLInputElement) => [one.type, one.value, one.autocomplete, one.spellcheck]);
    expect(await attributes()).toEqual(['text', 'short', 'new-password', false]);
    await page.getByRole('button', { name: 'Hide password' }).click();
    expect(await attributes()).toEqual(['password', 'short', 'new-password', false]);
    await show.click();
    await field.fill(PASSWORD);
    // The type at the moment of sending: a browser remembers what a field of text contains.
    await page.evaluate(() =>
      document.addEventListener('submit', () => {
        document.title = document.querySelector<HTMLInputElement>('[name="password"]')?.type ?? '';
      }),
    );
    const sent = page.waitForFunction(() => document.title === 'password');
    await field.press('Enter');
    await sent;
    await page.getByText('Account created.').waitFor();
    await page.goto('/settings');
    expect(await page.locator('[data-reveal]').allTextContents()).toEqual([
      'Show current password',
      'Show new password',
      'Show your password',
    ]);
    expect(complaints).toEqual([]);
    await context.close();
  },
);

test('[WEB-1] without script there is no button to show a password, and whoever deletes the account is led to the export first', async () => {
  const { page, context } = await visit({ javaScriptEnabled: false });
  await signUp(page, 'no-script@example.org', PASSWORD);
  await page.goto('/settings');
  expect(await page.locator('[data-reveal]:visible').count()).toBe(0);
  const last = page.locator('[aria-labelledby="delete-account"]');
  await last.getByRole('link', { name: 'export your data' }).click();
  expect(page.url()).toMatch(/\/settings#export$/);
  await last.locator('summary').click();
  await last.getByLabel('Your password').fill(PASSWORD);
  await last.getByRole('button', { name: 'Delete everything' }).click();
  await page.getByText('Your account is deleted').waitFor();
  await context.close();
});
