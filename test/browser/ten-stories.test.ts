/** Ten things that people come for, by mouse from a page where one is: each has an end, in few presses. */
import { TOTP } from 'otpauth';
import type { Locator, Page } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { signUp, type Visitor } from '../support/browser.ts';
import { PASSWORD, structured } from '../support/gateway.ts';
import { askDevice, poll } from '../support/oauth.ts';
import { Device } from '../support/sync.ts';
import { useBrowser } from '../support/use-browser.ts';

const { hub, visit } = useBrowser();

/** Presses of each story, for the reader of the run. */
const table: string[] = [];
afterAll(() => process.stdout.write(`${['| Story | Presses |', '| --- | ---: |', ...table].join('\n')}\n`));

/** Presses by mouse, counted. Typing is not a press. */
class Walk {
  presses = 0;
  readonly page: Page;
  readonly complaints: readonly string[];

  constructor({ page, complaints }: Visitor) {
    this.page = page;
    this.complaints = complaints;
  }

  async press(target: Locator): Promise<void> {
    this.presses += 1;
    await target.click();
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole('button', { name });
  }

  /** The summary that unfolds a confirmation. */
  unfold(text: string | RegExp): Locator {
    return this.page.locator('summary', { hasText: text }).first();
  }

  link(name: string | RegExp): Locator {
    return this.page.getByRole('link', { name }).first();
  }

  async says(text: string | RegExp): Promise<void> {
    await this.page.getByText(text).first().waitFor();
  }
}

interface Story {
  readonly name: string;
  /** Presses when it was counted first; more is a step back. */
  readonly most: number;
  /** What is there before, and the page where one is. */
  readonly before: (walk: Walk, key: string, email: string) => Promise<unknown>;
  readonly walk: (walk: Walk, key: string) => Promise<void>;
}

const STORIES: readonly Story[] = [
  {
    name: 'a signed-up person copies the settings of a first agent',
    most: 1,
    before: ({ page }) => page.goto('/'),
    walk: async (walk) => {
      await walk.press(walk.button(/^Copy/).first());
      await walk.says(/^Copied/);
    },
  },
  {
    name: 'a task with a date',
    most: 2,
    before: ({ page }) => page.goto('/tasks'),
    walk: async (walk) => {
      await walk.page.getByLabel('New task').fill('Call the bank');
      await walk.press(walk.unfold('Due date, column and more'));
      await walk.page.getByLabel('Due date').first().fill('2027-01-15');
      await walk.press(walk.button('Add'));
      await walk.page.locator('.card', { hasText: 'Call the bank' }).waitFor();
    },
  },
  {
    name: 'a long document, which an agent changes meanwhile',
    most: 2,
    before: async ({ page }, key) => {
      const paragraphs = Array.from({ length: 200 }, (_, at) => `Paragraph ${at}.`);
      await structured(hub, 'create_paper', { title: 'Long', content: paragraphs.join('\n\n') }, key);
      await page.goto('/documents/papers/1');
    },
    walk: async (walk, key) => {
      await walk.press(walk.link('Edit'));
      const field = walk.page.getByLabel('Content');
      const text = await field.inputValue();
      await field.fill(text.replace('Paragraph 199.', 'Paragraph 199, mine.'));
      await structured(
        hub,
        'update_paper',
        { id: 1, content: text.replace('Paragraph 1.', 'Paragraph 1, theirs.') },
        key,
      );
      await walk.press(walk.button('Save').first());
      await walk.says('Paragraph 199, mine.');
      await walk.says('Paragraph 1, theirs.');
    },
  },
  {
    name: 'who changed what, and all of it undone',
    most: 3,
    before: async ({ page }, key) => {
      const device = new Device(hub, key, 'laptop');
      for (const name of ['a.md', 'b.md', 'c.md']) await device.push(name, `text of ${name}`);
      await page.goto('/');
    },
    walk: async (walk) => {
      await walk.press(walk.page.locator('.tabs').getByRole('link', { name: 'Activity' }));
      await walk.press(walk.unfold('Undo all…'));
      await walk.press(walk.button('Undo this session').first());
      await walk.says(/3 (changes|files).* undone|undone/i);
    },
  },
  {
    name: 'a folder as it was at an earlier time',
    most: 4,
    before: async ({ page }, key) => {
      const laptop = new Device(hub, key, 'laptop');
      const { vault_id: vault } = await laptop.push('notes/a.md', 'text');
      await page.goto(`/vaults/${vault}?folder=notes`);
    },
    walk: async (walk) => {
      await walk.press(walk.unfold('Folder at a time…'));
      await walk.page.getByLabel(/^Date and time/).fill('2026-01-15T12:00');
      await walk.press(walk.button('Show'));
      await walk.press(walk.unfold(/^Restore this folder/));
      await walk.press(walk.button('Restore the folder'));
      await walk.says(/restored/);
    },
  },
  {
    name: 'twenty conflicts',
    most: 2,
    before: async ({ page }, key) => {
      const [laptop, phone] = [new Device(hub, key, 'laptop'), new Device(hub, key, 'phone')];
      let vault = '';
      for (let at = 0; at < 20; at += 1) {
        ({ vault_id: vault } = await laptop.push(`notes/${at}.md`, 'from the laptop'));
        await phone.refusedPush(`notes/${at}.md`, 'from the phone', { base_sha: '' });
      }
      await page.goto(`/vaults/${vault}`);
    },
    walk: async (walk) => {
      await walk.press(walk.link('Resolve 20 conflicts'));
      await walk.press(walk.button('Keep newest').first());
      await walk.says('20 conflicts settled.');
    },
  },
  {
    name: 'a lost phone is signed out',
    most: 3,
    before: async ({ page }) => {
      const codes = await askDevice(hub, { device_name: 'LostPhone', scope: 'mcp' });
      await page.goto(`/device?user_code=${codes.user_code}`);
      await page.getByRole('button', { name: 'Authorize' }).click();
      await page.getByText('“LostPhone” is now signed in.').waitFor();
      await poll(hub, codes.device_code);
      await page.goto('/');
    },
    walk: async (walk) => {
      await walk.press(walk.link('Settings'));
      await walk.press(walk.page.locator('.row', { hasText: 'LostPhone' }).locator('summary').first());
      await walk.press(walk.button('Sign this device out'));
      await walk.says('“LostPhone” is signed out.');
    },
  },
  {
    name: 'a family member is invited',
    most: 2,
    before: async ({ page }, _key, email) => {
      await hub.cli('account', 'operator', '--email', email);
      await page.goto('/accounts');
    },
    walk: async (walk) => {
      await walk.page.getByLabel('Only for this email').fill('sister@example.org');
      await walk.press(walk.button('Create invitation'));
      await walk.press(walk.button(/^Copy Link/).first());
      await walk.says(/^Copied/);
    },
  },
  {
    name: 'everything is exported',
    most: 1,
    before: ({ page }) => page.goto('/settings'),
    walk: async (walk) => {
      const download = walk.page.waitForEvent('download');
      await walk.press(walk.button('Export my data'));
      expect((await download).suggestedFilename()).toMatch(/\.tar$/);
    },
  },
  {
    name: 'a second factor is set up',
    most: 2,
    before: ({ page }) => page.goto('/settings'),
    walk: async (walk) => {
      await walk.press(walk.button('Set up an authenticator app'));
      const secret = ((await walk.page.locator('main code').first().textContent()) ?? '').replaceAll(' ', '');
      await walk.page.getByLabel('Code', { exact: true }).fill(new TOTP({ secret }).generate());
      await walk.press(walk.button(/Turn on/));
      await walk.says('Two-factor sign-in is on.');
    },
  },
];

test.each(STORIES.map((story, at) => ({ ...story, at })))(
  '[WEB-28] $name, in at most $most presses',
  async ({ at, name, most, before, walk: story }) => {
    const visitor = await visit();
    const email = `story-${at}@example.org`;
    const key = await signUp(visitor.page, email, PASSWORD);
    const walk = new Walk(visitor);
    await before(walk, key, email);
    await story(walk, key);
    table.push(`| ${name} | ${walk.presses} |`);
    expect(walk.presses).toBeLessThanOrEqual(most);
    expect(walk.complaints).toEqual([]);
    await visitor.context.close();
  },
);
