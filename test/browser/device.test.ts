/** A device is let in on a phone's browser while it waits, with script and without. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { limits } from '../../src/limits.ts';
import { callTool, PASSWORD, structured } from '../support/gateway.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { askDevice, poll, type Tokens } from '../support/oauth.ts';
import { launch, SCRIPTS, visitor } from './browser.ts';

let hub: Hub;
let browser: Browser;

beforeAll(async () => {
  [hub, browser] = await Promise.all([startHub(), launch()]);
});

afterAll(async () => {
  await browser.close();
  expect(hub.logs.filter((line) => Number(line['level']) >= 50)).toEqual([]);
  await hub.stop();
});

/** What a device does: it polls as often as it may until somebody has answered. */
async function waitForTokens(deviceCode: string): Promise<Tokens> {
  for (;;) {
    const answer = await poll(hub, deviceCode);
    if (answer.status === 200) return answer.json() as unknown as Tokens;
    if (answer.json()['error'] !== 'authorization_pending') throw new Error(answer.text);
    await new Promise((done) => setTimeout(done, limits.devicePollSeconds * 1000));
  }
}

describe.each(SCRIPTS)('%s', (name, javaScriptEnabled) => {
  test('[WEB-1, WEB-5, OAUTH-1] a person signs in on a phone, compares the code and lets the device in', async () => {
    const email = `phone-${name.replace(' ', '-')}@example.org`;
    await callTool(hub, 'signup_and_get_key', { email, password: PASSWORD });
    const codes = await askDevice(hub, { device_name: 'build-box', scope: 'account mcp' });
    const waiting = waitForTokens(codes.device_code);
    const { page, context, complaints } = await visitor(browser, hub, {
      javaScriptEnabled,
      viewport: { width: 390, height: 844 },
      isMobile: true,
      hasTouch: true,
    });
    await page.goto(codes.verification_uri);
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).tap();
    await page.getByLabel('Code').fill(codes.user_code.toLowerCase());
    await page.getByRole('button', { name: 'Continue' }).tap();
    await page.getByText(codes.user_code, { exact: true }).waitFor();
    await page.getByText('build-box').waitFor();
    await page.getByRole('button', { name: 'Let it in' }).tap();
    await page.getByText('“build-box” may come in.').waitFor();
    const tokens = await waiting;
    expect(await structured(hub, 'list_tasks', {}, tokens.mcp_key)).toMatchObject({ count: 0 });
    await page.goto('/settings');
    await page.locator('.row', { hasText: 'with cairn-test' }).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });
});
