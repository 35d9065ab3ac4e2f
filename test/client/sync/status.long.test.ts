/** The status of a running watch: without the hub, for people, programs, a prompt, an editor and notices. */
import { execFile, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { runCairn } from '../../support/hub.ts';
import { account } from '../../support/mirror.ts';
import { startRelay } from '../../support/relay.ts';
import { type SyncedFolder, syncedFolder, syncedPair, until } from '../../support/synced-folder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const SHIPPED = fileURLToPath(new URL('../../../src/manual/deploy/sync', import.meta.url));
const run = promisify(execFile);

const hub = useHub();
let key: string;

beforeAll(async () => {
  ({ mcp_key: key } = await account(hub));
});

test('[SYN-36] a running watch tells how its folder stands, also while the hub is away; without one, files are compared', async () => {
  const relay = await startRelay(hub);
  const [a, b] = await syncedPair(hub, key, { 'one.md': '1\n' }, { through: relay });
  const watcher = b.watch();
  await until(() => watcher.output().includes('watching'), watcher.output);
  const standing = async () => {
    const { code, stdout } = await b.sync('status', '--json');
    return { code, state: (JSON.parse(stdout) as { state: string }).state };
  };
  await until(async () => (await standing()).state === 'ready', watcher.output);
  const well = await b.sync('status');
  expect(well).toMatchObject({ code: 0, stderr: '' });
  for (const what of [b.folder, relay.url, 'since', 'last sync', 'ready', `${watcher.pid}`])
    expect(well.stdout).toContain(what);
  await bothChange(a, b);
  await until(async () => (await standing()).code === 3, watcher.output);
  expect((await b.sync('status')).stdout).toMatch(/conflict +one\.md {2}\(.*--keep mine/);
  await b.sync('resolve', 'one.md', '--keep', 'mine');
  await relay.close();
  b.write('two.md', '2\n');
  await until(async () => (await standing()).state === 'hub away', watcher.output);
  expect((await b.sync('status')).stdout).toContain('The hub is down');
  await watcher.stop();
  // Nobody is left to ask, so the hub is.
  expect(await b.sync('status')).toMatchObject({ code: 4 });
  await relay.open();
  expect(await b.sync('status')).toMatchObject({ code: 0, stdout: expect.stringMatching(/push +two\.md/) });
  await relay.close();
}, 120_000);

test('[SYN-36] the status of all folders names each one, and the one that nobody watches', async () => {
  const [a, b] = await syncedPair(hub, key, { 'one.md': '1\n' });
  const config = temporaryFolder();
  mkdirSync(join(config, 'cairn'));
  const folders = [a, b].map(({ folder }) => ({ folder }));
  writeFileSync(join(config, 'cairn', 'sync.json'), JSON.stringify({ folders }));
  const all = (...more: string[]) =>
    runCairn(['sync', 'status', '--all', ...more], { CAIRN_SERVER: hub.url, CAIRN_KEY: key, XDG_CONFIG_HOME: config });
  const watchers = [a.watch(), b.watch()];
  await until(async () => (await all()).code === 0);
  expect((await all()).stdout.match(/ready, synced/g)).toHaveLength(2);
  await watchers[1]?.stop();
  const { code, stdout } = await all('--json');
  const states = stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as { folder: string; state: string });
  expect([code, states.map(({ state }) => state)]).toEqual([1, ['ready', 'no watch']]);
  await watchers[0]?.stop();
}, 180_000);

test('[SYN-36] a path that is too long for a socket has one all the same', async () => {
  const deep = join(temporaryFolder(), ...Array.from({ length: 5 }, () => 'd'.repeat(40)));
  mkdirSync(deep, { recursive: true });
  const b = syncedFolder(hub, key, 'deep', deep);
  const watcher = b.watch();
  await until(() => watcher.output().includes('watching'), watcher.output);
  await until(async () => (await b.sync('status')).stdout.includes(`process ${watcher.pid}`), watcher.output);
  await watcher.stop();
}, 180_000);

test('[SYN-36] a prompt, an editor and notices show what a watch says', async () => {
  const [a, b] = await syncedPair(hub, key, { 'one.md': '1\n' });
  const watcher = b.watch({}, { options: ['--json'] });
  await until(() => watcher.output().includes('"ready"'), watcher.output);
  const prompt = async () => {
    const shown = await run('bash', ['-c', `. '${SHIPPED}/prompt.sh' && cd '${b.folder}' && cairn_prompt`]);
    return shown.stdout;
  };
  await until(async () => (await prompt()) === '');
  await bothChange(a, b);
  await until(async () => (await prompt()) === '[sync: 1 conflict] ', watcher.output);
  expect((await shownInEditor(b.folder)).text).toBe('$(warning) sync: conflict');
  // The state knows of it while the sync goes on; the watch says it once that ends.
  await until(() => watcher.output().includes('"state":"conflict"'), watcher.output);
  await watcher.stop();
  expect(await prompt()).toBe('');
  expect((await shownInEditor(b.folder)).text).toBe('$(circle-slash) sync: no watch');
  const said = await noticesOf(watcher.output());
  expect(said).toContain('one.md has a conflict');
  expect(said).not.toContain('watching');
}, 180_000);

/** The same file changes on both sides while one of them is paused. */
async function bothChange(a: SyncedFolder, b: SyncedFolder): Promise<void> {
  await b.sync('pause');
  b.write('one.md', 'ours\n');
  a.write('one.md', 'theirs\n');
  await a.sync();
  await b.sync('resume');
}

/** The item in the status bar, in a stand-in for the editor. */
async function shownInEditor(folder: string): Promise<{ readonly text: string }> {
  const item = { text: '', show: () => undefined, dispose: () => undefined };
  const vscode = {
    window: { createStatusBarItem: () => item },
    StatusBarAlignment: { Left: 1 },
    commands: { registerCommand: () => ({ dispose: () => undefined }) },
    workspace: { workspaceFolders: [{ uri: { fsPath: folder } }] },
  };
  const load = createRequire(import.meta.url);
  const at = join(temporaryFolder(), 'node_modules', 'vscode');
  mkdirSync(at, { recursive: true });
  writeFileSync(join(at, 'index.js'), 'module.exports = globalThis.vscodeStandIn;');
  (globalThis as Record<string, unknown>)['vscodeStandIn'] = vscode;
  const extension = join(at, '..', '..', 'extension.cjs');
  writeFileSync(extension, readFileSync(join(SHIPPED, 'vscode', 'extension.cjs')));
  const { activate } = load(extension) as { activate: (context: { subscriptions: { dispose(): void }[] }) => unknown };
  const context = { subscriptions: [] as { dispose(): void }[] };
  await activate(context);
  for (const one of context.subscriptions) one.dispose();
  return item;
}

/** What a person is told of these lines, by a notify-send that writes it down. */
async function noticesOf(lines: string): Promise<string> {
  const folder = temporaryFolder();
  const log = join(folder, 'log');
  writeFileSync(join(folder, 'notify-send'), `#!/bin/sh\nprintf '%s\\n' "$@" >> '${log}'\n`);
  chmodSync(join(folder, 'notify-send'), 0o755);
  const env = { ...process.env, PATH: `${folder}:${process.env['PATH'] ?? ''}` };
  const child = spawn(process.execPath, [join(SHIPPED, 'notify.mjs')], { env, stdio: ['pipe', 'ignore', 'inherit'] });
  child.stdin.end(lines);
  await new Promise((resolve) => child.once('exit', resolve));
  const read = () => {
    try {
      return readFileSync(log, 'utf8');
    } catch {
      return '';
    }
  };
  await until(() => read() !== '');
  return read();
}
