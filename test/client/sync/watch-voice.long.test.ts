/** What a watch says: to a program lines of JSON and nothing else, to a person nothing that only a single command needs. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { CAIRN, cleanEnvironment } from '../../support/hub.ts';
import { account } from '../../support/mirror.ts';
import { startRelay } from '../../support/relay.ts';
import { syncedFolder, syncedPair, until } from '../../support/synced-folder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub();
let key: string;

beforeAll(async () => {
  ({ mcp_key: key } = await account(hub));
});

interface Line {
  readonly folder?: string;
  readonly state?: string;
  readonly verb?: string;
}

/** The lines of an output that has nothing but JSON. */
const linesOf = (output: string) =>
  output
    .split('\n')
    .slice(0, -1)
    .map((line): Line => JSON.parse(line));

test('[CLI-2] a watch of a list creates the vaults that it names, where --create is given', async () => {
  const vault = `vault ${randomBytes(4).toString('hex')}`;
  const known = syncedFolder(hub, key, vault);
  expect(await known.sync()).toMatchObject({ code: 0 });
  const folders = [
    { folder: temporaryFolder(), vault: `${vault}x` },
    { folder: temporaryFolder(), vault: `${vault}y` },
  ];
  const config = temporaryFolder();
  mkdirSync(join(config, 'cairn'));
  writeFileSync(join(config, 'cairn', 'sync.json'), JSON.stringify({ folders }));
  const env = cleanEnvironment({ CAIRN_SERVER: hub.url, CAIRN_KEY: key, XDG_CONFIG_HOME: config });
  const watching = [CAIRN, 'sync', 'watch', '--all', '--json', '--create'];
  const child = spawn(process.execPath, watching, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const isReady = (folder: string) => linesOf(output).some((line) => line.folder === folder && line.state === 'ready');
  await until(
    () => folders.every(({ folder }) => isReady(folder)),
    () => output,
  );
  const { vaults } = JSON.parse((await known.call('vault_list', '--json')).stdout) as { vaults: { name: string }[] };
  expect(vaults.map(({ name }) => name)).toEqual(expect.arrayContaining(folders.map((one) => one.vault)));
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
}, 180_000);

test('[CLI-2] vaults whose names differ only in their numbers are no misspelling of each other', async () => {
  const vault = `vault ${randomBytes(4).toString('hex')} v`;
  for (const name of [`${vault}1`, `${vault}2`]) {
    expect(await syncedFolder(hub, key, name).sync()).toMatchObject({ code: 0 });
  }
}, 180_000);

test('[SYN-24] a watch with --json prints nothing but JSON: paused, hub away and back, each with its folder', async () => {
  const relay = await startRelay(hub);
  const [, b] = await syncedPair(hub, key, { one: '1\n' }, { through: relay });
  const watcher = b.watch({}, { options: ['--json'] });
  const has = (state: string) => linesOf(watcher.output()).some((line) => line.state === state);
  const hears = async (state: string) => await until(() => has(state), watcher.output);
  await hears('ready');
  await b.sync('pause');
  b.write('two', '2\n');
  await hears('paused');
  await b.sync('resume');
  await hears('resumed');
  await until(() => linesOf(watcher.output()).some(({ verb }) => verb === 'pushed'), watcher.output);
  await relay.close();
  b.write('three', '3\n');
  await hears('hub away');
  const { stdout, code } = await b.sync('--json');
  expect([code, JSON.parse(stdout)]).toMatchObject([4, { error: expect.stringContaining('cannot connect') }]);
  await relay.open();
  await hears('hub back');
  expect(new Set(linesOf(watcher.output()).map(({ folder }) => folder))).toEqual(new Set([b.folder]));
  expect(await watcher.stop()).toBe(0);
  await relay.close();
}, 180_000);

test('[SYN-24] a watch whose hub is down does not say to run a command again or to start the hub', async () => {
  const relay = await startRelay(hub);
  const [, b] = await syncedPair(hub, key, { one: '1\n' }, { through: relay });
  const watcher = b.watch();
  await until(() => watcher.output().includes('watching'), watcher.output);
  await relay.close();
  b.write('two', '2\n');
  await until(() => watcher.output().includes('The hub is down'), watcher.output);
  const late = syncedFolder(relay, key, 'another').watch();
  await until(() => late.output().includes('Waiting for it'), late.output);
  for (const { output } of [watcher, late])
    expect(output()).not.toMatch(/cairn serve|run the command|; try again|--server/);
  await Promise.all([watcher.stop(), late.stop()]);
}, 180_000);
