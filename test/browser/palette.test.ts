/** The keyboard: one palette for everything, one meaning for each key, and the keys that save. */
import { expect, test } from 'vitest';
import { signUp } from '../support/browser.ts';
import { PASSWORD, structured } from '../support/gateway.ts';
import { headed } from '../support/keyboard.ts';
import { Device } from '../support/sync.ts';
import { useBrowser } from '../support/use-browser.ts';

const { hub, visit } = useBrowser();

test('[WEB-21] Ctrl+K goes, acts and finds on any page, by keyboard alone', async () => {
  const { page, context, complaints } = await visit();
  const key = await signUp(page, 'palette@example.org', PASSWORD);
  await structured(hub, 'create_task', { content: 'Water the saffron' }, key);
  const { vault_id: vault } = await new Device(hub, key).push('notes/plan.md', '# Plan\n');
  const { keyboard } = page;
  for (const path of ['/', '/tasks', '/settings', `/vaults/${vault}/edit?path=notes%2Fplan.md`, '/help']) {
    await page.goto(path);
    await keyboard.press('Control+k');
    await keyboard.type('vaul');
    await page.getByRole('option', { name: 'Vaults' }).waitFor();
    await keyboard.press('Enter');
    await headed(page, 'Vaults');
  }
  await keyboard.press('Control+k');
  await keyboard.type('saffron');
  await page.getByRole('option', { name: 'Water the saffron' }).waitFor();
  await keyboard.press('Enter');
  await headed(page, 'Edit task');
  await keyboard.press('Control+k');
  await keyboard.type('new ta');
  await keyboard.press('Enter');
  await headed(page, 'Tasks');
  await keyboard.type('Typed at once');
  await keyboard.press('Enter');
  await page.locator('.card', { hasText: 'Typed at once' }).waitFor();
  await keyboard.press('Control+k');
  await keyboard.press('Escape');
  await page.getByRole('listbox').waitFor({ state: 'hidden' });
  expect(complaints).toEqual([]);
  await context.close();
});

test('[WEB-21] Ctrl+S and Ctrl+Enter save, / searches on every page, f filters the board', async () => {
  const { page, context, complaints } = await visit();
  const key = await signUp(page, 'save@example.org', PASSWORD);
  const { vault_id: vault } = await new Device(hub, key).push('plan.txt', 'one\n');
  const { keyboard } = page;
  for (const [combination, text] of [
    ['Control+s', 'two'],
    ['Control+Enter', 'three'],
  ] as const) {
    await page.goto(`/vaults/${vault}/edit?path=plan.txt`);
    await page.getByLabel('Content').fill(text);
    await keyboard.press(combination);
    await page.getByText('File saved.').waitFor();
    expect(await page.getByRole('group', { name: 'Content of the file' }).textContent()).toBe(text);
  }
  await page.goto('/tasks');
  await keyboard.press('f');
  expect(await page.evaluate('document.activeElement.id')).toBe('filter-q');
  await keyboard.press('Escape');
  await keyboard.press('/');
  await page.waitForURL('**/search');
  await keyboard.press('/');
  expect(await page.evaluate('document.activeElement.id')).toBe('search-q');
  await keyboard.press('Escape');
  await keyboard.press('?');
  const listed = await page.locator('#shortcuts dt').allTextContents();
  for (const named of ['Ctrl K', '/', 'n', 'f', 'Ctrl S, Ctrl Enter', 'u', '?']) expect(listed).toContain(named);
  expect(complaints).toEqual([]);
  await context.close();
});

test('[WEB-22] a text runs in its own direction: Arabic from the right, and a paragraph of it in an English note too', async () => {
  const { page, context } = await visit();
  const key = await signUp(page, 'direction@example.org', PASSWORD);
  const arabic = 'مرحبا بالعالم';
  const device = new Device(hub, key);
  const { vault_id: vault } = await device.push('arabic.md', `# ${arabic}\n\n${arabic}\n\n- ${arabic}\n`);
  await device.push('mixed.md', `# English\n\nFirst words.\n\n${arabic}\n`);
  await page.goto(`/vaults/${vault}/file?path=arabic.md`);
  const directions = `['h2', 'p', 'ul'].map((one) => getComputedStyle(document.querySelector('.prose ' + one)).direction)`;
  expect(await page.evaluate(directions)).toEqual(['rtl', 'rtl', 'rtl']);
  await page.goto(`/vaults/${vault}/file?path=mixed.md`);
  /** How far each paragraph's text is from the left and the right edge of the note. */
  const gaps = await page.evaluate<
    { left: number; right: number }[]
  >(`[...document.querySelectorAll('.prose p')].map((one) => {
    const range = new Range();
    range.selectNodeContents(one);
    const [text, box] = [range.getBoundingClientRect(), one.getBoundingClientRect()];
    return { left: Math.round(text.left - box.left), right: Math.round(box.right - text.right) };
  })`);
  expect(gaps).toMatchObject([{ left: 0 }, { right: 0 }]);
  await context.close();
});
