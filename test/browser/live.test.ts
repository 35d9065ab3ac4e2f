/** Live pages in a real browser: what agents change appears, without moving what somebody reads or writes. */
import { expect, test } from 'vitest';
import { signUp } from '../support/browser.ts';
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
