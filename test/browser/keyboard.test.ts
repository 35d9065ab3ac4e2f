/** The acts on files, tasks and documents in a real browser, by keyboard alone; those of an account are in account.test.ts. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { signUp } from '../support/browser.ts';
import { PASSWORD, structured } from '../support/gateway.ts';
import { focusedName, go, headed, press, says, tabTo, write } from '../support/keyboard.ts';
import { Device } from '../support/sync.ts';
import { useBrowser } from '../support/use-browser.ts';

const { hub, visit } = useBrowser();

test('[WEB-5, WEB-12, WEB-14] a folder is opened; a file written, edited, renamed, deleted, and brought back; its first version shown', async () => {
  const { page, context } = await visit();
  const device = new Device(hub, await signUp(page, 'files@example.org', PASSWORD));
  await device.push('notes/there.md', 'there');
  await openNotes(page);
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

test('[WEB-5, WEB-12, WEB-16] files are uploaded, a folder downloaded, and a folder opened as it was', async () => {
  const { page, context, complaints } = await visit();
  await new Device(hub, await signUp(page, 'folder@example.org', PASSWORD)).push('notes/there.md', 'there');
  await openNotes(page);
  await press(page, 'Upload');
  const chooser = page.waitForEvent('filechooser');
  await press(page, 'Files');
  await (await chooser).setFiles({ name: 'two.txt', mimeType: 'text/plain', buffer: Buffer.from('two') });
  await press(page, 'Upload');
  await says(page, '1 file uploaded.');
  const download = page.waitForEvent('download');
  await press(page, 'Download folder');
  expect((await download).suggestedFilename()).toBe('notes.tar');
  await press(page, 'Folder at a time…');
  await tabTo(page, 'Date and time (Asia/Tokyo)');
  // The parts of the field: month, day, year, hour, minute, half of the day.
  await page.keyboard.type('01012030');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.type('1200PM');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/vaults/*?*at=2030-01-01T12%3A00');
  await page.getByRole('link', { name: 'two.txt' }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('[WEB-5, WEB-14] a vault is created, and a folder is restored as it was', async () => {
  const { page, context, complaints } = await visit();
  const key = await signUp(page, 'past@example.org', PASSWORD);
  const device = new Device(hub, key);
  await go(page, 'v', 'Vaults');
  await write(page, 'Name of a new vault', 'Garden');
  await press(page, 'Create vault');
  await headed(page, 'Garden');
  const { sha256 } = await device.push('notes/a.md', 'first');
  await device.push('notes/a.md', 'second', { base_sha: sha256 });
  await openNotes(page);
  await press(page, 'a.md');
  await headed(page, 'a.md');
  // The newest version is first.
  await tabTo(page, 'Folder at this time');
  await press(page, 'Folder at this time');
  await headed(page, 'notes');
  await press(page, 'Restore this folder…');
  await press(page, 'Restore the folder');
  await says(page, 'restored');
  expect(await structured(hub, 'sync_pull', { path: 'notes/a.md' }, key)).toMatchObject({ content: 'first' });
  expect(complaints).toEqual([]);
  await context.close();
});

test('[WEB-5, WEB-9] categories are created, coloured, renamed and deleted, each undone', async () => {
  const { page, context, complaints } = await visit();
  const key = await signUp(page, 'categories@example.org', PASSWORD);
  const stored = async () => (await structured(hub, 'list_categories', {}, key))['categories'];
  await go(page, 't', 'Tasks');
  await press(page, 'Categories');
  await headed(page, 'Categories');
  await write(page, 'Name', 'Garden');
  await tabTo(page, 'Color');
  const color = page.locator('#new-category + form [type="color"]');
  const first = await color.inputValue();
  // The browser opens its picker on Space: the arrow keys there change the color once it is open, Enter keeps it.
  await page.keyboard.press('Space');
  await expect
    .poll(async () => {
      await page.keyboard.press('ArrowUp');
      return await color.inputValue();
    })
    .not.toBe(first);
  await page.keyboard.press('Enter');
  const chosen = await color.inputValue();
  await tabTo(page, 'Show the color');
  await press(page, 'Create');
  await says(page, 'Category created.');
  expect(await stored()).toMatchObject([{ name: 'Garden', color: chosen }]);
  await press(page, 'Edit Garden');
  await write(page, 'Name', 'House');
  await press(page, 'Save');
  await says(page, 'Category saved.');
  expect(await stored()).toMatchObject([{ name: 'House' }]);
  await page.keyboard.press('u');
  await says(page, 'Undone.');
  expect(await stored()).toMatchObject([{ name: 'Garden' }]);
  await press(page, 'Delete… Garden');
  await press(page, 'Delete category');
  await says(page, 'Category deleted.');
  expect(await stored()).toEqual([]);
  expect(complaints).toEqual([]);
  await context.close();
});

test('[WEB-5, WEB-9, WEB-15] tasks and documents are restored from their trash', async () => {
  const { page, context, complaints } = await visit();
  const key = await signUp(page, 'trash@example.org', PASSWORD);
  const { task } = await structured(hub, 'create_task', { content: 'Thrown away' }, key);
  await structured(hub, 'delete_task', { id: (task as { id: number }).id }, key);
  await structured(hub, 'create_paper', { title: 'On dust', content: 'It settles.' }, key);
  await go(page, 't', 'Tasks');
  await press(page, 'Trash');
  await headed(page, 'Trash');
  await press(page, 'Restore Thrown away');
  await says(page, 'Task restored.');
  await go(page, 'd', 'Documents');
  await press(page, 'Papers');
  await page.waitForURL(/\/papers$/);
  await press(page, 'On dust');
  await headed(page, 'On dust');
  await press(page, 'Delete…');
  await press(page, 'Delete this paper');
  await says(page, 'The paper is in the trash');
  await page.keyboard.press('u');
  await headed(page, 'On dust');
  expect(complaints).toEqual([]);
  await context.close();
});

test('[WEB-5] the focus goes on to the next one when what was pressed is gone', async () => {
  const { page, context } = await visit();
  const key = await signUp(page, 'onward@example.org', PASSWORD);
  const today = new Date().toISOString().slice(0, 10);
  for (const content of ['One', 'Two', 'Three', 'Four'])
    await structured(hub, 'create_task', { content, due_date: today }, key);
  const focused = () => page.evaluate('document.activeElement.textContent');
  await page.goto('/');
  await page.getByRole('button', { name: /^Done.*Two/ }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('Moved to Done.').waitFor();
  await expect.poll(focused).toBe('Three');
  await page.goto('/tasks');
  await page.getByLabel('Actions for Three').focus();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Delete Three' }).focus();
  await page.keyboard.press('Enter');
  await page.locator('.card', { hasText: 'Three' }).waitFor({ state: 'detached' });
  await expect.poll(() => page.evaluate('document.activeElement.title')).toBe('Mark done: Four');
  await context.close();
});

/** From any page to the folder notes of the primary vault. */
async function openNotes(page: Page): Promise<void> {
  await go(page, 'v', 'Vaults');
  await press(page, 'primary');
  await headed(page, 'primary');
  await press(page, 'notes');
  await headed(page, 'notes');
}
