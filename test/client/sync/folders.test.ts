/** One watch for a list of folders, which commands change while it runs, and the service that keeps it running. */
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { CAIRN, cleanEnvironment, runCairn } from '../../support/hub.ts';
import { account } from '../../support/mirror.ts';
import { succeeds } from '../../support/succeeds.ts';
import { syncedFolder, until } from '../../support/synced-folder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub();
let key: string;

beforeAll(async () => {
  ({ mcp_key: key } = await account(hub));
});

const newVault = () => `vault ${randomBytes(4).toString('hex')}`;

/** Starts the watch of a list; what it says so far. */
function watchOfAll(command: readonly string[], env: NodeJS.ProcessEnv) {
  const [program = process.execPath, ...args] = command;
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const ended = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => resolve(code));
  });
  const stop = () => {
    child.kill('SIGTERM');
    return ended;
  };
  return { output: () => output, stop };
}

test('[SYN-37] folders are added to a running watch and taken from it, and the failure of one is its own', async () => {
  const env = { CAIRN_SERVER: hub.url, CAIRN_KEY: key, XDG_CONFIG_HOME: temporaryFolder() };
  const cairn = (...args: string[]) => runCairn(['sync', ...args], env);
  expect((await cairn('folders')).stdout).toContain('cairn sync add DIR');
  expect(await cairn('watch', '--all')).toMatchObject({ code: 1, stderr: expect.stringContaining('cairn sync add') });
  const [first, second] = [newVault(), newVault()];
  const one = temporaryFolder();
  const two = join(temporaryFolder(), 'not there yet');
  expect(await cairn('add', one, '--vault', first)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('added'),
  });
  const watch = watchOfAll([process.execPath, CAIRN, 'sync', 'watch', '--all'], cleanEnvironment(env));
  await until(() => watch.output().includes(`watching ${one}`), watch.output);
  expect(await cairn('add', two, '--vault', second, '--only', '*.md')).toMatchObject({ code: 0 });
  await until(() => watch.output().includes(`watching ${two}`), watch.output);
  const listed = await cairn('folders', '--json');
  expect(JSON.parse(listed.stdout)).toMatchObject({
    folders: [
      { folder: one, vault: first, server: hub.url },
      { folder: two, vault: second, only: ['*.md'] },
    ],
  });
  const [elsewhereOne, elsewhereTwo] = [syncedFolder(hub, key, first), syncedFolder(hub, key, second)];
  writeFileSync(join(one, 'a.md'), 'a\n');
  writeFileSync(join(two, 'b.md'), 'b\n');
  await until(async () => (await elsewhereOne.sync()).code === 0 && elsewhereOne.has('a.md'), watch.output);
  await until(async () => (await elsewhereTwo.sync()).code === 0 && elsewhereTwo.has('b.md'), watch.output);
  // One folder goes away; the other goes on, and the first comes back with its next mention.
  renameSync(one, `${one} away`);
  await until(() => watch.output().includes('no longer synced'), watch.output);
  writeFileSync(join(two, 'c.md'), 'c\n');
  await until(async () => (await elsewhereTwo.sync()).code === 0 && elsewhereTwo.has('c.md'), watch.output);
  renameSync(`${one} away`, one);
  expect(await cairn('add', one)).toMatchObject({ code: 0, stdout: expect.stringContaining('changed') });
  writeFileSync(join(one, 'd.md'), 'd\n');
  await until(async () => (await elsewhereOne.sync()).code === 0 && elsewhereOne.has('d.md'), watch.output);
  // A list that cannot be read changes nothing.
  const file = join(env.XDG_CONFIG_HOME, 'cairn', 'sync.json');
  const right = readFileSync(file);
  writeFileSync(file, '{');
  await until(() => watch.output().includes('The folders stay as they are'), watch.output);
  writeFileSync(file, right);
  expect(await cairn('remove', two)).toMatchObject({ code: 0, stdout: expect.stringContaining('stay') });
  await until(() => !existsSync(join(two, '.cairn/watch.sock')), watch.output);
  expect(existsSync(join(two, 'c.md'))).toBe(true);
  expect(await cairn('remove', two)).toMatchObject({ code: 1, stderr: expect.stringContaining('not in the list') });
  expect((await cairn('status', '--all')).stdout.trim().split('\n')).toHaveLength(1);
  expect(await watch.stop()).toBe(0);
}, 180_000);

const hasAnalyze = succeeds('systemd-analyze', '--version');

/** Finds what systemd dislikes about a unit; where it is not installed, nothing. */
function verifyUnit(file: string): string {
  if (!hasAnalyze) return '';
  const env = { ...process.env, XDG_RUNTIME_DIR: temporaryFolder() };
  return execFileSync('systemd-analyze', ['verify', '--user', '--man=no', file], { encoding: 'utf8', env });
}

/** Programs of systemd that write down what they are asked for, and whether the service is active by now. */
function standInForSystemd(lingers: boolean) {
  const bin = temporaryFolder();
  const asked = join(bin, 'asked');
  const program = (name: string, lines: string) => {
    writeFileSync(join(bin, name), `#!/bin/sh\necho "${name} $*" >> '${asked}'\n${lines}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  const active = join(bin, 'active');
  program(
    'systemctl',
    `case "$2" in restart) touch '${active}';; disable) rm '${active}';; is-active) test -e '${active}';; esac`,
  );
  program('loginctl', `echo ${lingers ? 'yes' : 'no'}`);
  const calls = () => readFileSync(asked, 'utf8').split('\n').filter(Boolean);
  return { path: `${bin}:${process.env['PATH'] ?? ''}`, calls };
}

test.runIf(process.platform === 'linux')(
  '[SYN-37] a service needs a folder and a sign-in; its unit syncs the folders by itself, and can be removed',
  async () => {
    const config = temporaryFolder();
    const { path, calls } = standInForSystemd(false);
    const env = { XDG_CONFIG_HOME: config, PATH: path };
    const service = (action: string, more = {}) => runCairn(['sync', 'service', action], { ...env, ...more });
    expect(await service('install')).toMatchObject({ code: 1, stderr: expect.stringContaining('cairn sync add') });
    const [folder, vault] = [temporaryFolder(), newVault()];
    const signedIn = { CAIRN_SERVER: hub.url, CAIRN_KEY: key };
    expect(await runCairn(['sync', 'add', folder, '--vault', vault], { ...env, ...signedIn })).toMatchObject({
      code: 0,
    });
    // A key of the environment is not in that of the service.
    expect(await service('install', signedIn)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('cairn login'),
    });
    const login = {
      access_token: 'x',
      access_expires_at: new Date(0).toISOString(),
      refresh_token: 'x',
      mcp_key: key,
      device_name: 'here',
    };
    const credentials = join(config, 'cairn', 'credentials.json');
    mkdirSync(join(config, 'cairn'), { recursive: true });
    writeFileSync(credentials, JSON.stringify({ version: 1, current: null, servers: { [hub.url]: login } }), {
      mode: 0o600,
    });
    expect(await service('status')).toMatchObject({ code: 1, stdout: expect.stringContaining('not installed') });
    const installed = await service('install');
    expect(installed).toMatchObject({ code: 0, stderr: '' });
    expect(installed.stdout).toContain('loginctl enable-linger');
    expect(await service('status')).toMatchObject({ code: 0, stdout: expect.stringMatching(/state +active/) });
    const file = join(config, 'systemd/user/cairn-sync.service');
    expect(verifyUnit(file)).toBe('');
    const unit = readFileSync(file, 'utf8');
    const [, command = ''] = /^ExecStart=(.*)$/m.exec(unit) ?? [];
    const [, variable = ''] = /^Environment=XDG_CONFIG_HOME=(.*)$/m.exec(unit) ?? [];
    const watch = watchOfAll(command.split(' '), cleanEnvironment({ XDG_CONFIG_HOME: variable }));
    writeFileSync(join(folder, 'a.md'), 'a\n');
    const elsewhere = syncedFolder(hub, key, vault);
    await until(async () => (await elsewhere.sync()).code === 0 && elsewhere.has('a.md'), watch.output);
    expect(await watch.stop()).toBe(0);
    expect(await service('remove')).toMatchObject({ code: 0, stdout: expect.stringContaining('removed') });
    expect(existsSync(file)).toBe(false);
    expect(await service('remove')).toMatchObject({ code: 0, stdout: expect.stringContaining('no service') });
    expect(calls().filter((call) => !/is-active|loginctl/.test(call))).toEqual([
      'systemctl --user daemon-reload',
      'systemctl --user enable cairn-sync.service',
      'systemctl --user restart cairn-sync.service',
      'systemctl --user disable --now cairn-sync.service',
      'systemctl --user daemon-reload',
    ]);
  },
  180_000,
);

test.runIf(process.platform === 'linux')(
  '[SYN-37] a service that cannot be started says why, and the other way',
  async () => {
    const config = temporaryFolder();
    const bin = temporaryFolder();
    writeFileSync(join(bin, 'systemctl'), '#!/bin/sh\necho "Failed to connect to bus" >&2\nexit 1\n', { mode: 0o755 });
    mkdirSync(join(config, 'cairn'));
    const login = { access_token: 'x', access_expires_at: '', refresh_token: 'x', mcp_key: key, device_name: 'here' };
    writeFileSync(
      join(config, 'cairn', 'credentials.json'),
      JSON.stringify({ version: 1, current: null, servers: { [hub.url]: login } }),
      { mode: 0o600 },
    );
    writeFileSync(
      join(config, 'cairn', 'sync.json'),
      JSON.stringify({ folders: [{ folder: temporaryFolder(), server: hub.url }] }),
    );
    const env = { XDG_CONFIG_HOME: config, PATH: `${bin}:${process.env['PATH'] ?? ''}` };
    const { code, stderr } = await runCairn(['sync', 'service', 'install'], env);
    expect(code).toBe(1);
    expect(stderr).toMatch(/Failed to connect to bus.*cairn sync watch --all/);
    rmSync(bin, { recursive: true });
  },
);
