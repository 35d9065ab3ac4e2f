/** What was just added or moved is shown and lit, whatever the order; the board uses the screen that it has. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { SCRIPTS, signUp } from '../support/browser.ts';
import { PASSWORD, structured } from '../support/gateway.ts';
import { useBrowser } from '../support/use-browser.ts';

const { hub, visit } = useBrowser();
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true };

async function fill(page: Page, email: string): Promise<string> {
  const key = await signUp(page, email, PASSWORD);
  for (let day = 1; day <= 26; day += 1) {
    await structured(
      hub,
      'create_task',
      { content: `Dated ${day}`, due_date: `2030-01-${day}`.replace(/-(\d)$/, '-0$1') },
      key,
    );
  }
  return key;
}

/** True when the whole element is in the window. */
const isInWindow = (page: Page, selector: string) =>
  page.evaluate<boolean>(`(() => {
    const { top, bottom } = document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  })()`);

describe.each(SCRIPTS)('%s', (name, javaScriptEnabled) => {
  const email = `shown-${name.replace(' ', '-')}@example.org`;

  test.each([
    ['by mouse', {}],
    ['by finger', PHONE],
  ])(
    '[WEB-19] %s: a task that is added to a long column is shown and lit, and so is one that is moved',
    async (how, device) => {
      const { page, context, complaints } = await visit({ javaScriptEnabled, ...device });
      await fill(page, `${how.replace(' ', '-')}-${email}`);
      const press = async (button: ReturnType<Page['locator']>) =>
        await (how === 'by finger' ? button.tap() : button.click());
      await page.goto('/tasks');
      await page.getByLabel('New task').fill('Zebra unicorn task');
      await press(page.getByRole('button', { name: 'Add' }));
      await page.locator('.card.is-lit', { hasText: 'Zebra unicorn task' }).waitFor();
      expect(await isInWindow(page, '.card.is-lit')).toBe(true);
      // The next one takes its place.
      await page.getByLabel('New task').fill('The next one');
      await press(page.getByRole('button', { name: 'Add' }));
      await page.locator('.card.is-lit', { hasText: 'The next one' }).waitFor();
      expect(await page.locator('.card.is-lit').count()).toBe(1);
      // A card in the middle is moved: its column shows it.
      const card = page.locator('.card', { hasText: 'Dated 9' });
      await press(card.locator('summary'));
      await press(card.getByRole('button', { name: 'Mark important' }));
      await page.locator('.card.is-lit', { hasText: 'Dated 9' }).waitFor();
      expect(await isInWindow(page, '.card.is-lit')).toBe(true);
      expect(complaints).toEqual([]);
      await context.close();
    },
  );
});

test('[WEB-19] a task that the filter leaves out is shown after it was added', async () => {
  const { page, context } = await visit();
  await fill(page, 'filtered@example.org');
  await page.goto('/tasks?q=Dated');
  await page.getByLabel('New task').fill('Something else');
  await page.getByRole('button', { name: 'Add' }).click();
  await page.locator('.card.is-lit', { hasText: 'Something else' }).waitFor();
  await context.close();
});

test.each([
  ['/tasks', 390],
  ['/tasks?group=due', 390],
  ['/tasks?group=due', 360],
])('[WEB-19] on a phone the first card of %s is in the upper third, at %i px', async (path, width) => {
  const size = { width, height: 844 };
  const { page, context } = await visit({ ...PHONE, viewport: size });
  await fill(page, `third-${path.length}-${width}@example.org`);
  await page.goto(path);
  const top = await page.evaluate<number>(`document.querySelector('.column.is-tab .card').getBoundingClientRect().top`);
  expect(top).toBeLessThan(size.height / 3);
  await context.close();
});

test('[WEB-19] on a phone the filter is one press away', async () => {
  const { page, context } = await visit(PHONE);
  await fill(page, 'third@example.org');
  await page.goto('/tasks');
  expect(await page.getByPlaceholder('Search tasks').isVisible()).toBe(false);
  await page.getByText('Filter', { exact: true }).first().tap();
  await page.getByPlaceholder('Search tasks').tap();
  await page.keyboard.type('Dated 17');
  await page.locator('.card', { hasText: 'Dated 16' }).waitFor({ state: 'detached' });
  expect(await page.getByPlaceholder('Search tasks').isVisible()).toBe(true);
  await context.close();
});

test('[WEB-19] on a desk the columns use the width', async () => {
  const { page, context } = await visit({ viewport: { width: 1440, height: 900 } });
  await fill(page, 'width@example.org');
  await page.goto('/tasks');
  const width = await page.evaluate<number>(`document.querySelector('.board').getBoundingClientRect().width`);
  expect(width).toBeGreaterThan(1440 * 0.9);
  await context.close();
});
