/** Every page under axe-core, in light and dark, on a phone and on a desk: no issue, nothing cut off. */
import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { signUp } from '../support/browser.ts';
import { type FilledMember, memberWithEverything } from '../support/filled-member.ts';
import { PASSWORD } from '../support/gateway.ts';
import { askDevice } from '../support/oauth.ts';
import { useBrowser } from '../support/use-browser.ts';

// A provider whose tokens can be linked; the settings say so whether it can be reached or not.
const { hub, visit } = useBrowser({
  env: { CAIRN_IDP_ISSUER: 'http://127.0.0.1:9', CAIRN_IDP_AUDIENCE: 'https://hub.example.org' },
});
let state: FilledMember['state'];
/** Pages whose address is known once they are there. */
let vault: string;
let conflict: string;

beforeAll(async () => {
  ({ state, vault, conflict } = await memberWithEverything({ hub, visit }));
});

/** What axe finds, of whatever weight. */
async function issues(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = (await page.evaluate('axe.run(document)')) as AxeResults;
  return violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('\n')}`,
  );
}

/** What scrolls sideways although it is neither code nor a table that somebody wrote. */
async function sideways(page: Page): Promise<string[]> {
  return await page.evaluate(`[document.documentElement, ...document.body.querySelectorAll('*')]
    .filter((one) => one.scrollWidth > one.clientWidth + 1)
    .filter((one) => one === document.documentElement || /auto|scroll/.test(getComputedStyle(one).overflowX))
    .filter((one) => !one.matches('pre, textarea, .table-scroll, .code, .diff-scroll'))
    .map((one) => one.tagName + '.' + one.className + ' ' + one.scrollWidth + ' > ' + one.clientWidth)`);
}

/** A page, and what is opened on it before it is looked at. */
type Look = readonly [path: string | (() => string), prepare?: (page: Page) => Promise<void>];

const openAll = async (page: Page) => {
  await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
};

const STRANGER: readonly Look[] = [
  ['/'],
  ['/signin'],
  ['/signup'],
  [
    '/signin',
    async (page) => {
      await page.getByLabel('Email').fill('nobody@example.org');
      await page.getByLabel('Password').fill('wrong password');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByText('Email or password is wrong.').waitFor();
    },
  ],
];

const MEMBER: readonly Look[] = [
  ['/', openAll],
  ['/tasks', openAll],
  ['/tasks/1'],
  ['/tasks?column=done'],
  [
    '/tasks/1',
    async (page) => {
      const other = await page.context().newPage();
      await other.goto('/tasks/1');
      await other.getByLabel('Task', { exact: true }).fill(`Overdue, ${Date.now()}`);
      await other.getByRole('button', { name: 'Save' }).click();
      await other.getByText('Task saved.').waitFor();
      await other.close();
      await page.getByLabel('Task', { exact: true }).fill('Overdue, by this tab');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('group', { name: 'The text saved elsewhere' }).waitFor();
    },
  ],
  [
    '/tasks',
    async (page) => {
      await page.keyboard.press('Control+k');
      await page.keyboard.type('due');
      await page.getByRole('option', { name: 'Search everything' }).waitFor();
    },
  ],
  ['/search'],
  ['/search?q=t'],
  ['/search?q=nothing-of-the-kind'],
  [
    '/tasks',
    async (page) => {
      await page.keyboard.press('?');
      await page.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor();
    },
  ],
  ['/tasks?q=due&due=overdue&important=true&tab=done', openAll],
  ['/tasks?more=todo&more=done', openAll],
  ['/tasks?column=todo'],
  ['/tasks/categories', openAll],
  ['/tasks/trash'],
  ['/activity'],
  ['/activity', openAll],
  ['/mirror'],
  ['/mirror', openAll],
  ['/settings', openAll],
  ['/accounts'],
  [
    '/accounts',
    async (page) => {
      await page.getByRole('link', { name: 'everything@example.org' }).click();
      await page.getByRole('heading', { name: 'Quotas' }).waitFor();
    },
  ],
  ['/tasks/999'],
  ['/nowhere'],
  ['/help'],
  ['/help/sync'],
  ['/help/settings'],
  ['/help?q=backup'],
  ['/vaults'],
  [() => vault],
  [() => `${vault}?folder=notes`, openAll],
  [() => `${vault}/changes?path=notes%2Fshopping.md`],
  [() => `${vault}/new?folder=notes`],
  [() => `${vault}/edit?path=src%2Fapp.ts`],
  ['/documents/docs'],
  ['/documents/docs/1', openAll],
  ['/documents/docs/1?version=1'],
  ['/documents/docs/1/edit'],
  ['/documents/docs/new'],
  ['/documents/handoffs'],
  ['/documents/handoffs/1'],
  ['/documents/papers'],
  ['/documents/papers/1', openAll],
  ['/documents/papers/new'],
  [() => `${vault}?folder=nowhere`],
  [() => `${vault}?at=${encodeURIComponent(new Date().toISOString())}`, openAll],
  [() => `${vault}?folder=notes&at=${encodeURIComponent(new Date().toISOString())}`, openAll],
  [() => `${vault}?at=2020-01-01T00%3A00%3A00Z`, openAll],
  [() => `${vault}?q=*.md`],
  [() => `${vault}/file?path=notes%2FREADME.md`],
  [() => `${vault}/file?path=notes%2FREADME.md&view=source`],
  [() => `${vault}/file?path=src%2Fapp.ts`],
  [() => `${vault}/file?path=notes%2Flogo.png`],
  [() => `${vault}/file?path=notes%2Fshopping.md`, openAll],
  [() => `${vault}/file?path=notes%2Fshopping.md&seq=1`],
  [() => `${vault}/conflicts`],
  [() => conflict],
  ['/device'],
  [
    '/device',
    async (page) => {
      const { user_code: code } = await askDevice(hub, { device_name: 'build-box', scope: 'account mcp' });
      await page.goto(`/device?user_code=${code}`);
      await page.getByText(code, { exact: true }).waitFor();
    },
  ],
  [
    '/settings',
    async (page) => {
      await page.getByLabel('Name of a new key').fill('Shown once');
      await page.getByRole('button', { name: 'Create key' }).click();
      await page.locator('.notice code').waitFor();
    },
  ],
];

const LOOKS = [
  ['a desk', 1280, 'light'],
  ['a desk', 1280, 'dark'],
  ['a phone', 360, 'light'],
  ['a phone', 360, 'dark'],
] as const;

test('[WEB-5] the check bites', async () => {
  const { page, context } = await visit();
  await page.setContent('<html><body><img src="/x"><p style="color:#aaa;background:#fff">pale</p></body></html>');
  expect((await issues(page)).map((issue) => issue.split(':')[0])).toEqual(
    expect.arrayContaining(['image-alt', 'color-contrast', 'html-has-lang']),
  );
  await context.close();
});

test.each(LOOKS)(
  '[WEB-5] no page has an issue on %s (%i px), %s',
  { timeout: 300_000 },
  async (_name, width, colorScheme) => {
    for (const [looks, storageState] of [
      [STRANGER, undefined],
      [MEMBER, state],
    ] as const) {
      const { page, context, complaints } = await visit({
        viewport: { width, height: 844 },
        colorScheme,
        ...(storageState === undefined ? {} : { storageState }),
      });
      for (const [place, prepare] of looks) {
        const path = typeof place === 'string' ? place : place();
        await page.goto(path);
        await prepare?.(page);
        expect([path, ...(await issues(page))]).toEqual([path]);
        expect([path, ...(await sideways(page))]).toEqual([path]);
      }
      expect(complaints).toEqual([]);
      await context.close();
    }
  },
);

test('[WEB-5] an empty account has no page with an issue, and each says what to do next', async () => {
  const { page, context } = await visit();
  await signUp(page, 'empty@example.org', PASSWORD);
  for (const [path, says] of [
    ['/tasks', 'Add your first task'],
    ['/mirror', 'cairn backups push'],
    ['/vaults', 'run cairn sync in a folder'],
  ] as const) {
    await page.goto(path);
    expect(await page.textContent('main')).toContain(says);
    expect([path, ...(await issues(page))]).toEqual([path]);
  }
  await page.getByLabel('Name of a new vault').fill("Ada's notes");
  await page.getByRole('button', { name: 'Create vault' }).click();
  await page.getByText(String.raw`cairn sync --vault 'Ada'\''s notes'`).waitFor();
  expect(['an empty vault', ...(await issues(page))]).toEqual(['an empty vault']);
  await context.close();
});
