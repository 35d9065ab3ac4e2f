/** `cairn login` waits on a machine while a person lets it in on a phone's browser, with script and without. */
import { describe, expect, test } from 'vitest';
import { SCRIPTS } from '../support/browser.ts';
import { startLogin } from '../support/device-login.ts';
import { callTool, PASSWORD } from '../support/gateway.ts';
import { runCairn } from '../support/hub.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { useBrowser } from '../support/use-browser.ts';

const { hub, visit } = useBrowser();

describe.each(SCRIPTS)('%s', (name, javaScriptEnabled) => {
  test('[WEB-1, WEB-5, OAUTH-1] a person signs in on a phone, compares the code and lets the device in', async () => {
    const email = `phone-${name.replace(' ', '-')}@example.org`;
    await callTool(hub, 'signup_and_get_key', { email, password: PASSWORD });
    const folder = temporaryFolder();
    const device = await startLogin(folder, '--server', hub.url, '--name', 'build-box');
    const { page, context, complaints } = await visit({
      javaScriptEnabled,
      viewport: { width: 390, height: 844 },
      isMobile: true,
      hasTouch: true,
    });
    await page.goto('/device');
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).tap();
    await page.getByLabel('Code').fill(device.code.toLowerCase());
    await page.getByRole('button', { name: 'Continue' }).tap();
    await page.getByText(device.code, { exact: true }).waitFor();
    await page.getByText('build-box').waitFor();
    await page.getByRole('button', { name: '            Authorize' }).tap();
    await page.getByText('“build-box” is now signed in.').waitFor();
    expect(await device.end()).toMatchObject({ code: 0 });
    const whoami = await runCairn(['whoami', '--json'], { XDG_CONFIG_HOME: folder });
    expect(JSON.parse(whoami.stdout)).toMatchObject({ email });
    await page.goto('/settings');
    await page.locator('.row', { hasText: 'Sign out…' }).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });
});
