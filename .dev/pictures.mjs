/**
 * `npm run pictures`: draws the pictures of README from a hub with the data of `cairn demo`, in Chromium, light and dark, and
 * a moving one of its agent at work. Needs `img2webp` (Debian's webp) and, to look as on most desks, fonts-noto-core.
 * `npm run pictures -- FOLDER`: draws every page into FOLDER instead, on a desk in light and dark and on a phone, to look at.
 * CHROMIUM_PATH names another Chromium than Debian's.
 */
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { AGENT, beginning, PHONE } from '../dist/src/cli/demo/story.js';
import { tell } from '../dist/src/cli/demo/tell.js';
import { launch, signUp } from '../dist/test/support/browser.js';
import { startHub } from '../dist/test/support/hub.js';
import { drawMoving } from './moving-picture.mjs';

const FOLDER = fileURLToPath(new URL('../src/manual/pictures', import.meta.url));
const SIZE = { width: 1280, height: 800 };

/** The keys of who writes: pages call a change by the name of its key. */
async function keysOf(email) {
  const keyOf = async (name) => {
    const { stdout } = await hub.cli('key', 'create', '--email', email, '--name', name, '--json');
    return JSON.parse(stdout).mcp_key;
  };
  return { [AGENT]: await keyOf(AGENT), [PHONE]: await keyOf(PHONE) };
}

/** The data of `cairn demo`. */
async function fill(url, keys) {
  for (const step of beginning(new Date().toISOString().slice(0, 10))) await tell(url, keys, step);
  const call = (tool, args) => tell(url, keys, { by: AGENT, tool, args });
  const { vaults } = await call('vault_list', {});
  return { vault: vaults[0].vault_id, call };
}

/** What the demo does without: long and foreign names, versions of a document, several handoffs, a deleted task. */
async function fillMore(call, vault_id) {
  await call('write', { id: `house/${'a rather long name of a file '.repeat(4)}.md`, content: 'long\n' });
  await call('write', { id: 'house/قائمة المشتريات 🛒.md', content: 'مرحبا\n' });
  await call('update_dev_doc', { title: 'CLAUDE.md', content: '- Sign twice.\n', mode: 'append' });
  await call('create_dev_doc', { title: 'Architecture notes', content: '# Notes\n' });
  await call('handoff_save', { project: 'house', topic: 'heating', content: 'Ask for the second offer.' });
  const { task } = await call('create_task', { content: 'Something that is in the trash' });
  await call('delete_task', { id: task.id });
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
const OWN = { baseURL: hub.url, viewport: SIZE, timezoneId: 'UTC' };
const browser = await launch();
try {
  // The first account runs the hub, and its pages speak of backups of the hub.
  await hub.cli('account', 'create', '--email', 'operator@example.org');
  const context = await browser.newContext(OWN);
  const page = await context.newPage();
  await signUp(page, 'you@example.org', 'a long sentence for pictures');
  const keys = await keysOf('you@example.org');
  const { vault, call } = await fill(hub.url, keys);
  if (process.argv[2] !== undefined) {
    const folder = process.argv[2];
    mkdirSync(folder, { recursive: true });
    await drawAll(context, folder, vault, await fillMore(call, vault));
    process.stdout.write(`every page is in ${folder}\n`);
  } else {
    await drawStill(context, vault);
    await drawMoving({ browser, url: hub.url, keys, context, vault, folder: FOLDER });
  }
} finally {
  await browser.close();
  await hub.stop();
}

async function drawStill(context, vault) {
  const shots = [
    ['home', '/'],
    ['board', '/tasks'],
    ['folder', `/vaults/${vault}`],
    ['file', `/vaults/${vault}/file?path=release%2F2.4.md`],
  ];
  mkdirSync(FOLDER, { recursive: true });
  const state = await context.storageState();
  for (const colorScheme of ['light', 'dark']) {
    const looked = await browser.newContext({ ...OWN, storageState: state, colorScheme });
    const shown = await looked.newPage();
    for (const [name, path] of shots) {
      const file = `${name}-${colorScheme}.png`;
      await shown.goto(path);
      await shown.screenshot({ path: `${FOLDER}/${file}` });
      process.stdout.write(`${file} of ${path}: ${await shown.title()}\n`);
    }
    await looked.close();
  }
}
