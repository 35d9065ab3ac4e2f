/** What a screen reader meets, by Chromium's accessibility tree: landmarks and headings in order, a name for each control. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { type FilledMember, memberWithEverything } from '../support/filled-member.ts';
import { useBrowser } from '../support/use-browser.ts';

const { hub, visit } = useBrowser();
let member: FilledMember;

beforeAll(async () => {
  member = await memberWithEverything({ hub, visit });
});

interface AxNode {
  readonly nodeId: string;
  readonly ignored: boolean;
  readonly role?: { readonly value: string };
  readonly name?: { readonly value: string };
  readonly properties?: readonly { readonly name: string; readonly value: { readonly value: unknown } }[];
  readonly childIds?: readonly string[];
}

/** The nodes that a screen reader is told of, in the order in which it reads them. */
async function readingOrder(page: Page): Promise<AxNode[]> {
  const client = await page.context().newCDPSession(page);
  const { nodes } = (await client.send('Accessibility.getFullAXTree')) as { readonly nodes: readonly AxNode[] };
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  const read = (node: AxNode | undefined): AxNode[] =>
    node === undefined ? [] : [node, ...(node.childIds ?? []).flatMap((id) => read(byId.get(id)))];
  return read(nodes[0]).filter(({ ignored }) => !ignored);
}

const roleOf = ({ role }: AxNode) => role?.value ?? '';
const nameOf = ({ name }: AxNode) => name?.value ?? '';
const levelOf = ({ properties = [] }: AxNode) => Number(properties.find(({ name }) => name === 'level')?.value.value);

const LANDMARKS = new Set(['banner', 'navigation', 'main', 'contentinfo']);
const CONTROLS = new Set([
  'button',
  'link',
  'textbox',
  'searchbox',
  'checkbox',
  'combobox',
  'radio',
  'DisclosureTriangle',
]);

const PAGES: readonly (readonly [name: string, path: () => string, first: string])[] = [
  ['the start page', () => '/', 'Welcome'],
  ['the board', () => '/tasks', 'Tasks'],
  ['a file', () => `${member.vault}/file?path=notes%2Fshopping.md`, 'shopping.md'],
  ['the conflicts', () => `${member.vault}/conflicts`, 'Conflicts'],
  ['the settings', () => '/settings', 'Settings'],
];

test.each(PAGES)(
  '[WEB-27] %s is read in order: landmarks, headings, a name for each control',
  async (_name, path, first) => {
    const { page, context } = await visit({ storageState: member.state });
    await page.goto(path());
    const nodes = await readingOrder(page);
    const landmarks = nodes.filter((node) => LANDMARKS.has(roleOf(node)));
    const frame = landmarks.filter((node) => roleOf(node) !== 'navigation' || nameOf(node) === 'Sections').map(roleOf);
    expect(frame).toEqual(['banner', 'navigation', 'main', 'contentinfo']);
    expect(landmarks.filter((node) => roleOf(node) === 'navigation').map(nameOf)).not.toContain('');
    // The first thing is the way past the frame; the first heading is that of the page.
    expect(nameOf(nodes.find((node) => CONTROLS.has(roleOf(node))) ?? ({} as AxNode))).toBe('Skip to content');
    const headings = nodes.filter((node) => roleOf(node) === 'heading');
    expect(headings.filter((node) => levelOf(node) === 1).map(nameOf)).toEqual([first]);
    expect(nameOf(headings[0] ?? ({} as AxNode))).toBe(first);
    const levels = headings.map(levelOf);
    expect(levels.filter((level, at) => level > (levels[at - 1] ?? 0) + 1)).toEqual([]);
    expect(headings.map(nameOf)).not.toContain('');
    const controls = nodes.filter((node) => CONTROLS.has(roleOf(node)));
    expect(controls.length).toBeGreaterThan(10);
    expect(controls.filter((node) => nameOf(node).trim() === '').map(roleOf)).toEqual([]);
    await context.close();
  },
);

/** Ids of accounts, keys, vaults and clients as they are stored, and hashes. */
const RAW = /\b(?:acc|key|v|dev|ses|cl)_[0-9a-f]{10,}|\b[0-9a-f]{32,}\b/;

test('[WEB-27] pages name people, devices and agents: the reader is “you”, and no id is shown in place of a name', async () => {
  const { page, context } = await visit({ storageState: member.state });
  await page.goto('/tasks');
  await page.getByLabel('New task').fill('Written by me');
  await page.getByRole('button', { name: 'Add' }).click();
  const card = page.locator('.card', { hasText: 'Written by me' });
  await card.waitFor();
  await page.goto(`${member.vault}/new?folder=mine`);
  await page.getByLabel('Path').fill('mine/me.md');
  await page.getByLabel('Content').fill('Written by me');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Written by me').first().waitFor();
  const paths = [
    '/',
    '/tasks/2',
    '/tasks/trash',
    '/activity',
    '/settings',
    '/accounts',
    '/documents/docs/1',
    '/mirror',
    member.vault,
    `${member.vault}?folder=mine`,
    `${member.vault}/file?path=mine%2Fme.md`,
    `${member.vault}/file?path=notes%2Fshopping.md`,
    `${member.vault}/conflicts`,
    member.conflict,
  ];
  for (const path of paths) {
    await page.goto(path);
    const text = (await page.locator('#page').textContent()) ?? '';
    expect([path, RAW.exec(text)?.[0]]).toEqual([path, undefined]);
    // The list of signed-in browsers names browsers, and this one among them.
    if (path !== '/settings') expect([path, /Chrome on Linux/.exec(text)?.[0]]).toEqual([path, undefined]);
  }
  await page.goto(`${member.vault}/file?path=mine%2Fme.md`);
  expect(await page.locator('#page').textContent()).toContain('by you');
  await context.close();
});
