/** Cards are selected by key, by click and by box, acted on together, and moved by a finger: in a real browser. */
import type { CDPSession, Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { SCRIPTS, signUp } from '../support/browser.ts';
import { PASSWORD, structured } from '../support/gateway.ts';
import { useBrowser } from '../support/use-browser.ts';

const { hub, visit } = useBrowser();

async function board(page: Page, email: string): Promise<string> {
  const key = await signUp(page, email, PASSWORD);
  for (let id = 1; id <= 6; id += 1) await structured(hub, 'create_task', { content: `Task ${id}` }, key);
  await page.goto('/tasks');
  return key;
}

const bar = (page: Page) => page.getByRole('form', { name: 'Selected tasks' });
const inColumn = (page: Page, status: string, id: number) => page.locator(`[data-column="${status}"] #task-${id}`);

test('[WEB-25] x and the shift key select cards; they are moved together, and given back', async () => {
  // High enough that nothing scrolls: further down, changes of others wait until they are asked for.
  const { page, context, complaints } = await visit({ viewport: { width: 1280, height: 1200 } });
  const key = await board(page, 'keys@example.org');
  expect(await bar(page).isVisible()).toBe(false);
  await page.locator('#card-1').focus();
  await page.keyboard.press('x');
  await page.getByText('1 selected').waitFor();
  await page.locator('#card-3').focus();
  await page.keyboard.press('Shift+X');
  await page.getByText('3 selected').waitFor();
  await page.locator('#task-5').click({ modifiers: ['Shift'] });
  await page.getByText('5 selected').waitFor();
  await page.locator('#card-2').focus();
  await page.keyboard.press('x');
  await page.getByText('4 selected').waitFor();
  // What an agent does meanwhile leaves the selection as it is.
  await structured(hub, 'update_task', { id: 6, content: 'Changed by an agent' }, key);
  await page.locator('#card-6', { hasText: 'Changed by an agent' }).waitFor();
  await page.getByText('4 selected').waitFor();
  await bar(page).getByLabel('Column').selectOption('In progress');
  await bar(page).getByRole('button', { name: 'Change' }).click();
  await page.getByText('4 tasks changed.').waitFor();
  for (const id of [1, 3, 4, 5]) await inColumn(page, 'in_progress', id).waitFor();
  expect([await inColumn(page, 'todo', 2).count(), await bar(page).isVisible()]).toEqual([1, false]);
  await page.keyboard.press('u');
  await page.getByText('Undone.').waitFor();
  expect(await page.locator('[data-column="todo"] .card').count()).toBe(6);
  // Escape clears a selection.
  await page.keyboard.press('Escape');
  await page.locator('#card-1').focus();
  await page.keyboard.press('x');
  await page.keyboard.press('Escape');
  await bar(page).waitFor({ state: 'hidden' });
  expect(complaints).toEqual([]);
  await context.close();
});

test.each(SCRIPTS)(
  '[WEB-25, WEB-5] %s, boxes select cards that are finished together',
  async (name, javaScriptEnabled) => {
    const { page, context, complaints } = await visit({ javaScriptEnabled, viewport: { width: 390, height: 844 } });
    await board(page, `boxes-${name.replace(' ', '-')}@example.org`);
    await page.getByLabel('Select', { exact: true }).check();
    for (const id of [2, 4]) await page.getByLabel(`Select: Task ${id}`).check();
    await bar(page).getByRole('button', { name: 'Mark done' }).click();
    await page.getByText('2 tasks done.').waitFor();
    expect(await page.locator('[data-column="todo"] .card').count()).toBe(4);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Undone.').waitFor();
    expect(await page.locator('[data-column="todo"] .card').count()).toBe(6);
    expect(complaints).toEqual([]);
    await context.close();
  },
);

async function centre(locator: Locator): Promise<{ readonly x: number; readonly y: number }> {
  const box = await locator.boundingBox();
  if (box === null) throw new Error('it is not in sight');
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

/** A finger as the screen reports it: it rests, moves in steps, and is taken off. */
async function drag(client: CDPSession, from: Locator, to: { readonly x: number; readonly y: number }, restMs: number) {
  const start = await centre(from);
  const send = (type: 'touchStart' | 'touchMove' | 'touchEnd', at?: { readonly x: number; readonly y: number }) =>
    client.send('Input.dispatchTouchEvent', { type, touchPoints: at === undefined ? [] : [at] });
  await send('touchStart', start);
  await new Promise((resolve) => setTimeout(resolve, restMs));
  for (let step = 1; step <= 5; step += 1) {
    const part = (a: number, b: number) => a + ((b - a) * step) / 5;
    await send('touchMove', { x: part(start.x, to.x), y: part(start.y, to.y) });
  }
  await send('touchEnd');
}

test('[WEB-25] a finger that rests on a card moves it: in its column, and onto the tab of another', async () => {
  const { page, context, complaints } = await visit({
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    isMobile: true,
  });
  const key = await board(page, 'finger@example.org');
  const client = await context.newCDPSession(page);
  const order = () => page.locator('[data-column="todo"] .card-text').allTextContents();
  const first = await page.locator('#task-1').boundingBox();
  await drag(client, page.locator('#task-3'), { x: 150, y: (first?.y ?? 0) + 3 }, 700);
  await page.getByText('Task moved.').waitFor();
  expect((await order()).slice(0, 3)).toEqual(['Task 3', 'Task 1', 'Task 2']);
  await drag(client, page.locator('#task-1'), await centre(page.locator('#tab-done')), 700);
  await page.getByText('Moved to Done.').waitFor();
  expect(await structured(hub, 'list_tasks', { status: 'done' }, key)).toMatchObject({ tasks: [{ id: 1 }] });
  expect(complaints).toEqual([]);
  // A finger that moves at once scrolls, and moves no card.
  await drag(client, page.locator('#task-4'), await centre(page.locator('#task-2')), 0);
  await page.waitForTimeout(500);
  expect(await order()).toEqual(['Task 3', 'Task 2', 'Task 4', 'Task 5', 'Task 6']);
  expect(await page.locator('.is-lifted').count()).toBe(0);
  await context.close();
});
