/** Live pages in a real browser: what agents change appears, without moving what somebody reads or writes. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { signUp, type Visitor } from '../support/browser.ts';
import { answered } from '../support/filled-member.ts';
import { PASSWORD, structured } from '../support/gateway.ts';
import { useBrowser } from '../support/use-browser.ts';

const { hub, visit } = useBrowser();

test('[WEB-8, WEB-5] what an agent does appears on an open board, and what is being typed stays', async () => {
  const { page, context, complaints } = await visit();
  const key = await signUp(page, 'live@example.org', PASSWORD);
  await page.goto('/tasks');
  await page.getByLabel('New task').fill('Half a thou');
  await structured(hub, 'create_task', { content: 'By an agent' }, key);
  await page.locator('.card', { hasText: 'By an agent' }).waitFor();
  expect(await page.getByLabel('New task').inputValue()).toBe('Half a thou');
  await page.keyboard.type('ght');
  expect(await page.getByLabel('New task').inputValue()).toBe('Half a thought');
  await structured(hub, 'update_task', { id: 1, kanban_status: 'in_progress' }, key);
  await page.locator('[data-column="in_progress"] .card', { hasText: 'By an agent' }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('[NET-14, WEB-8] a change of one card moves that card alone, and the others can still be pressed', async () => {
  const { page, context, complaints } = await visit();
  const key = await signUp(page, 'one-card@example.org', PASSWORD);
  for (let made = 0; made < 20; made += 1) await structured(hub, 'create_task', { content: `Task ${made}` }, key);
  await page.goto('/tasks');
  const renewed = page.waitForResponse((response) => response.request().headers()['x-live'] !== undefined);
  await structured(hub, 'update_task', { id: 3, content: 'Changed elsewhere' }, key);
  const html = await (await renewed).text();
  expect([html.match(/data-same/g)?.length, html.match(/data-task/g)?.length]).toEqual([14, 1]);
  await page.locator('#task-3', { hasText: 'Changed elsewhere' }).waitFor();
  expect(await page.locator('[data-column="todo"] .card').count()).toBe(15);
  expect(await page.locator('[data-same]').count()).toBe(0);
  // Blocks that were left out have the token of the renewed page.
  const tokens = await page.locator('#page [name="csrf"]').evaluateAll((all) => all.map((one) => one.outerHTML));
  expect(new Set(tokens).size).toBe(1);
  await page.getByRole('button', { name: 'Mark done: Task 5', exact: true }).click();
  await page.locator('[data-column="done"] .card', { hasText: 'Task 5' }).waitFor();
  // Moved on and back by somebody else while the page was open.
  await page.evaluate('scrollTo(0, 0)');
  await structured(hub, 'update_task', { id: 6, kanban_status: 'in_progress' }, key);
  await page.locator('[data-column="in_progress"] #task-6').waitFor();
  await structured(hub, 'update_task', { id: 6, kanban_status: 'todo' }, key);
  await page.locator('[data-column="todo"] #task-6').waitFor();
  expect(await page.locator('.card').count()).toBe(15);
  expect(complaints).toEqual([]);
  await context.close();
});

test('[WEB-8] who has scrolled down to read is told how much changed, and sees it when asked for', async () => {
  const { page, context, complaints } = await visit({ viewport: { width: 390, height: 600 } });
  const key = await signUp(page, 'reader@example.org', PASSWORD);
  for (let made = 0; made < 30; made += 1) await structured(hub, 'create_task', { content: `Task ${made}` }, key);
  await page.goto('/tasks');
  await page.evaluate('scrollTo(0, 600)');
  for (const content of ['One', 'Two', 'Three'])
    await structured(hub, 'create_task', { content, due_date: '2020-01-01' }, key);
  await page.getByText('3 changes').waitFor();
  expect(await page.locator('.card', { hasText: 'Three' }).count()).toBe(0);
  expect(await page.evaluate('scrollY')).toBe(600);
  await page.getByRole('button', { name: 'Show' }).click();
  await page.locator('.card', { hasText: 'Three' }).waitFor();
  await page.getByText('3 changes').waitFor({ state: 'hidden' });
  expect(complaints).toEqual([]);
  await context.close();
});

test('[WEB-8, WEB-2] an open page of a browser that signed out in another tab says so', async () => {
  const { page, context } = await visit();
  await signUp(page, 'out@example.org', PASSWORD);
  await page.goto('/tasks');
  const other = await context.newPage();
  await other.goto('/');
  await page.bringToFront();
  await other.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('You are signed out.').waitFor();
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  expect(new URL(page.url()).search).toContain('tasks');
  await context.close();
});

const KEYS = ['Alpha', 'Beta', 'Gamma'];
const liveKeys = (page: Page) => page.locator('[aria-labelledby="keys"] > .rows > .row');
const namesOf = async (page: Page) =>
  (await liveKeys(page).locator('strong').allTextContents()).filter((name) => KEYS.includes(name));

/** The settings with three keys, the newest first. */
async function withKeys(email: string): Promise<Visitor> {
  const member = await visit();
  const { page } = member;
  await signUp(page, email, PASSWORD);
  await page.goto('/settings');
  for (const name of KEYS) {
    await page.getByLabel('Name of a new key').fill(name);
    await answered(page, page.getByRole('button', { name: 'Create key' }));
  }
  await page.goto('/settings');
  return member;
}

/** Revokes a key in another tab, and comes back to the page, which then shows it. */
async function revokeElsewhere(page: Page, name: string): Promise<void> {
  const other = await page.context().newPage();
  await other.goto('/settings');
  const row = liveKeys(other).filter({ hasText: name });
  await row.locator('summary').click();
  await answered(other, row.getByRole('button', { name: 'Revoke this key' }));
  await other.close();
  await page.evaluate(() => dispatchEvent(new Event('focus')));
  await page.getByText('Revoked keys (1)').waitFor();
}

/** Holds the question whether the hub is there, which a form asks first, until its answer is let through. */
function holdQuestion(page: Page): { readonly isAsked: Promise<void>; readonly answer: () => void } {
  let answer: () => void = () => undefined;
  const isLet = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const isAsked = new Promise<void>((resolve) => {
    void page.route('**/live', async (route) => {
      resolve();
      await isLet;
      await route.continue();
    });
  });
  return { isAsked, answer };
}

/** Revokes a key, and another one in another tab while the pressed button waits for the hub. */
async function revokeWhile(page: Page, pressed: string, elsewhere: string): Promise<void> {
  const row = liveKeys(page).filter({ hasText: pressed });
  await row.locator('summary').click();
  const question = holdQuestion(page);
  await row.getByRole('button', { name: 'Revoke this key' }).click();
  await question.isAsked;
  await revokeElsewhere(page, elsewhere);
  const loaded = page.waitForEvent('load');
  question.answer();
  await loaded;
}

test('[WEB-8, WEB-18] a page renewed while the pressed button waits for the hub revokes the key that was pressed', async () => {
  const { page, context, complaints } = await withKeys('pressed@example.org');
  await revokeWhile(page, 'Beta', 'Gamma');
  expect(await namesOf(page)).toEqual(['Alpha']);
  expect(complaints).toEqual([]);
  await context.close();
});

test('[WEB-8, WEB-18] a key revoked elsewhere while its own button waits for the hub is answered, and no other key is revoked', async () => {
  const { page, context, complaints } = await withKeys('gone@example.org');
  await revokeWhile(page, 'Alpha', 'Alpha');
  await page.goto('/settings');
  // The other three are as they were.
  expect([await liveKeys(page).count(), await namesOf(page)]).toEqual([3, ['Gamma', 'Beta']]);
  expect(complaints).toEqual([]);
  await context.close();
});

test('[WEB-8, WEB-18] an opened question stays with its key when another key before it is gone', async () => {
  const { page, context, complaints } = await withKeys('opened@example.org');
  await liveKeys(page).filter({ hasText: 'Beta' }).locator('summary').click();
  await revokeElsewhere(page, 'Gamma');
  const open = liveKeys(page).filter({ has: page.locator('details[open]') });
  expect(await open.locator('strong').allTextContents()).toEqual(['Beta']);
  await answered(page, page.getByRole('button', { name: 'Revoke this key' }));
  expect(await namesOf(page)).toEqual(['Alpha']);
  expect(complaints).toEqual([]);
  await context.close();
});

test('[WEB-5, WEB-8] Try again sends the form that was not sent, also after the page was renewed', async () => {
  const { page, context } = await withKeys('again@example.org');
  const row = liveKeys(page).filter({ hasText: 'Beta' });
  await row.locator('summary').click();
  await page.route('**/live', (route) => route.abort());
  await row.getByRole('button', { name: 'Revoke this key' }).click();
  await page.getByText('Cairn cannot be reached. Nothing was sent').waitFor();
  await page.unroute('**/live');
  await revokeElsewhere(page, 'Gamma');
  await answered(page, page.getByRole('button', { name: 'Try again' }));
  expect(await namesOf(page)).toEqual(['Alpha']);
  await context.close();
});
