/**
 * `npm run pictures`: draws the pictures of README and manual from a hub with an account of examples, in Chromium.
 * CHROMIUM_PATH names another one than Debian's.
 */
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { launch, signUp } from '../dist/test/browser/browser.js';
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
  return vault_id;
}

mkdirSync(FOLDER, { recursive: true });
const hub = await startHub();
const browser = await launch();
try {
  const context = await browser.newContext({ baseURL: hub.url, viewport: SIZE, timezoneId: 'UTC' });
  const page = await context.newPage();
  const key = await signUp(page, 'you@example.org', 'a long sentence for pictures');
  const vault = await fill(hub.url, key);
  const shots = [
    ['home', '/'],
    ['board', '/tasks'],
    ['folder', `/vaults/${vault}`],
    ['file', `/vaults/${vault}/file?path=release%2F2.4.md`],
  ];
  for (const [name, path] of shots) {
    await page.goto(path);
    await page.screenshot({ path: `${FOLDER}/${name}.png` });
    process.stdout.write(`${name}.png of ${path}: ${await page.title()}\n`);
  }
} finally {
  await browser.close();
  await hub.stop();
}
