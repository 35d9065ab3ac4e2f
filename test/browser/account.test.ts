/** An account from its first page to its last in a real browser, with script and without. */
import { describe, expect, test } from 'vitest';
import { SCRIPTS, signUp } from '../support/browser.ts';
import { PASSWORD, structured } from '../support/gateway.ts';
import { call } from '../support/http.ts';
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
