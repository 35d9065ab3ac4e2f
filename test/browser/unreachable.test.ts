/** Forms that are sent while the hub cannot be reached, in a real browser. */
import { expect, test } from 'vitest';
import { signUp } from '../support/browser.ts';
import { PASSWORD, structured } from '../support/gateway.ts';
import { startHub } from '../support/hub.ts';
import { Device } from '../support/sync.ts';
import { useBrowser } from '../support/use-browser.ts';

const { visit } = useBrowser();

const SAID = 'Cairn cannot be reached. Nothing was sent';

test('[WEB-5] a short form, or a button, that is pressed while the hub is down stays on the page, and works when it is back', async () => {
  const env = { CAIRN_PORT: String(12_000 + Math.floor(Math.random() * 18_000)) };
  const first = await startHub({ env });
  const { page, context } = await visit({}, first);
  const key = await signUp(page, 'short@example.org', PASSWORD);
  const { vault_id: vault } = await new Device(first, key).push('old.txt', 'text');
  await page.goto(`/vaults/${vault}/file?path=old.txt`);
  await page.locator('summary', { hasText: 'Rename' }).click();
  await page.getByLabel('New path').fill('new.txt');
  const board = await context.newPage();
  await board.goto('/tasks');
  await board.getByLabel('New task').fill('Typed while it was down');
  const signIn = await (await context.browser()?.newContext({ baseURL: first.url }))?.newPage();
  if (signIn === undefined) throw new Error('the browser is gone');
  await signIn.goto('/signin');
  await signIn.getByLabel('Email').fill('short@example.org');
  await signIn.getByLabel('Password').fill(PASSWORD);
  const keys = await context.newPage();
  await keys.goto('/settings');
  await first.stop();

  const shown = [
    [page, page.getByRole('button', { name: 'Rename', exact: true })],
    [board, board.getByRole('button', { name: 'Add' })],
    [signIn, signIn.getByRole('button', { name: 'Sign in' })],
    [keys, keys.locator('header').getByRole('button', { name: 'Sign out' })],
  ] as const;
  for (const [tab, button] of shown) {
    await button.click();
    await tab.getByText(SAID).waitFor();
  }
  expect(await page.getByLabel('New path').inputValue()).toBe('new.txt');
  expect(await board.getByLabel('New task').inputValue()).toBe('Typed while it was down');
  expect(await signIn.getByLabel('Email').inputValue()).toBe('short@example.org');

  const second = await startHub({ dataFolder: first.dataFolder, env });
  // The board finds the hub again before anything is pressed: it still says that the task was not sent.
  await structured(second, 'create_task', { content: 'By an agent' }, key);
  await board.locator('.card', { hasText: 'By an agent' }).waitFor();
  for (const [tab] of shown) await tab.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('heading', { name: 'new.txt' }).waitFor();
  await board.locator('.card', { hasText: 'Typed while it was down' }).waitFor();
  await signIn.getByRole('heading', { name: 'Welcome' }).waitFor();
  await keys.getByText('You are signed out.').waitFor();
  expect(await structured(second, 'list_tasks', {}, key)).toMatchObject({ count: 2 });
  await signIn.context().close();
  await context.close();
  await second.stop();
});
