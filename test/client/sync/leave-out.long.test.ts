/** What a newcomer expects of ignoring: rules come first, a first push asks, `.gitignore` by choice, and `forget`. */
import { randomBytes } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { CAIRN, cleanEnvironment } from '../../support/hub.ts';
import { account } from '../../support/mirror.ts';
import { hasTerminal, runOnTerminal } from '../../support/on-terminal.ts';
import { startRelay } from '../../support/relay.ts';
import { syncedFolder, syncedPair, textsOf } from '../../support/synced-folder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub();
let key: string;

beforeAll(async () => {
  ({ mcp_key: key } = await account(hub));
});

const newVault = () => `vault ${randomBytes(4).toString('hex')}`;
const DONE = { code: 0, stderr: '' };

test('[SYN-29] a new device fetches nothing that .cairnignore leaves out, although it was pushed before', async () => {
  const vault = newVault();
  const relay = await startRelay(hub);
  const [a, b] = [syncedFolder(hub, key, vault), syncedFolder(relay, key, vault)];
  a.write('node_modules/left-pad/index.js', 'the bytes of a module\n');
  a.write('notes.md', 'notes\n');
  await a.sync();
  a.write('.cairnignore', 'node_modules/\n');
  expect(await a.sync()).toMatchObject(DONE);
  expect(await b.sync()).toMatchObject(DONE);
  expect(textsOf(b)).toEqual({ '.cairnignore': 'node_modules/\n', 'notes.md': 'notes\n' });
  expect((await b.sync('status')).stdout.trim()).toBe('up to date');
  await relay.close();
}, 180_000);

test('[SYN-29] without a terminal, a first push asks nothing and says what to do', async () => {
  const a = syncedFolder(hub, key, newVault());
  for (let at = 0; at < 3; at += 1) a.write(`app/node_modules/m${at}.js`, 'module\n');
  a.write('app/main.js', 'main\n');
  const first = await a.sync();
  expect(first.code).toBe(0);
  expect(first.stderr).toMatch(/node_modules\/ has 3 files, 21 B\. It is synced\. To leave it out, add the line/);
  expect((await a.call('sync_list', '--json', `--vault_id=${vaultIdOf(a)}`)).stdout).toContain('m0.js');
  a.write('app/node_modules/m4.js', 'module\n');
  expect(await a.sync()).toMatchObject(DONE);
}, 180_000);

const vaultIdOf = ({ read }: Pick<ReturnType<typeof syncedFolder>, 'read'>) =>
  (JSON.parse(read('.cairn/state.json')) as { vault_id: string }).vault_id;

test.runIf(hasTerminal).each([
  ['\n', ['.cairnignore', 'app/main.js']],
  ['n\n', ['app/main.js', 'app/node_modules/m0.js']],
])(
  '[SYN-29] at a terminal it asks, and %j answers',
  async (typed, kept) => {
    const vault = newVault();
    const [a, b] = [syncedFolder(hub, key, vault), syncedFolder(hub, key, vault)];
    a.write('app/node_modules/m0.js', 'module\n');
    a.write('app/main.js', 'main\n');
    const env = cleanEnvironment({ CAIRN_SERVER: hub.url, CAIRN_KEY: key, XDG_CONFIG_HOME: temporaryFolder() });
    const args = [CAIRN, 'sync', '--folder', a.folder, '--vault', vault, '--create'];
    const said = await runOnTerminal([process.execPath, ...args], { env, after: 'Leave it out?', typed });
    expect(said).toContain('node_modules/ has 1 file, 7 B. Leave it out? [Y/n]');
    expect(await b.sync()).toMatchObject(DONE);
    expect(Object.keys(textsOf(b)).sort()).toEqual(kept);
  },
  180_000,
);

test('[SYN-29] .gitignore counts once .cairnignore includes it, and may be corrected below', async () => {
  const [a, b] = await syncedPair(hub, key, { 'a.log': 'a\n', 'b.log': 'b\n', '.gitignore': '*.log\n' });
  expect(Object.keys(textsOf(b))).toContain('a.log');
  a.write('.cairnignore', '#include .gitignore\n!b.log\n');
  expect(await a.sync()).toMatchObject(DONE);
  a.write('a.log', 'a, edited\n');
  a.write('b.log', 'b, edited\n');
  expect(await a.sync()).toMatchObject(DONE);
  expect(await b.sync()).toMatchObject(DONE);
  expect(textsOf(b)).toMatchObject({ 'a.log': 'a\n', 'b.log': 'b, edited\n' });
}, 180_000);

test('[SYN-29] forget takes a folder away from the hub, and every device keeps its files', async () => {
  const files = { 'keep.md': 'keep\n', 'out/a.txt': 'a\n', 'out/deep/b.txt': 'b\n', 'outer.txt': 'outer\n' };
  const [a, b] = await syncedPair(hub, key, files);
  const forgotten = await a.sync('forget', 'out');
  expect(forgotten).toMatchObject(DONE);
  expect(forgotten.stdout).toMatch(
    /took 2 files, 4 B, away from the hub; they stay here\n.*'?\/out\/'? now\. Other devices/s,
  );
  expect(await b.sync()).toMatchObject(DONE);
  const wanted = { ...files, '.cairnignore': '/out/\n' };
  expect(textsOf(a)).toEqual(wanted);
  expect(textsOf(b)).toEqual(wanted);
  const list = await a.call('sync_list', '--json', `--vault_id=${vaultIdOf(a)}`);
  expect(list.stdout).not.toContain('out/a.txt');
  for (const machine of [a, b]) expect((await machine.sync('status')).stdout.trim()).toBe('up to date');
  // It takes part again as a new file.
  a.write('.cairnignore', '# nothing\n');
  expect(await a.sync()).toMatchObject({ code: 0 });
  expect(a.read('out/a.txt')).toBe('a\n');
  expect(await a.sync('forget', 'nowhere')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('not on the hub'),
  });
}, 180_000);

test('[SYN-29] a file that only this device leaves out is removed elsewhere, and forget says so', async () => {
  const [a, b] = await syncedPair(hub, key, { 'keep.md': 'keep\n', 'big.bin': 'big\n' });
  a.write('.cairn/ignore', 'big.bin\n');
  const forgotten = await a.sync('forget', 'big.bin');
  expect(forgotten.stdout).toContain('A device without such a rule removes its copies');
  expect(await b.sync()).toMatchObject(DONE);
  expect([a.has('big.bin'), b.has('big.bin')]).toEqual([true, false]);
}, 180_000);

test('[SYN-29] a device that was away keeps what was forgotten, although the rules have a newer change than the delete', async () => {
  const files = { 'x/1': '1\n', 'y/1': '1\n', 'z/1': '1\n', 'moved/1': 'one\n' };
  const [a, b] = await syncedPair(hub, key, files);
  await a.sync('forget', 'x');
  await a.sync('forget', 'y');
  // The next change of the rules is on the second page of a pull.
  for (let at = 0; at < 120; at += 1) a.write(`many/${at}`, `${at}\n`);
  await a.sync();
  await a.sync('forget', 'z');
  expect(await b.sync()).toMatchObject(DONE);
  expect(textsOf(b)).toMatchObject(files);
  expect((await b.sync('status')).stdout.trim()).toBe('up to date');
}, 180_000);

test.each([
  ['theirs', true],
  ['mine', false],
])(
  '[SYN-29] a conflict of the rules holds back what they may leave out; keeping %s decides',
  async (side, isKept) => {
    const [a, b] = await syncedPair(hub, key, { 'keep.md': 'keep\n', 'out/1': '1\n' });
    await a.sync('forget', 'out');
    b.write('.cairnignore', '*.log\n');
    const met = await b.sync();
    expect(met).toMatchObject({ code: 3, stderr: expect.stringContaining('once the conflict of .cairnignore') });
    expect(b.read('out/1')).toBe('1\n');
    await b.sync('resolve', '.cairnignore', '--keep', side);
    expect(await b.sync()).toMatchObject(DONE);
    expect(b.has('out/1')).toBe(isKept);
    expect((await b.sync('status')).stdout.trim()).toBe('up to date');
  },
  180_000,
);

test('[SYN-29] rules that merge are merged before the deletes that they leave out', async () => {
  const [a, b] = await syncedPair(hub, key, { '.cairnignore': '*.tmp\n\n*.bak\n', 'out/1': '1\n' });
  await a.sync('forget', 'out');
  b.write('.cairnignore', '*.log\n*.tmp\n\n*.bak\n');
  expect(await b.sync()).toMatchObject(DONE);
  expect(b.read('.cairnignore')).toBe('*.log\n*.tmp\n\n*.bak\n/out/\n');
  expect(b.read('out/1')).toBe('1\n');
}, 180_000);
