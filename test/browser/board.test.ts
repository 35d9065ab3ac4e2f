/** The task board in a real browser: by mouse, by keyboard alone, by dragging, with script and without. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { SCRIPTS, signUp } from '../support/browser.ts';
import { PASSWORD, structured } from '../support/gateway.ts';
import { useBrowser } from '../support/use-browser.ts';

const { hub, visit } = useBrowser();

const column = (page: Page, name: string) => page.locator('.column', { has: page.getByRole('heading', { name }) });

/** Resolves when a card of this text stands in a column. */
const cardIn = (page: Page, name: string, text: string) =>
  column(page, name).locator('.card', { hasText: text }).waitFor();

/** Opens the menu of a card and chooses there. */
async function choose(page: Page, text: string, act: string): Promise<void> {
  const menu = page.locator('.card', { hasText: text }).locator('.menu');
  await menu.locator('summary').click();
  await menu.getByText(act, { exact: true }).click();
}

describe.each(SCRIPTS)('%s', (name, javaScriptEnabled) => {
  const email = `board-${name.replace(' ', '-')}@example.org`;

  test('[WEB-1, WEB-5] a task is added, moved, edited, finished and deleted', async () => {
    const { page, context, complaints } = await visit({ javaScriptEnabled });
    const key = await signUp(page, email, PASSWORD);
    await page.locator('.tabs').getByRole('link', { name: 'Tasks' }).click();
    await page.getByLabel('New task').fill('Water the plants');
    await page.getByRole('button', { name: 'Add' }).click();
    await cardIn(page, 'To do', 'Water the plants');
    await choose(page, 'Water the plants', 'In progress');
    await cardIn(page, 'In progress', 'Water the plants');
    await page.getByRole('link', { name: 'Water the plants' }).click();
    await page.getByLabel('Task', { exact: true }).fill('Water all plants');
    await page.getByLabel('Due date').fill('2030-02-28');
    await page.getByRole('button', { name: 'Save' }).click();
    await cardIn(page, 'In progress', 'due 28 Feb 2030');
    await page.getByRole('button', { name: 'Mark done: Water all plants' }).click();
    await cardIn(page, 'Done', 'Water all plants');
    expect(await structured(hub, 'list_tasks', {}, key)).toMatchObject({
      tasks: [{ content: 'Water all plants', kanban_status: 'done', due_date: '2030-02-28' }],
    });
    await page.getByRole('button', { name: 'Undo' }).click();
    await cardIn(page, 'In progress', 'Water all plants');
    await page.getByRole('link', { name: 'Water all plants' }).click();
    await page.getByRole('button', { name: 'Delete this task' }).click();
    await page.getByRole('button', { name: 'Undo' }).click();
    await cardIn(page, 'In progress', 'Water all plants');
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('[WEB-5] the keyboard alone adds a task and moves it', async () => {
    const { page, context } = await visit({ javaScriptEnabled });
    await signUp(page, `keys-${email}`, PASSWORD);
    await page.goto('/tasks');
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').textContent()).toContain('Skip to content');
    await page.keyboard.press('Enter');
    for (let presses = 0; presses < 3; presses += 1) await page.keyboard.press('Tab');
    await page.keyboard.type('Typed');
    await page.keyboard.press('Enter');
    await cardIn(page, 'To do', 'Typed');
    // The next task is typed at once.
    await page.keyboard.type('Typed as well');
    await page.keyboard.press('Enter');
    await cardIn(page, 'To do', 'Typed as well');
    const press = async (label: string) => {
      for (let presses = 0; presses < 40; presses += 1) {
        const focused = page.locator(':focus');
        const named = `${await focused.getAttribute('aria-label')} ${await focused.textContent()}`;
        if (named.includes(label)) break;
        await page.keyboard.press('Tab');
      }
      await page.keyboard.press('Enter');
    };
    await press('Actions for Typed');
    await press('Move to In progress: Typed');
    await cardIn(page, 'In progress', 'Typed');
    await context.close();
  });
});

test('[WEB-5] with script a card is dragged to another column', async () => {
  const { page, context, complaints } = await visit();
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

test('[WEB-5] cards are ordered by dragging and by the keyboard alike, and the order stays', async () => {
  const { page, context, complaints } = await visit();
  await signUp(page, 'order@example.org', PASSWORD);
  await page.goto('/tasks');
  for (const content of ['One', 'Two', 'Three']) {
    await page.getByLabel('New task').fill(content);
    await page.keyboard.press('Enter');
    await cardIn(page, 'To do', content);
  }
  const order = async () => (await column(page, 'To do').locator('.card-text').allTextContents()).join(' ');
  const becomes = async (wanted: string) => {
    while ((await order()) !== wanted) await page.waitForTimeout(50);
  };
  expect(await order()).toBe('One Two Three');
  await page.locator('#task-3').dragTo(page.locator('#task-1'), {
    targetPosition: { x: 40, y: 3 },
  });
  await becomes('Three One Two');
  await page.getByRole('button', { name: 'Undo' }).click();
  await becomes('One Two Three');
  await page.locator('#card-2').focus();
  await page.keyboard.press('Shift+ArrowUp');
  await becomes('Two One Three');
  await page.keyboard.press('Shift+ArrowRight');
  await cardIn(page, 'In progress', 'Two');
  // The focus goes with the card.
  expect(await page.locator(':focus').textContent()).toBe('Two');
  await page.reload();
  expect(await order()).toBe('One Three');
  expect(complaints).toEqual([]);
  await context.close();
});

test('[WEB-5] what is typed into the search narrows the board and its address', async () => {
  const { page, context, complaints } = await visit();
  const key = await signUp(page, 'filter@example.org', PASSWORD);
  for (const content of ['Water the plants', 'Call the bank']) await structured(hub, 'create_task', { content }, key);
  await page.goto('/tasks');
  await page.getByPlaceholder('Search tasks').pressSequentially('bank');
  await page.locator('.card', { hasText: 'Water' }).waitFor({ state: 'detached' });
  await cardIn(page, 'To do', 'Call the bank');
  expect(new URL(page.url()).search).toContain('q=bank');
  expect(await page.getByPlaceholder('Search tasks').inputValue()).toBe('bank');
  await page.reload();
  expect(await page.locator('.card').count()).toBe(1);
  expect(complaints).toEqual([]);
  await context.close();
});
