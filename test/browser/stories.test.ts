/** What goes wrong around a page in a real browser: dropped files, double clicks, two tabs, a hub that restarts. */
import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { signUp } from '../support/browser.ts';
import { PASSWORD, structured } from '../support/gateway.ts';
import { runCairn, startHub } from '../support/hub.ts';
import { Device } from '../support/sync.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { useBrowser } from '../support/use-browser.ts';

const { hub, visit } = useBrowser();

/** Writes a text on a page of its own, without sending it. */
async function writeOn(page: Page, path: string, label: string, text: string): Promise<void> {
  await page.goto(path);
  await page.getByLabel(label, { exact: true }).fill(text);
}

const save = (page: Page) => page.getByRole('button', { name: 'Save' }).click();

test('[WEB-12] files dropped on a folder are uploaded into it', async () => {
  const { page, context, complaints } = await visit();
  const device = new Device(hub, await signUp(page, 'drop@example.org', PASSWORD));
  const { vault_id: vault } = await device.push('notes/there.md', 'there');
  await page.goto(`/vaults/${vault}?folder=notes`);
  await page.evaluate(`(() => {
    const dataTransfer = new DataTransfer();
    for (const name of ['one.txt', 'zwei ü.txt']) dataTransfer.items.add(new File(['text of ' + name], name));
    for (const type of ['dragover', 'drop']) {
      document.querySelector('main').dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer }));
    }
  })()`);
  await page.getByText('2 files uploaded.').waitFor();
  await page.getByRole('link', { name: 'zwei ü.txt' }).click();
  expect(await page.getByRole('group', { name: 'Content of the file' }).textContent()).toBe('text of zwei ü.txt');
  expect(complaints).toEqual([]);
  await context.close();
});

test('[WEB-5] a double click sends a form once', async () => {
  const { page, context } = await visit();
  const key = await signUp(page, 'twice@example.org', PASSWORD);
  await page.goto('/documents/papers/new');
  await page.getByLabel('Title').fill('Once');
  await page.getByRole('button', { name: 'Save' }).dblclick();
  await page.getByRole('heading', { name: 'Once' }).waitFor();
  expect(await structured(hub, 'list_papers', {}, key)).toMatchObject({ papers: [{ title: 'Once' }] });
  await page.goto('/tasks');
  await page.getByLabel('New task').fill('Once');
  await page.getByRole('button', { name: 'Add' }).dblclick();
  await page.locator('.card', { hasText: 'Once' }).waitFor();
  await page.reload();
  expect(await page.locator('.card').count()).toBe(1);
  await context.close();
});

test('[WEB-9] a task that is typed while the one before it is on its way stays in the field', async () => {
  const { page, context } = await visit();
  await signUp(page, 'fast@example.org', PASSWORD);
  await page.goto('/tasks');
  await page.route('**/tasks', async (route) => {
    if (route.request().method() === 'POST') await new Promise((resolve) => setTimeout(resolve, 500));
    await route.continue();
  });
  const field = page.getByLabel('New task');
  await field.fill('The first');
  await field.press('Enter');
  await field.fill('The second');
  await page.locator('.card', { hasText: 'The first' }).waitFor();
  expect(await field.inputValue()).toBe('The second');
  await field.press('Enter');
  await page.locator('.card', { hasText: 'The second' }).waitFor();
  expect(await field.inputValue()).toBe('');
  await context.close();
});

test('[WEB-1, WEB-15] of two tabs that edit the same, the second is refused and shows both texts', async () => {
  const { page, context } = await visit();
  const key = await signUp(page, 'tabs@example.org', PASSWORD);
  await structured(hub, 'create_task', { content: 'Begun' }, key);
  await structured(hub, 'create_paper', { title: 'Begun', content: 'Begun' }, key);
  const device = new Device(hub, key);
  const { vault_id: vault } = await device.push('today.txt', 'Begun');
  const other = await context.newPage();
  for (const [path, label] of [
    ['/tasks/1', 'Task'],
    ['/documents/papers/1/edit', 'Content'],
  ] as const) {
    await writeOn(page, path, label, 'By the first tab');
    await writeOn(other, path, label, 'By the second tab');
    await save(page);
    await page.getByText(/^(Task )?saved\.$/i).waitFor();
    await save(other);
    await other.getByText('was changed elsewhere').waitFor();
    expect(await other.getByLabel(label, { exact: true }).inputValue()).toBe('By the second tab');
    expect(await other.getByRole('group', { name: 'The text saved elsewhere' }).textContent()).toBe('By the first tab');
    await save(other);
    await other.getByText(/^(Task )?saved\.$/i).waitFor();
  }
  const edit = `/vaults/${vault}/edit?path=today.txt`;
  await writeOn(page, edit, 'Content', 'By the first tab');
  await writeOn(other, edit, 'Content', 'By the second tab');
  await save(page);
  await page.getByText('File saved.').waitFor();
  await save(other);
  await other.getByText('was changed elsewhere since you opened it').waitFor();
  await other.getByRole('button', { name: /^Keep the hub version/ }).waitFor();
  await context.close();
});

test('[WEB-5, WEB-15] a text that is sent while the hub is down stays on the page, and is sent when it is back', async () => {
  const env = { CAIRN_PORT: String(12_000 + Math.floor(Math.random() * 18_000)) };
  const first = await startHub({ env });
  const { page, context } = await visit({}, first);
  const key = await signUp(page, 'down@example.org', PASSWORD);
  await page.goto('/documents/papers/new');
  await page.getByLabel('Title').fill('Written');
  await page.getByLabel('Content').fill('before the stop');
  await first.stop();
  await save(page);
  await page.getByText('Nothing was sent, and your text is still here.').waitFor();
  expect(await page.getByLabel('Content').inputValue()).toBe('before the stop');
  const second = await startHub({ dataFolder: first.dataFolder, env });
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('heading', { name: 'Written' }).waitFor();
  expect(await structured(second, 'list_papers', {}, key)).toMatchObject({ papers: [{ title: 'Written' }] });
  await context.close();
  await second.stop();
});

test('[WEB-5, WEB-12] without a network nothing that was chosen or typed is lost, and too large files are not sent', async () => {
  const { page, context, complaints } = await visit({ viewport: { width: 360, height: 640 } });
  const device = new Device(hub, await signUp(page, 'tunnel@example.org', PASSWORD));
  const { vault_id: vault } = await device.push('there.md', 'there');
  await page.goto(`/vaults/${vault}`);
  await page.locator('summary', { hasText: 'Upload' }).click();
  const files = page.locator('input[type="file"]');
  const send = page.getByRole('button', { name: 'Upload', exact: true });
  let sent = 0;
  page.on('request', (request) => {
    sent += request.method() === 'POST' ? 1 : 0;
  });
  const folder = temporaryFolder();
  const film = async (name: string, bytes: number) => {
    await writeFile(join(folder, name), '');
    await truncate(join(folder, name), bytes);
    return join(folder, name);
  };
  const why = () => page.evaluate(`document.querySelector('input[type="file"]').validationMessage`);
  await files.setInputFiles([await film('film.mp4', 10 * 2 ** 20 + 1), await film('short.mp4', 10 * 2 ** 20)]);
  await send.click();
  expect([sent, await why()]).toEqual([0, 'Larger than 10 MiB: “film.mp4”. Choose without.']);
  await files.setInputFiles(await Promise.all([1, 2, 3, 4, 5].map((at) => film(`${at}.mp4`, 9 * 2 ** 20))));
  expect(await why()).toBe('Together these files are larger than 40 MiB. Choose fewer.');
  await files.setInputFiles({ name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('chosen') });
  await context.setOffline(true);
  await send.click();
  await page.getByText('Cairn cannot be reached. Nothing was sent').waitFor();
  await context.setOffline(false);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('1 file uploaded.').waitFor();
  await page.goto('/settings');
  await page.getByLabel('Name of a new key').fill('For the phone');
  await context.setOffline(true);
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByText('Nothing was sent, and your text is still here.').waitFor();
  await context.setOffline(false);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('For the phone').first().waitFor();
  expect(complaints.filter((one) => !one.includes('ERR_INTERNET_DISCONNECTED'))).toEqual([]);
  await context.close();
});

test('[WEB-9, WEB-12] an undo, and a form of an ended session, say on the page that they lead to what they did', async () => {
  const { page, context, complaints } = await visit();
  const device = new Device(hub, await signUp(page, 'undone@example.org', PASSWORD));
  const { vault_id: vault } = await device.push('notes/there.md', 'there');
  await page.goto(`/vaults/${vault}/file?path=notes%2Fthere.md`);
  await page.locator('summary', { hasText: 'Delete' }).click();
  await page.getByRole('button', { name: 'Delete this file' }).click();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.locator('#notices', { hasText: 'was restored.' }).waitFor();
  await page.goto('/tasks');
  await page.getByLabel('New task').fill('Half typed');
  await context.clearCookies();
  await page.getByRole('button', { name: 'Add' }).click();
  await page.getByText('You were signed out. Your text is kept. Sign in to send it.').waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('[WEB-6] after a form came back, neither Back nor Reload nor its address leads to an error page', async () => {
  const { page, context, complaints } = await visit();
  await signUp(page, 'again@example.org', PASSWORD);
  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await page.getByText('You are signed out.').waitFor();
  await page.getByRole('link', { name: 'Sign in' }).first().click();
  for (const password of ['not mine', PASSWORD]) {
    await page.getByLabel('Email').fill('again@example.org');
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText(password === PASSWORD ? 'Welcome' : 'Email or password is wrong.').waitFor();
  }
  await page.goBack();
  await page.goto('/settings');
  await page.getByLabel('Current password').fill('not mine');
  await page.getByLabel('New password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Change password' }).click();
  await page.getByText('This is not your current password.').waitFor();
  expect(page.url()).toBe(`${hub.url}/settings`);
  await page.reload();
  await page.getByRole('heading', { name: 'Settings' }).waitFor();
  await page.goto('/settings/password');
  expect(page.url()).toBe(`${hub.url}/settings`);
  expect(complaints).toEqual([]);
  await context.close();
});

test('[WEB-5] while a form is on its way, the page says so', async () => {
  const { page, context } = await visit();
  await signUp(page, 'slow@example.org', PASSWORD);
  await page.goto('/tasks');
  let go = () => {};
  const slow = new Promise<void>((resolve) => {
    go = resolve;
  });
  await page.route('**/tasks', async (route) => {
    if (route.request().method() === 'POST') await slow;
    await route.continue();
  });
  const bar = () => page.evaluate(`getComputedStyle(document.documentElement, '::before').content`);
  expect(await bar()).toBe('none');
  await page.getByLabel('New task').fill('Slowly');
  await page.getByRole('button', { name: 'Add' }).click();
  expect(await bar()).toBe('""');
  go();
  await page.locator('.card', { hasText: 'Slowly' }).waitFor();
  await page.locator('form[aria-busy="true"]').waitFor({ state: 'detached' });
  expect(await bar()).toBe('none');
  await context.close();
});

test('[WEB-5] who goes back finds the text that was being written', async () => {
  const { page, context, complaints } = await visit();
  await signUp(page, 'back@example.org', PASSWORD);
  await writeOn(page, '/documents/papers/new', 'Content', 'Half a thought');
  await page.locator('.tabs').getByRole('link', { name: 'Tasks' }).click();
  await page.getByRole('heading', { name: 'Tasks', exact: true }).waitFor();
  await page.goBack();
  expect(await page.getByLabel('Content').inputValue()).toBe('Half a thought');
  expect(complaints).toEqual([]);
  await context.close();
});

test('[WEB-5] at 200 % and 400 %, in print and without motion, a page stays whole', async () => {
  const { page, context } = await visit({ reducedMotion: 'reduce' });
  const key = await signUp(page, 'zoom@example.org', PASSWORD);
  await structured(hub, 'create_task', { content: `Long${'word'.repeat(40)}` }, key);
  await new Device(hub, key).push(`notes/${'long-name'.repeat(10)}.md`, '# Notes');
  // A zoom makes the viewport narrower: 1280 pixels at 200 % and at 400 % (WCAG 1.4.10).
  for (const width of [640, 320]) {
    await page.setViewportSize({ width, height: 512 });
    for (const path of ['/', '/tasks', '/tasks/1', '/vaults', '/documents/papers/new', '/search?q=long', '/settings']) {
      await page.goto(path);
      const [scrolled, seen] = await page.evaluate<[number, number]>(
        '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
      );
      expect([width, path, scrolled]).toEqual([width, path, seen]);
    }
  }
  const moving = await page.evaluate(`[...document.querySelectorAll('*')].map((one) => getComputedStyle(one))
    .filter((style) => style.transitionDuration !== '0s' || style.animationName !== 'none' || style.scrollBehavior !== 'auto').length`);
  expect(moving).toBe(0);
  await page.goto('/tasks');
  await page.emulateMedia({ media: 'print' });
  expect(await page.locator('.top').isVisible()).toBe(false);
  expect(await page.locator('.card').isVisible()).toBe(true);
  await context.close();
});

test('[WEB-8] an open page says that the hub is gone, and goes on by itself when it is back', async () => {
  const env = { CAIRN_PORT: String(12_000 + Math.floor(Math.random() * 18_000)) };
  const first = await startHub({ env });
  const { page, context } = await visit({}, first);
  const key = await signUp(page, 'restart@example.org', PASSWORD);
  await page.goto('/tasks');
  await page.getByLabel('New task').fill('Half a thought');
  await first.stop();
  await page.getByText('Cairn cannot be reached.').waitFor();
  const second = await startHub({ dataFolder: first.dataFolder, env });
  await page.getByText('Cairn cannot be reached.').waitFor({ state: 'hidden' });
  await structured(second, 'create_task', { content: 'After the restart' }, key);
  await page.locator('.card', { hasText: 'After the restart' }).waitFor();
  expect(await page.getByLabel('New task').inputValue()).toBe('Half a thought');
  await context.close();
  await second.stop();
});

const kept = (page: Page) => page.evaluate<number>('Object.keys(sessionStorage).length');

async function signIn(page: Page, email: string): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

test('[WEB-6] text survives a session that ended and a hub that restarted in between; saving removes it', async () => {
  const env = { CAIRN_PORT: String(12_000 + Math.floor(Math.random() * 18_000)) };
  const first = await startHub({ env });
  const { page, context } = await visit({}, first);
  const key = await signUp(page, 'ended@example.org', PASSWORD);
  const content = '</textarea><img src=x onerror="document.title=1">';
  await page.goto('/documents/papers/new');
  await page.getByLabel('Title').fill('Written');
  await page.getByLabel('Content').fill(content);
  const settings = { CAIRN_DATA: first.dataFolder, ...env };
  await runCairn(['account', 'password', '--email', 'ended@example.org'], settings, `${PASSWORD}\n`);
  await save(page);
  await page.getByText('Your text is kept.').waitFor();
  await first.stop();
  const second = await startHub({ dataFolder: first.dataFolder, env });
  await signIn(page, 'ended@example.org');
  await page.getByText('was not saved. It is kept in this tab.').waitFor();
  await page.getByRole('link', { name: 'Continue writing' }).click();
  await page.getByText(/^Your unsaved text from .* was restored\.$/).waitFor();
  expect(await page.getByLabel('Content').inputValue()).toBe(content);
  await save(page);
  await page.getByRole('heading', { name: 'Written' }).waitFor();
  expect(await structured(second, 'get_paper', { id: 1 }, key)).toMatchObject({ paper: { content } });
  expect(await kept(page)).toBe(0);
  await context.close();
  await second.stop();
});

test('[WEB-6] text that was being written returns in its tab, until it is discarded, or somebody signs out in any tab', async () => {
  const { page, context, complaints } = await visit();
  const key = await signUp(page, 'kept@example.org', PASSWORD);
  await structured(hub, 'create_paper', { title: 'Begun', content: 'Begun' }, key);
  await structured(hub, 'create_task', { content: 'Begun' }, key);
  await writeOn(page, '/documents/papers/1/edit', 'Content', 'Half a thought');
  await expect.poll(() => kept(page)).toBe(1);
  await page.reload();
  await page.getByText('was restored.').waitFor();
  expect(await page.getByLabel('Content').inputValue()).toBe('Half a thought');
  await page.getByRole('button', { name: 'Discard it' }).click();
  expect([await page.getByLabel('Content').inputValue(), await kept(page)]).toEqual(['Begun', 0]);
  await page.getByLabel('Content').fill('Another thought');
  await page.getByRole('link', { name: 'Cancel' }).click();
  await page.getByRole('heading', { name: 'Begun' }).waitFor();
  expect(await kept(page)).toBe(0);
  // A text based on a version that is not the current one any more is refused, with both texts.
  await writeOn(page, '/documents/papers/1/edit', 'Content', 'A third thought');
  await page.goto('/tasks');
  await structured(hub, 'update_paper', { id: 1, content: 'By an agent' }, key);
  await page.goto('/documents/papers/1/edit');
  expect(await page.getByLabel('Content').inputValue()).toBe('A third thought');
  await save(page);
  await page.getByRole('group', { name: 'The text saved elsewhere' }).getByText('By an agent').waitFor();
  const other = await context.newPage();
  await other.goto('/');
  await other.locator('header').getByRole('button', { name: 'Sign out' }).click();
  await other.getByText('You are signed out.').waitFor();
  expect(await kept(page)).toBe(0);
  expect(complaints).toEqual([]);
  await context.close();
});

test('[WEB-1, TASK-1] a pasted text that is too long is not cut without a word: the task says so, and keeps all of it', async () => {
  const { page, context } = await visit();
  const key = await signUp(page, 'pasted@example.org', PASSWORD);
  await structured(hub, 'create_task', { content: 'Begun' }, key);
  const text = `${'日本 '.repeat(3400)}and its end`;
  for (const [path, label, button] of [
    ['/tasks', 'New task', 'Add'],
    ['/tasks/1', 'Task', 'Save'],
  ] as const) {
    await page.goto(path);
    const field = page.getByLabel(label, { exact: true });
    await field.focus();
    await page.keyboard.press('Control+a');
    // As a paste: unlike `fill`, it minds what a field allows.
    await page.keyboard.insertText(text);
    await page.getByRole('button', { name: button, exact: true }).click();
    await page.getByText('must have at most 10000 characters').first().waitFor();
    expect((await field.inputValue()).endsWith('and its end')).toBe(true);
  }
  await context.close();
});
