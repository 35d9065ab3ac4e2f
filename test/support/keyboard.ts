/** Uses a page by keyboard alone: nothing here moves a pointer or sets a focus. */
import type { Page } from 'playwright-core';

/** More than the elements of any page that take the focus. */
const PRESSES_MAX = 150;

/** What the focused element is called: by its label, else by its own text. */
export async function focusedName(page: Page): Promise<string> {
  const name = await page.evaluate<string>(`(() => {
    const one = document.activeElement;
    return one.ariaLabel ?? (one.labels?.length > 0 ? one.labels[0].textContent : one.textContent);
  })()`);
  return name.replaceAll(/\s+/g, ' ').trim();
}

/** Presses Tab until an element of this name has the focus. */
export async function tabTo(page: Page, name: string): Promise<void> {
  const passed: string[] = [];
  for (let presses = 0; presses < PRESSES_MAX; presses += 1) {
    await page.keyboard.press('Tab');
    const found = await focusedName(page);
    if (found === name) return;
    passed.push(found.slice(0, 40));
  }
  throw new Error(`the Tab key does not reach “${name}”, only: ${[...new Set(passed)].join(' | ')}`);
}

/** Goes to a field by Tab and types in it, over what it contains. */
export async function write(page: Page, name: string, text: string): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.press('Control+a');
  await page.keyboard.type(text);
}

/** Goes to an element by Tab and presses Enter there. */
export async function press(page: Page, name: string): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.press('Enter');
}

/** Waits for the notice of an act. */
export const says = (page: Page, text: string) => page.locator('#notices').getByText(text).waitFor();
/** Waits for the page with this heading. */
export const headed = (page: Page, name: string) =>
  page.getByRole('heading', { name, exact: true, level: 1 }).waitFor();

/** A shortcut of a letter after `g`. */
export async function go(page: Page, letter: string, heading: string): Promise<void> {
  await page.keyboard.press('g');
  await page.keyboard.press(letter);
  await headed(page, heading);
}
