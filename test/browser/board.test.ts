/** The task board in a real browser: by mouse, by keyboard alone, by dragging, with script and without. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PASSWORD, structured } from '../support/gateway.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { launch, SCRIPTS, signUp, visitor } from './browser.ts';

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

const column = (page: Page, name: string) => page.locator('.column', { has: page.getByRole('heading', { name }) });

/** Resolves when a card of this text stands in a column. */
const cardIn = (page: Page, name: string, text: string) =>
  column(page, name).locator('.card', { hasText: text }).waitFor();

describe.each(SCRIPTS)('%s', (name, javaScriptEnabled) => {
  const email = `board-${name.replace(' ', '-')}@example.org`;

  test('[WEB-1, WEB-5] a task is added, moved, edited, finished and deleted', async () => {
    const { page, context, complaints } = await visitor(browser, hub, { javaScriptEnabled });
    const key = await signUp(page, email, PASSWORD);
    await page.locator('.tabs').getByRole('link', { name: 'Tasks' }).click();
    await page.getByLabel('New task').fill('Water the plants');
    await page.getByRole('button', { name: 'Add' }).click();
    await cardIn(page, 'To do', 'Water the plants');
    await page.getByRole('button', { name: 'Move to In progress: Water the plants' }).click();
    await cardIn(page, 'In progress', 'Water the plants');
    await page.getByRole('link', { name: 'Edit Water the plants' }).click();
    await page.getByLabel('Task', { exact: true }).fill('Water all plants');
    await page.getByLabel('Due date').fill('2030-02-28');
    await page.getByRole('button', { name: 'Save' }).click();
    await cardIn(page, 'In progress', 'due 28 Feb 2030');
    await page.getByRole('button', { name: 'Move to Done: Water all plants' }).click();
    await cardIn(page, 'Done', 'Water all plants');
    expect(await structured(hub, 'list_tasks', {}, key)).toMatchObject({
      tasks: [{ content: 'Water all plants', kanban_status: 'done', due_date: '2030-02-28' }],
    });
    await page.getByRole('link', { name: 'Edit Water all plants' }).click();
    await page.getByRole('button', { name: 'Delete this task' }).click();
    await page.getByRole('button', { name: 'Bring it back' }).click();
    await cardIn(page, 'Done', 'Water all plants');
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('[WEB-5] the keyboard alone adds a task and moves it', async () => {
    const { page, context } = await visitor(browser, hub, { javaScriptEnabled });
    await signUp(page, `keys-${email}`, PASSWORD);
    await page.goto('/tasks');
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').textContent()).toContain('Skip to content');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.type('Typed');
    await page.keyboard.press('Enter');
    await cardIn(page, 'To do', 'Typed');
    // The address names the task, so that the next Tab begins at its place on the board.
    expect(new URL(page.url()).hash).toBe('#task-1');
    for (const to of ['In progress', 'Done']) {
      for (let presses = 0; presses < 10; presses += 1) {
        await page.keyboard.press('Tab');
        if ((await page.locator(':focus').textContent())?.includes(`Move to ${to}`) === true) break;
      }
      await page.keyboard.press('Enter');
      await cardIn(page, to, 'Typed');
    }
    await context.close();
  });
});

test('[WEB-5] with script a card is dragged to another column', async () => {
  const { page, context, complaints } = await visitor(browser, hub);
  const key = await signUp(page, 'drag@example.org', PASSWORD);
  await page.goto('/tasks');
  await page.getByLabel('New task').fill('Drag me');
  await page.getByRole('button', { name: 'Add' }).click();
  await page.locator('.card', { hasText: 'Drag me' }).dragTo(column(page, 'In progress'));
  await cardIn(page, 'In progress', 'Drag me');
  expect(await structured(hub, 'list_tasks', {}, key)).toMatchObject({ tasks: [{ kanban_status: 'in_progress' }] });
  expect(complaints).toEqual([]);
  await context.close();
});
