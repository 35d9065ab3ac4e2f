/** The acts of each page in a real browser, by keyboard alone: no test here moves a pointer or sets a focus. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { signUp } from '../support/browser.ts';
import { PASSWORD, structured } from '../support/gateway.ts';
import { Device } from '../support/sync.ts';
import { useBrowser } from '../support/use-browser.ts';

/** More than the elements of any page here that take the focus. */
const PRESSES_MAX = 150;

const { hub, visit } = useBrowser();

/** What the focused element is called: by its label, else by its own text. */
async function focusedName(page: Page): Promise<string> {
  const name = await page.evaluate<string>(`(() => {
    const one = document.activeElement;
    return one.ariaLabel ?? (one.labels?.length > 0 ? one.labels[0].textContent : one.textContent);
  })()`);
  return name.replaceAll(/\s+/g, ' ').trim();
}

/** Presses Tab until an element of this name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  const passed: string[] = [];
  for (let presses = 0; presses < PRESSES_MAX; presses += 1) {
    await page.keyboard.press('Tab');
    const found = await focusedName(page);
    if (found === name) return;
    passed.push(found.slice(0, 40));
  }
  throw new Error(`the Tab key does not reach “${name}”, only: ${[...new Set(passed)].join(' | ')}`);
}

/** Goes to an element by Tab and presses Enter there. */
async function press(page: Page, name: string): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.press('Enter');
}

const says = (page: Page, text: string) => page.locator('#notices').getByText(text).waitFor();
const headed = (page: Page, name: string) => page.getByRole('heading', { name, exact: true, level: 1 }).waitFor();

/** A shortcut of a letter after `g`. */
async function go(page: Page, letter: string, heading: string): Promise<void> {
  await page.keyboard.press('g');
  await page.keyboard.press(letter);
  await headed(page, heading);
}

test('[WEB-5, WEB-12, WEB-14] a folder is opened; a file written, edited, renamed, deleted, and brought back; its first version shown', async () => {
  const { page, context } = await visit();
  const device = new Device(hub, await signUp(page, 'files@example.org', PASSWORD));
  await device.push('notes/there.md', 'there');
  await go(page, 'v', 'Vaults');
  await press(page, 'primary');
  await headed(page, 'primary');
  await press(page, 'notes');
  await headed(page, 'notes');
  await press(page, 'New file');
  await headed(page, 'New file');
  await tabTo(page, 'Path');
  await page.keyboard.press('End');
  await page.keyboard.type('today.txt');
  await tabTo(page, 'Content');
  await page.keyboard.type('first');
  await press(page, 'Save');
  await says(page, 'File created.');
  await press(page, 'Edit');
  await headed(page, 'Edit today.txt');
  await tabTo(page, 'Content');
  await page.keyboard.press('Control+End');
  await page.keyboard.type(' and second');
  await press(page, 'Save');
  await says(page, 'File saved.');
  await press(page, 'Rename…');
  await tabTo(page, 'New path');
  await page.keyboard.press('Control+a');
  await page.keyboard.type('notes/tomorrow.txt');
  await page.keyboard.press('Enter');
  await says(page, 'Renamed from “notes/today.txt”.');
  await press(page, 'Delete…');
  await press(page, 'Delete this file');
  await says(page, '“notes/tomorrow.txt” was deleted.');
  await page.keyboard.press('u');
  await headed(page, 'tomorrow.txt');
  await tabTo(page, 'Restore… version 1');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  expect(await focusedName(page)).toMatch(/^Restore version \d$/);
  // Escape closes the question and leaves the focus on it; Enter opens it again.
  await page.keyboard.press('Escape');
  expect(await focusedName(page)).toBe('Restore… version 1');
  await page.keyboard.press('Enter');
  await press(page, 'Restore version 1');
  await says(page, 'Version 1 was restored.');
  await press(page, 'version 1, created');
  await page.getByText('Version 1, not current').waitFor();
  await context.close();
});

test('[WEB-5, WEB-15] a document is written and edited', async () => {
  const { page, context, complaints } = await visit();
  await signUp(page, 'documents@example.org', PASSWORD);
  await press(page, 'Documents');
  await headed(page, 'Documents');
  await press(page, 'Papers');
  await page.waitForURL(/\/papers$/);
  await press(page, 'New paper');
  await headed(page, 'New paper');
  await tabTo(page, 'Title');
  await page.keyboard.type('On stones');
  await tabTo(page, 'Content');
  await page.keyboard.type('They are heavy.');
  await press(page, 'Save');
  await headed(page, 'On stones');
  await press(page, 'Edit');
  await headed(page, 'Edit On stones');
  await tabTo(page, 'Content');
  await page.keyboard.press('Control+End');
  await page.keyboard.type(' Most of them.');
  await press(page, 'Save');
  await page.getByText('They are heavy. Most of them.').waitFor();
  await press(page, 'Publish');
  await says(page, 'The paper is published.');
  expect(complaints).toEqual([]);
  await context.close();
});

test('[WEB-5, WEB-9] the board by keyboard: added, moved, undone, opened; the focus is never lost', async () => {
  const { page, context, complaints } = await visit();
  await signUp(page, 'cards@example.org', PASSWORD);
  await go(page, 't', 'Tasks');
  await page.keyboard.press('n');
  for (const content of ['One', 'Two']) {
    await page.keyboard.type(content);
    await page.keyboard.press('Enter');
    await page.locator('[data-column="todo"] .card', { hasText: content }).waitFor();
    expect(await focusedName(page)).toBe('New task');
  }
  await page.keyboard.press('Escape');
  await tabTo(page, 'Two');
  await page.keyboard.press('Shift+ArrowUp');
  await page.locator('[data-column="todo"] .card:first-child', { hasText: 'Two' }).waitFor();
  await page.keyboard.press('Shift+ArrowRight');
  await page.locator('[data-column="in_progress"] .card', { hasText: 'Two' }).waitFor();
  expect(await focusedName(page)).toBe('Two');
  await press(page, 'Actions for Two');
  await press(page, 'Mark important');
  await page.locator('.card .badge.bad').waitFor();
  expect(await focusedName(page)).toBe('Two');
  await page.keyboard.press('u');
  await page.locator('.card .badge.bad').waitFor({ state: 'detached' });
  expect(await focusedName(page)).toBe('Two');
  await press(page, 'Actions for Two');
  await press(page, 'Delete Two');
  await page.locator('.card', { hasText: 'Two' }).waitFor({ state: 'detached' });
  await page.keyboard.press('u');
  await page.locator('.card', { hasText: 'Two' }).waitFor();
  await tabTo(page, 'Two');
  await page.keyboard.press('Enter');
  await headed(page, 'Edit task');
  expect(complaints).toEqual([]);
  await context.close();
});

test('[WEB-5, WEB-11] what is searched with / is found and opened', async () => {
  const { page, context, complaints } = await visit();
  const key = await signUp(page, 'search@example.org', PASSWORD);
  await structured(hub, 'create_paper', { title: 'On quartz', content: 'It is hard.' }, key);
  await page.keyboard.press('/');
  await headed(page, 'Search');
  await page.keyboard.type('quartz');
  await page.locator('.row', { hasText: 'On quartz' }).waitFor();
  await press(page, 'On quartz');
  await headed(page, 'On quartz');
  expect(complaints).toEqual([]);
  await context.close();
});

test('[WEB-5] a conflict is settled', async () => {
  const { page, context, complaints } = await visit();
  const device = new Device(hub, await signUp(page, 'conflict@example.org', PASSWORD), 'desktop');
  const { sha256 } = await device.push('today.txt', 'base');
  await device.push('today.txt', 'theirs', { base_sha: sha256 });
  await device.other('phone').refusedPush('today.txt', 'mine', { base_sha: sha256 });
  await go(page, 'v', 'Vaults');
  await press(page, 'Resolve 1 conflict');
  await page.waitForURL('**/conflicts');
  await press(page, 'today.txt');
  await page.getByRole('heading', { name: 'Differences' }).waitFor();
  await press(page, 'Keep the version from phone');
  await page.getByText('is resolved.').waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('[WEB-1, WEB-5] a conflict is merged in three columns', async () => {
  const { page, context, complaints } = await visit();
  const device = new Device(hub, await signUp(page, 'merge@example.org', PASSWORD), 'desktop');
  const { sha256 } = await device.push('today.txt', 'one\ntwo\nthree\n');
  await device.push('today.txt', 'one\nof desktop\nthree\n', { base_sha: sha256 });
  await device.other('phone').refusedPush('today.txt', 'one\nof phone\nthree\n', { base_sha: sha256 });
  await go(page, 'v', 'Vaults');
  await press(page, 'Resolve 1 conflict');
  await page.waitForURL('**/conflicts');
  await press(page, 'today.txt');
  await page.getByRole('heading', { name: 'Differences' }).waitFor();
  await press(page, 'Use both');
  expect(await focusedName(page)).toMatch(/^Merged version/);
  await press(page, 'Save merged version');
  await page.getByText('is resolved.').waitFor();
  await press(page, 'today.txt');
  await page.getByText('of phone').waitFor();
  expect(await page.getByRole('group', { name: 'Content of the file' }).textContent()).toMatch(
    /^one\nof desktop\nof phone\nthree$/,
  );
  expect(complaints).toEqual([]);
  await context.close();
});

test('[WEB-5] a key is created in the settings', async () => {
  const { page, context, complaints } = await visit();
  await signUp(page, 'settings@example.org', PASSWORD);
  await press(page, 'Settings');
  await headed(page, 'Settings');
  await tabTo(page, 'Name of a new key');
  await page.keyboard.type('Agent');
  await page.keyboard.press('Enter');
  await page.locator('.notice code').waitFor();
  expect(await page.locator('.notice code').first().textContent()).toMatch(/^[0-9a-f]{64}$/);
  expect(complaints).toEqual([]);
  await context.close();
});
