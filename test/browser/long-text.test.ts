/** A text of many MiB is read part by part in a real browser, by mouse and by finger, and search leads to its line. */
import type { Locator } from 'playwright-core';
import { expect, test } from 'vitest';
import { signUp } from '../support/browser.ts';
import { PASSWORD } from '../support/gateway.ts';
import { Device, type Pushed } from '../support/sync.ts';
import { useBrowser } from '../support/use-browser.ts';

const { hub, visit } = useBrowser();

const LINES = 120_000;
/** In the part of a text that is indexed. */
const FOUND = 20_000;
/** 4.2 MiB of Markdown, with one word that is nowhere else. */
const TEXT = Array.from({ length: LINES }, (_, at) =>
  at === FOUND - 1 ? 'Here the saffron stands.' : `Line ${at + 1} of a long text, to be read.`,
).join('\n');

const WAYS = [
  ['mouse', { viewport: { width: 1280, height: 900 } }],
  ['finger', { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }],
  ['finger, without script', { viewport: { width: 390, height: 844 }, hasTouch: true, javaScriptEnabled: false }],
] as const;

test.each(WAYS)('[WEB-13] by %s, a text of 4 MiB is read to its last line', async (way, options) => {
  const { page, context, complaints } = await visit(options);
  const press = async (target: Locator) => await (way === 'mouse' ? target.click() : target.tap());
  const device = new Device(hub, await signUp(page, `${way.replace(/\W+/g, '-')}@example.org`, PASSWORD), 'desk');
  const { vault_id: vault }: Pushed = await device.push('notes/long.md', TEXT);
  await page.goto(`/vaults/${vault}/file?path=notes/long.md`);
  const parts = page.getByRole('navigation', { name: 'Parts of the text' });
  await parts.first().getByText('Part 1 of 18, lines 1 to 6').waitFor();
  await press(parts.last().getByRole('link', { name: 'Next part' }));
  await parts.first().getByText('Part 2 of 18').waitFor();
  const [from] = /\d+(?= to)/.exec((await parts.first().textContent()) ?? '') ?? [];
  // The first line of a part has its number in the whole text.
  expect(await page.locator(`#L${from}`).textContent()).toBe(`Line ${from} of a long text, to be read.`);
  await press(parts.first().getByRole('link', { name: 'Last part' }));
  await page.locator(`#L${LINES}`).waitFor();
  expect(await page.getByRole('link', { name: 'Next part' }).count()).toBe(0);
  // What the search finds is shown in its part, in sight.
  await page.goto('/search?q=saffron');
  await press(page.getByRole('link', { name: `Line ${FOUND}` }));
  const line = page.locator(`#L${FOUND}`);
  await line.waitFor();
  expect(await line.textContent()).toBe('Here the saffron stands.');
  expect(await line.evaluate((element) => element.getBoundingClientRect().top < innerHeight)).toBe(true);
  expect(complaints).toEqual([]);
  await context.close();
});
