/** Markup of an attacker in every name and text that an account has: nothing of it runs, and no request leaves the hub. */
import { expect, test } from 'vitest';
import { signUp } from '../support/browser.ts';
import { PASSWORD, structured } from '../support/gateway.ts';
import { credential, randomCommit, upload } from '../support/mirror.ts';
import { askDevice } from '../support/oauth.ts';
import { Device } from '../support/sync.ts';
import { useBrowser } from '../support/use-browser.ts';

/** What runs or loads where a name is put into markup, an attribute, an address, a script or a style without care. */
const EVIL =
  '"><img src=//evil.example/i onerror=document.title="owned"><script>document.title="owned"</script><b style=background:url(//evil.example/s)>';
const TEXTS = [
  EVIL,
  '[x](javascript:document.title="owned") ![x](https://evil.example/p.png)',
  '<svg onload=document.title="owned"><style>@import "//evil.example/c"</style><iframe src=//evil.example></iframe>',
  '<form action=//evil.example><button autofocus onfocus=document.title="owned">x</button></form>',
  '<a href=" javascript:document.title=`owned`">x</a><base href=//evil.example><meta http-equiv=refresh content=0;//evil.example>',
  "</textarea></title></style>'-document.title='owned'-'\u202e\u0000x",
].map((text) => text.replace('\u0000', ''));
const CONTENT = `${TEXTS.join('\n\n')}\n\n\`\`\`${EVIL}\n${EVIL}\n\`\`\`\n`;
/** A path has none of < > " : | ? *, which leaves quotes and entities. */
const EVIL_NAME = "x' autofocus onfocus='document.title=`owned`' &lt;img src=x onerror=document.title=1&gt;.md";

const { hub, visit } = useBrowser();

/** Addresses of pages that show what was put in. */
async function filled(key: string): Promise<string[]> {
  const call = (tool: string, fields: Record<string, unknown>) => structured(hub, tool, fields, key);
  await call('create_category', { name: EVIL.slice(0, 90), color: '#123456' });
  for (const [index, content] of TEXTS.entries()) {
    await call('create_task', { content, ...(index === 0 ? { category_id: 1 } : {}) });
  }
  await call('delete_task', { id: TEXTS.length });
  await call('create_dev_doc', {
    title: EVIL.slice(0, 150),
    content: CONTENT,
    category: 'docs',
    content_type: 'markdown',
  });
  await call('handoff_save', { project: EVIL.slice(0, 90), topic: EVIL.slice(0, 90), content: CONTENT });
  await call('create_paper', { title: EVIL.slice(0, 150), content: CONTENT });
  await call('create_paper', { title: EVIL.slice(0, 150), content: 'x' });
  await call('delete_paper', { id: 2 });
  await upload(hub, await credential(hub, key), randomCommit(), Buffer.from('blob'), { 'X-Uploaded-By': EVIL });
  const device = new Device(hub, key, EVIL_NAME);
  const first = await device.push(`a/${EVIL_NAME}`, CONTENT);
  await device.push(`a/${EVIL_NAME}`, `${CONTENT}theirs`, { base_sha: first.sha256 });
  const refused = await device.other(`${EVIL_NAME}2`).refusedPush(`a/${EVIL_NAME}`, `${CONTENT}mine`, {
    base_sha: first.sha256,
  });
  await device.push(`&lt;svg onload=document.title=1&gt;/x.html`, CONTENT);
  const { user_code: code } = await askDevice(hub, { device_name: EVIL.slice(0, 90) });
  const vault = `/vaults/${first.vault_id}`;
  const at = encodeURIComponent(new Date(Date.now() + 60_000).toISOString());
  const file = `path=${encodeURIComponent(`a/${EVIL_NAME}`)}`;
  return [
    '/',
    '/tasks',
    '/tasks/1',
    '/tasks/2',
    '/tasks/5',
    '/tasks?column=todo',
    '/tasks/categories',
    '/tasks/trash',
    '/mirror',
    '/settings',
    '/accounts',
    ...['docs', 'docs/1', 'docs/1/edit', 'handoffs', 'handoffs/1', 'papers', 'papers/1', 'papers/1/edit', 'trash'].map(
      (path) => `/documents/${path}`,
    ),
    ...[
      '',
      `?at=${at}`,
      `?folder=a&at=${at}`,
      '?folder=a',
      '?q=owned',
      '/conflicts',
      `/file?${file}`,
      `/file?${file}&view=source`,
    ].map((path) => vault + path),
    ...[`/edit?${file}`, `/changes?${file}`, `/conflicts/${String(refused.data['conflict_id'])}`].map(
      (path) => vault + path,
    ),
    `/search?q=${encodeURIComponent('<img')}`,
    `/search?q=${encodeURIComponent(EVIL.slice(0, 150))}`,
    `/device?user_code=${code}`,
    `/signin?next=${encodeURIComponent(`//evil.example/${EVIL}`)}`,
    `/help?q=${encodeURIComponent(EVIL.slice(0, 150))}`,
    `/nowhere/${encodeURIComponent(EVIL)}`,
  ];
}

test('[WEB-4] on no page does markup of an attacker run, move the page or ask another host', async () => {
  // The name of the browser is recorded with each change that it makes.
  const { page, context, complaints } = await visit({ userAgent: EVIL });
  page.on('dialog', (dialog) => {
    complaints.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  const key = await signUp(page, `attacked@example.org`, PASSWORD);
  await page.goto('/settings');
  await page.getByLabel('Name of a new key').fill(EVIL.slice(0, 90));
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.locator('.notice code').waitFor();
  const paths = await filled(key);
  await page.goto('/tasks/2');
  await page.getByLabel('Task', { exact: true }).fill(EVIL);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.waitForURL(/\/tasks(\?[^#]*)?#task-2$/);
  for (const path of paths) {
    await page.goto(path);
    await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
    const found = await page.evaluate(`({
      own: document.title !== 'owned' && location.origin === ${JSON.stringify(new URL(hub.url).origin)},
      scripts: document.scripts.length,
      inside: document.querySelectorAll('main :is(script, style, iframe, svg[onload], [onerror], [onload], [onfocus], base, meta)').length,
    })`);
    expect([path, found]).toEqual([path, { own: true, scripts: 1, inside: 0 }]);
  }
  expect(complaints).toEqual([]);
  await context.close();
});
