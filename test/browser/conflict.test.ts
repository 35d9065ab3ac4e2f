/** A conflict is settled in a real browser, by each of the three ways, with script and without. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PASSWORD } from '../support/gateway.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { Device } from '../support/sync.ts';
import { launch, SCRIPTS, signUp, visitor } from './browser.ts';

const BASE = 'one\ntwo\nthree\nfour\nfive\n';
const THEIRS = BASE.replace('two', 'two of theirs');
const MINE = BASE.replace('two', 'two of mine').replace('five', 'five of mine');
const PATH = 'today.txt';

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

/** Two devices change a file from the same base; the page of the one conflict that comes of it is opened by links alone. */
async function openConflict(page: Page, email: string): Promise<void> {
  const device = new Device(hub, await signUp(page, email, PASSWORD), 'desktop');
  const { sha256 } = await device.push(PATH, BASE);
  await device.push(PATH, THEIRS, { base_sha: sha256 });
  await device.other('phone').refusedPush(PATH, MINE, { base_sha: sha256 });
  await page.locator('.tabs').getByRole('link', { name: 'Vaults' }).click();
  await page.getByRole('link', { name: 'Settle 1 conflict' }).click();
  await page.getByRole('link', { name: PATH }).click();
  await page.getByRole('heading', { name: 'What differs' }).waitFor();
}

/** What the file's page shows. */
async function shownText(page: Page): Promise<string | null> {
  await page.getByRole('link', { name: PATH }).click();
  return await page.getByRole('group', { name: 'Content of the file' }).textContent();
}

describe.each(SCRIPTS)('%s', (name, javaScriptEnabled) => {
  const email = `conflict-${name.replace(' ', '-')}@example.org`;

  test.each([
    ['mine', MINE],
    ['theirs', THEIRS],
  ])('[WEB-1, WEB-5] keep %s', async (side, content) => {
    const { page, context, complaints } = await visitor(browser, hub, { javaScriptEnabled });
    await openConflict(page, `${side}-${email}`);
    const changed = page.locator('tr.changed').first();
    expect(await changed.locator('.removed').textContent()).toBe('−two of theirs');
    expect(await changed.locator('.added').textContent()).toBe('+two of mine');
    await page.getByRole('button', { name: `Keep ${side}` }).click();
    await page.getByText('is settled.').waitFor();
    expect(await shownText(page)).toBe(content.trimEnd());
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('[WEB-1, WEB-5] edit both into one, after the marks that were left were refused', async () => {
    const { page, context, complaints } = await visitor(browser, hub, { javaScriptEnabled });
    await openConflict(page, `edit-${email}`);
    const editor = page.getByLabel('Merged version');
    expect(await editor.inputValue()).toContain('<<<<<<< yours');
    await page.getByRole('button', { name: 'Save merged version' }).click();
    await page.getByText('The text still contains conflict markers.').first().waitFor();
    await editor.fill('one\ntwo of both\n');
    await page.getByRole('button', { name: 'Save merged version' }).click();
    await page.getByText('is settled.').waitFor();
    expect(await shownText(page)).toBe('one\ntwo of both');
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('[WEB-1, WEB-5] an earlier version is brought back', async () => {
    const { page, context, complaints } = await visitor(browser, hub, { javaScriptEnabled });
    const device = new Device(hub, await signUp(page, `history-${email}`, PASSWORD));
    const { sha256 } = await device.push(PATH, 'first');
    await device.push(PATH, 'second', { base_sha: sha256 });
    await page.locator('.tabs').getByRole('link', { name: 'Vaults' }).click();
    await page.getByRole('link', { name: 'primary' }).click();
    expect(await shownText(page)).toBe('second');
    await page.getByRole('link', { name: 'version 1, created' }).click();
    expect(await page.getByRole('group', { name: 'Content of the file' }).textContent()).toBe('first');
    await page.locator('summary', { hasText: 'Restore…' }).click();
    await page.getByRole('button', { name: 'Restore version 1' }).click();
    await page.getByText('Version 1 was restored.').waitFor();
    expect(await page.getByRole('group', { name: 'Content of the file' }).textContent()).toBe('first');
    expect(complaints).toEqual([]);
    await context.close();
  });
});
