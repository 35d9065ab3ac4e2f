/** 200 conflicts are grouped, settled together and given back in a real browser, by mouse, by finger and without script. */
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { signUp } from '../support/browser.ts';
import { PASSWORD } from '../support/gateway.ts';
import { Device, type Pushed } from '../support/sync.ts';
import { useBrowser } from '../support/use-browser.ts';

const { hub, visit } = useBrowser();

const BASE = 'one\ntwo\nthree\nfour\nfive\n';
const THEIRS = BASE.replace('two', 'two of theirs');
const FOLDERS = ['letters', 'notes/2026'];
const PER_FOLDER = 100;
const PATHS = FOLDERS.flatMap((folder) =>
  Array.from({ length: PER_FOLDER }, (_, at) => `${folder}/file-${String(at).padStart(3, '0')}.md`),
);

/** Files that two devices changed from the same base. Of each folder, the first ten changes of the phone do not overlap. */
async function conflicts(page: Page, email: string): Promise<Device> {
  const desk = new Device(hub, await signUp(page, email, PASSWORD), 'desk');
  const phone = desk.other('phone');
  const pushed = await pushMany(desk, () => BASE);
  const shas = new Map(pushed.map(({ path, sha256 }) => [path, sha256]));
  const onBase = (path: string) => ({ base_sha: shas.get(path) });
  await pushMany(desk, () => THEIRS, onBase);
  phone.ms = desk.ms;
  await pushMany(phone, (path) => BASE.replace(/file-00\d/.test(path) ? 'five' : 'two', 'mine'), onBase);
  return desk;
}

async function pushMany(
  device: Device,
  contentOf: (path: string) => string,
  more: (path: string) => object = () => ({}),
) {
  const files = PATHS.map((path) => device.pushOf(path, contentOf(path), more(path)));
  return (await device.result<{ results: Pushed[] }>('sync_push_many', { files })).results;
}

const textOf = async (device: Device, path: string) =>
  (await device.result<{ files: { content: string }[] }>('sync_pull', { paths: [path] })).files[0]?.content;

const WAYS = [
  ['mouse', { viewport: { width: 1280, height: 900 } }],
  ['finger', { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }],
  ['finger, without script', { viewport: { width: 390, height: 844 }, hasTouch: true, javaScriptEnabled: false }],
] as const;

test.each(WAYS)('[WEB-26] by %s, 200 conflicts are settled by group, and given back', async (way, options) => {
  const { page, context, complaints } = await visit(options);
  const press = async (target: Locator) => await (way === 'mouse' ? target.click() : target.tap());
  const device = await conflicts(page, `${way.replace(/\W+/g, '-')}@example.org`);
  await press(page.locator('.tabs').getByRole('link', { name: 'Vaults' }));
  await press(page.getByRole('link', { name: 'Resolve 200 conflicts' }));
  const group = (name: string) => page.getByRole('region', { name, exact: true });
  await page.getByRole('heading', { name: 'Conflicts' }).waitFor();
  expect(await group('letters').locator('li:visible').count()).toBe(5);
  await press(group('letters').getByText('Show 95 more'));
  expect(await group('letters').locator('li:visible').count()).toBe(PER_FOLDER);
  // What does not overlap is merged; the rest of the group waits.
  await press(group('letters').getByRole('button', { name: 'Merge what does not overlap' }));
  await page.getByText('10 conflicts merged. 90 overlap and wait for you.').waitFor();
  expect(await textOf(device, 'letters/file-003.md')).toBe(THEIRS.replace('five', 'mine'));
  await press(group('letters').getByRole('button', { name: 'Keep newest' }));
  await page.getByText('90 conflicts settled.').waitFor();
  expect(await group('letters').count()).toBe(0);
  expect(await textOf(device, 'letters/file-050.md')).toBe(BASE.replace('two', 'mine'));
  await press(page.getByRole('button', { name: 'Undo' }));
  await page.getByText('90 conflicts waiting again.').waitFor();
  expect(await textOf(device, 'letters/file-050.md')).toBe(THEIRS);
  // By device, all that are left at once.
  await press(page.getByRole('link', { name: 'Device', exact: true }));
  await press(group('From phone').getByRole('button', { name: 'Keep all from the hub' }));
  await page.getByText('190 conflicts settled.').waitFor();
  await page.getByText('No conflicts').waitFor();
  expect(await textOf(device, 'notes/2026/file-050.md')).toBe(THEIRS);
  await press(page.getByRole('button', { name: 'Undo' }));
  await page.getByText('190 conflicts waiting again.').waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});
