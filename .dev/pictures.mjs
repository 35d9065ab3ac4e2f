/**
 * `npm run pictures`: draws the pictures of README and manual from a hub with an account of examples, in Chromium.
 * `npm run pictures -- FOLDER`: draws every page into FOLDER instead, on a desk in light and dark and on a phone, to look at.
 * CHROMIUM_PATH names another Chromium than Debian's.
 */
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { launch, signUp } from '../dist/test/support/browser.js';
import { startHub } from '../dist/test/support/hub.js';

const FOLDER = fileURLToPath(new URL('../src/manual/pictures', import.meta.url));
const SIZE = { width: 1280, height: 800 };
const DAY_MS = 86_400_000;

const day = (days) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);

const NOTES = `# Release 2.4

Ships on **Thursday**. Each step has an owner, and the checklist is the one of the last release.

| Step | Owner | State |
|---|---|---|
| Freeze the branch | Mina | done |
| Sign the packages | build agent | done |
| Move the certificates | Jun | open |

- [x] Changelog reviewed
- [x] Migration tried on a copy
- [ ] Announcement written

\`\`\`ts
export const release = { version: '2.4.0', channel: 'stable' };
\`\`\`
`;

async function fill(url, key) {
  const call = async (name, args) => {
    const response = await fetch(`${url}/api/mcp`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `McpKey ${key}`, 'User-Agent': 'pictures/1' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
    });
    const { result, error } = await response.json();
    if (result === undefined || result.isError) throw new Error(`${name}: ${JSON.stringify(error ?? result)}`);
    return result.structuredContent;
  };
  const ids = {};
  for (const [name, color] of [
    ['Release', '#2563eb'],
    ['House', '#15803d'],
    ['Reading', '#a16207'],
  ]) {
    ids[name] = (await call('create_category', { name, color })).category.id;
  }
  const tasks = [
    ['Move the certificates to the new host', 'Release', 'todo', 1, true],
    ['Write the announcement', 'Release', 'todo', 3],
    ['Book the dentist', 'House', 'todo', 9],
    ['Read about hybrid logical clocks', 'Reading', 'todo'],
    ['Review the changelog of 2.4', 'Release', 'in_progress', 0, true],
    ['Try the restore of the backup on the laptop', 'House', 'in_progress', 2],
    ['Sign the packages', 'Release', 'done'],
    ['Freeze the release branch', 'Release', 'done'],
  ];
  for (const [content, category, status, due, important] of tasks) {
    const { task } = await call('create_task', {
      content,
      category_id: ids[category],
      ...(due === undefined ? {} : { due_date: day(due) }),
      ...(important ? { is_important: true } : {}),
    });
    if (status !== 'todo') await call('update_task', { id: task.id, kanban_status: status });
  }
  const { vault_id } = await call('vault_create', { name: 'notes' });
  const files = {
    'release/2.4.md': NOTES,
    'release/checklist.md': '# Checklist\n\n1. Freeze\n2. Sign\n3. Announce\n',
    'meetings/2026-11-20.md': '# Weekly\n\nThe move is on Thursday.\n',
    'scripts/sign.sh': '#!/bin/sh\nset -eu\ngpg --detach-sign "$1"\n',
    'today.md': '# Today\n',
  };
  for (const [path, content] of Object.entries(files)) {
    const sha256 = createHash('sha256').update(content).digest('hex');
    await call('sync_push', { vault_id, path, content, sha256, base_sha: '', device_id: 'desktop' });
  }
  return { vault: vault_id, call };
}

/** What the pictures of README do without: older versions, a conflict, documents, a deleted task. */
async function fillMore(call, vault_id) {
  const push = async (path, content, more) => {
    const sha256 = createHash('sha256').update(content).digest('hex');
    await call('sync_push', { vault_id, path, content, sha256, base_sha: '', device_id: 'desktop', ...more });
    return sha256;
  };
  const list = '# Shopping\n\n- bread\n- milk\n- apples\n';
  const base_sha = await push('house/shopping.md', list);
  await push('house/shopping.md', list.replace('milk', 'two bottles of milk'), { base_sha, device_id: 'phone' });
  await push('house/shopping.md', list.replace('milk', 'oat milk'), { base_sha, device_id: 'laptop' }).catch(() => {});
  await push(`house/${'a rather long name of a file '.repeat(4)}.md`, 'long\n');
  await push('house/قائمة المشتريات 🛒.md', 'مرحبا\n');
  await call('create_dev_doc', { title: 'Rules of this repository', content: NOTES, category: 'claude' });
  await call('update_dev_doc', { title: 'Rules of this repository', content: `${NOTES}\nSigned twice.\n` });
  await call('create_dev_doc', { title: 'Architecture notes', content: '# Notes\n' });
  await call('handoff_save', { project: 'cairn', topic: 'release 2.4', content: NOTES });
  await call('handoff_save', { project: 'house', topic: 'heating', content: 'Ask for the second offer.' });
  await call('create_paper', { title: 'On hybrid logical clocks', content: NOTES });
  await call('create_task', { content: 'Something that is in the trash' });
  await call('delete_task', { id: 9 });
  const found = await call('sync_pending_conflicts', { vault_id });
  return found.conflicts[0]?.conflict_id;
}

const LOOKS = [
  ['desk-light', { viewport: SIZE, colorScheme: 'light' }],
  ['desk-dark', { viewport: SIZE, colorScheme: 'dark' }],
  ['phone-light', { viewport: { width: 360, height: 740 }, colorScheme: 'light' }],
];

/** Every page as a whole, opened parts of it closed. */
async function drawAll(context, folder, vault, conflict) {
  const stranger = await browser.newContext({ baseURL: hub.url, timezoneId: 'UTC' });
  const file = (path) => `/vaults/${vault}/file?path=${encodeURIComponent(path)}`;
  const shots = [
    ['home', '/'],
    ['board', '/tasks'],
    ['board-done', '/tasks?tab=done'],
    ['task', '/tasks/1'],
    ['categories', '/tasks/categories'],
    ['task-trash', '/tasks/trash'],
    ['vaults', '/vaults'],
    ['vault', `/vaults/${vault}`],
    ['folder', `/vaults/${vault}?folder=house`],
    ['found', `/vaults/${vault}?q=*.md`],
    ['file', file('release/2.4.md')],
    ['file-source', `${file('release/2.4.md')}&view=source`],
    ['file-code', file('scripts/sign.sh')],
    ['file-history', `${file('house/shopping.md')}#history`],
    ['changes', `/vaults/${vault}/changes?path=${encodeURIComponent('house/shopping.md')}`],
    ['new-file', `/vaults/${vault}/new?folder=house`],
    ['edit-file', `/vaults/${vault}/edit?path=${encodeURIComponent('release/2.4.md')}`],
    ['conflicts', `/vaults/${vault}/conflicts`],
    ['conflict', `/vaults/${vault}/conflicts/${conflict}`],
    ['docs', '/documents/docs'],
    ['doc', '/documents/docs/1'],
    ['doc-edit', '/documents/docs/1/edit'],
    ['doc-new', '/documents/docs/new'],
    ['handoffs', '/documents/handoffs'],
    ['handoff', '/documents/handoffs/1'],
    ['papers', '/documents/papers'],
    ['paper', '/documents/papers/1'],
    ['documents-trash', '/documents/trash'],
    ['search', '/search?q=release'],
    ['mirror', '/mirror'],
    ['settings', '/settings'],
    ['accounts', '/accounts'],
    ['help', '/help'],
    ['not-found', '/nowhere'],
    ['device', '/device'],
    ['signin', '/signin', stranger],
    ['signup', '/signup', stranger],
    ['welcome', '/', stranger],
  ];
  const state = await context.storageState();
  for (const [look, options] of LOOKS) {
    const member = await browser.newContext({ baseURL: hub.url, timezoneId: 'UTC', storageState: state, ...options });
    const nobody = await browser.newContext({ baseURL: hub.url, timezoneId: 'UTC', ...options });
    for (const [name, path, who] of shots) {
      const page = await (who === stranger ? nobody : member).newPage();
      await page.goto(path);
      await page.screenshot({ path: `${folder}/${name}.${look}.png`, fullPage: true });
      await page.close();
    }
  }
}

const hub = await startHub();
const browser = await launch();
try {
  const context = await browser.newContext({ baseURL: hub.url, viewport: SIZE, timezoneId: 'UTC' });
  const page = await context.newPage();
  const key = await signUp(page, 'you@example.org', 'a long sentence for pictures');
  const { vault, call } = await fill(hub.url, key);
  if (process.argv[2] !== undefined) {
    const folder = process.argv[2];
    mkdirSync(folder, { recursive: true });
    await drawAll(context, folder, vault, await fillMore(call, vault));
    process.stdout.write(`every page is in ${folder}\n`);
  } else {
    await drawFour(page, vault);
  }
} finally {
  await browser.close();
  await hub.stop();
}

async function drawFour(page, vault) {
  const shots = [
    ['home', '/'],
    ['board', '/tasks'],
    ['folder', `/vaults/${vault}`],
    ['file', `/vaults/${vault}/file?path=release%2F2.4.md`],
  ];
  mkdirSync(FOLDER, { recursive: true });
  for (const [name, path] of shots) {
    await page.goto(path);
    await page.screenshot({ path: `${FOLDER}/${name}.png` });
    process.stdout.write(`${name}.png of ${path}: ${await page.title()}\n`);
  }
}
