/** Signs up an account that has something on every page, for tests that look at all pages. */
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { signUp } from './browser.ts';
import { PASSWORD, structured } from './gateway.ts';
import { credential, randomCommit, upload } from './mirror.ts';
import { askDevice, poll } from './oauth.ts';
import { Device, sha256Of } from './sync.ts';
import type { SharedBrowser } from './use-browser.ts';

export interface FilledMember {
  readonly state: Awaited<ReturnType<BrowserContext['storageState']>>;
  readonly key: string;
  /** The path of a vault with files and versions. */
  readonly vault: string;
  /** The path of a pending conflict in it. */
  readonly conflict: string;
}

/** Something of everything that a text can have. */
const MARKDOWN = `---
title: Notes
---
# One

## Two

#### Four

Some **bold** \`code\` and a [link](other.md), <kbd>Ctrl</kbd>, <details><summary>more</summary>text</details>

- [ ] open
- [x] done

> A quote

| a | b |
|---|---|
| 1 | ${'wide '.repeat(60)} |

\`\`\`ts
const a: string = 'text'; // ${'long '.repeat(60)}
\`\`\`

![](logo.png) ![of another host](https://images.example/x.png)

<table><tr><td>of HTML</td></tr></table>
`;
const CODE = `// A comment\nimport { a } from './a.ts';\n/** @param b */\nexport class C<T> {\n  d = /e+/g;\n  f = \`g\${1.5}\`;\n}\n`;
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

/** An account that has something on every page. */
export async function memberWithEverything({ hub, visit }: SharedBrowser): Promise<FilledMember> {
  const { page, context } = await visit();
  const key = await signUp(page, 'everything@example.org', PASSWORD);
  const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  const tasks = [
    { content: 'Overdue', due_date: day(-3), is_important: true },
    { content: 'Due today', due_date: day(0), kanban_status: 'in_progress' },
    { content: `Long${'word'.repeat(60)}`, kanban_status: 'backlog' },
    { content: 'Finished', kanban_status: 'done' },
  ];
  for (const name of ['Garden', 'Long'.repeat(25)])
    await structured(hub, 'create_category', { name, color: '#2e8b57' }, key);
  for (const task of tasks) await structured(hub, 'create_task', task, key);
  await structured(hub, 'update_task', { id: 2, category_id: 2 }, key);
  await structured(hub, 'create_task', { content: 'In the trash' }, key);
  await structured(hub, 'delete_task', { id: 5 }, key);
  await upload(hub, await credential(hub, key), randomCommit(), Buffer.from('an earlier blob'));
  const second = await credential(hub, key, true);
  await upload(hub, second, randomCommit(), Buffer.from('a blob'), { 'X-Uploaded-By': 'x'.repeat(255) });
  const places = await filledVault(hub, key);
  await structured(hub, 'create_dev_doc', { title: 'Rules', content: MARKDOWN, category: 'claude' }, key);
  await structured(hub, 'update_dev_doc', { title: 'Rules', content: `${MARKDOWN}more` }, key);
  await structured(hub, 'handoff_save', { project: 'cairn', topic: 'main', content: MARKDOWN }, key);
  await structured(hub, 'create_paper', { title: 'On stones', content: MARKDOWN }, key);
  await page.goto('/settings');
  for (const name of ['To revoke', 'x'.repeat(100)]) {
    await page.getByLabel('Name of a new key').fill(name);
    await answered(page, page.getByRole('button', { name: 'Create key' }));
  }
  const revoked = page.locator('.row', { hasText: 'To revoke' });
  await revoked.locator('summary').click();
  await answered(page, revoked.getByRole('button', { name: 'Revoke this key' }));
  const codes = await askDevice(hub, { device_name: 'laptop', scope: 'mcp' });
  await page.goto(`/device?user_code=${codes.user_code}`);
  await page.getByRole('button', { name: '            Authorize' }).click();
  await poll(hub, codes.device_code);
  const state = await context.storageState();
  await context.close();
  return { state, key, ...places };
}

/** A vault with files, versions, and a conflict that waits. */
async function filledVault(hub: SharedBrowser['hub'], key: string): Promise<Pick<FilledMember, 'vault' | 'conflict'>> {
  const device = new Device(hub, key, 'laptop');
  const base = 'one\ntwo\nthree\n';
  const first = await device.push('notes/shopping.md', base);
  await device.push('notes/shopping.md', base.replace('two', 'two here'), { base_sha: first.sha256 });
  const other = new Device(hub, key, 'workstation-of-the-office-on-the-second-floor-next-to-the-window');
  const refused = await other.refusedPush('notes/shopping.md', base.replace('two', 'two there'), {
    base_sha: first.sha256,
  });
  await device.push('notes/README.md', MARKDOWN);
  await device.push('src/app.ts', CODE);
  await device.push('notes/logo.png', PIXEL.toString('base64'), { encoding: 'base64', sha256: sha256Of(PIXEL) });
  await device.push(`deep/${'folder/'.repeat(20)}${'long-name'.repeat(10)}.md`, 'text');
  const vault = `/vaults/${first.vault_id}`;
  return { vault, conflict: `${vault}/conflicts/${String(refused.data['conflict_id'])}` };
}

/** Presses a button of a form, and waits for the page that answers: the form is sent once the hub was reached. */
export async function answered(page: Page, button: Locator): Promise<void> {
  const loaded = page.waitForEvent('load');
  await button.click();
  await loaded;
}
