/** A conflict is settled in a real browser, by each of the three ways, with script and without. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { SCRIPTS, signUp } from '../support/browser.ts';
import { PASSWORD } from '../support/gateway.ts';
import { Device } from '../support/sync.ts';
import { useBrowser } from '../support/use-browser.ts';

const BASE = 'one\ntwo\nthree\nfour\nfive\n';
const THEIRS = BASE.replace('two', 'two of theirs');
const MINE = BASE.replace('two', 'two of mine').replace('five', 'five of mine');
const PATH = 'today.txt';

const { hub, visit } = useBrowser();

/** Two devices change a file from the same base; the page of the one conflict that comes of it is opened by links alone. */
async function openConflict(page: Page, email: string): Promise<void> {
  const device = new Device(hub, await signUp(page, email, PASSWORD), 'desktop');
  const { sha256 } = await device.push(PATH, BASE);
  await device.push(PATH, THEIRS, { base_sha: sha256 });
  await device.other('phone').refusedPush(PATH, MINE, { base_sha: sha256 });
  await page.locator('.tabs').getByRole('link', { name: 'Vaults' }).click();
  await page.getByRole('link', { name: 'Resolve 1 conflict' }).click();
  await page.getByRole('link', { name: PATH }).click();
  await page.getByRole('heading', { name: 'Differences' }).waitFor();
}

/** What the file's page shows. */
async function shownText(page: Page): Promise<string | null> {
  await page.getByRole('link', { name: PATH }).click();
  return await page.getByRole('group', { name: 'Content of the file' }).textContent();
}

describe.each(SCRIPTS)('%s', (name, javaScriptEnabled) => {
  const email = `conflict-${name.replace(' ', '-')}@example.org`;

  test.each([
    ['mine', 'the version from phone', MINE],
    ['theirs', 'the hub version', THEIRS],
  ])('[WEB-1, WEB-5] keep %s', async (side, called, content) => {
    const { page, context, complaints } = await visit({ javaScriptEnabled });
    await openConflict(page, `${side}-${email}`);
    const changed = page.locator('tr.changed').first();
    expect(await changed.locator('.removed').textContent()).toBe('−two of theirs');
    expect(await changed.locator('.added').textContent()).toBe('+two of mine');
    await page.getByRole('button', { name: `Keep ${called}` }).click();
    await page.getByText('is resolved.').waitFor();
    expect(await shownText(page)).toBe(content.trimEnd());
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('[WEB-1, WEB-5] edit both into one, after the marks that were left were refused', async () => {
    const { page, context, complaints } = await visit({ javaScriptEnabled });
    await openConflict(page, `edit-${email}`);
    const editor = page.getByLabel('Merged version');
    expect(await editor.inputValue()).toContain('<<<<<<< From phone');
    await page.getByRole('button', { name: 'Save merged version' }).click();
    await page.getByText('The text still contains conflict markers.').first().waitFor();
    if (javaScriptEnabled) {
      // Three columns, by keyboard: the choice rewrites the text, and there is no other conflict to go on with.
      const buttons = page.locator('[data-merge] button');
      expect(await buttons.allTextContents()).toEqual(['Use this', 'Use both', 'Use this']);
      await buttons.nth(1).focus();
      await page.keyboard.press('Enter');
      expect(await editor.inputValue()).toBe('one\ntwo of theirs\ntwo of mine\nthree\nfour\nfive of mine\n');
      expect(await page.evaluate('document.activeElement.name')).toBe('content');
    }
    await editor.fill('one\ntwo of both\n');
    await page.getByRole('button', { name: 'Save merged version' }).click();
    await page.getByText('is resolved.').waitFor();
    expect(await shownText(page)).toBe('one\ntwo of both');
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('[WEB-1, WEB-5] an earlier version is brought back', async () => {
    const { page, context, complaints } = await visit({ javaScriptEnabled });
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
