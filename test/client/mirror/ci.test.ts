/** The files for CI: what their jobs run works in an empty environment, and backs the repository up. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { backupMachine, commitFile, gitIn, refsOf, testRepository } from '../../support/backup-machine.ts';
import { type CommandResult, runCairn } from '../../support/hub.ts';
import { account } from '../../support/mirror.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub();

/** The script of a job: the lines of its block, without their indentation. */
function scriptOf(file: string, key: string): string {
  const text = readFileSync(new URL(`../../../src/manual/deploy/${file}`, import.meta.url), 'utf8');
  const [, indent = '', block = ''] = new RegExp(`^( +)${key}: \\|\\n((?:\\1 +.*\\n)+)`, 'm').exec(text) ?? [];
  expect(block).toContain('backups push');
  return block.replaceAll(`\n${indent}  `, '\n').trim();
}

const packageVersion = () =>
  (JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as { version: string }).version;

/** Runs a script as a CI job does: in a checkout, with nothing but its own variables. */
function job(script: string, folder: string, env: Record<string, string>): Promise<CommandResult> {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return new Promise((resolve) => {
    execFile('env', ['-i', ...variables, 'sh', '-e', '-c', script], { cwd: folder }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : -1, stdout, stderr });
    });
  });
}

test.each([
  ['github-backup.yml', 'run'],
  ['gitlab-backup.yml', 'script'],
])(
  '[MIR-24] the job of %s backs up a fresh clone with what uploader-create prints; without the hub, its token or its secret it ends with exit code 4 or 5',
  async (file, key) => {
    const machine = backupMachine(hub, await account(hub));
    await machine.cairn('init');
    const told = (await machine.cairn('uploader-create', 'ci')).stdout;
    const uploadOnly = Object.fromEntries(
      [...told.matchAll(/^(CAIRN_\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
    );
    expect(Object.keys(uploadOnly).toSorted()).toEqual([
      'CAIRN_MIRROR_SECRET',
      'CAIRN_MIRROR_TOKEN',
      'CAIRN_RECIPIENTS',
      'CAIRN_SERVER',
    ]);
    // There is no cairn here: the job downloads its client from the hub.
    const env = {
      ...uploadOnly,
      PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
      HOME: temporaryFolder(),
      CAIRN_LABEL: '빌드서버-7호',
    };
    const { folder } = testRepository(4096, 'project');
    const clone = join(temporaryFolder(), 'project');
    gitIn(temporaryFolder(), 'clone', '--quiet', folder, clone);
    const script = scriptOf(file, key);
    const done = await job(script, clone, env);
    expect([done.code, done.stderr]).toEqual([0, '']);
    expect(done.stdout).toContain('Backed up project');
    expect((await job(script, clone, env)).stdout).toContain('already backed up');
    commitFile(clone, 'new.txt', 'new\n');
    expect((await job(script, clone, env)).stdout).toContain('(increment)');
    const listed = JSON.parse((await machine.cairn('list', '--json')).stdout) as { blobs: Record<string, unknown>[] };
    expect(listed.blobs).toMatchObject(Array(2).fill({ uploaded_by: '빌드서버-7호', repository_label: 'project' }));
    const output = join(temporaryFolder(), 'restored');
    expect((await machine.cairn('pull', '--output', output)).code).toBe(0);
    expect(refsOf(output)).toBe(refsOf(clone));
    // A job knows by the exit code whether to try again.
    expect((await job(script, clone, { ...env, CAIRN_SERVER: 'http://nowhere.invalid' })).code).toBe(4);
    expect((await job(script, clone, { ...env, CAIRN_MIRROR_TOKEN: 'a'.repeat(64) })).code).toBe(5);
    commitFile(clone, 'newer.txt', 'newer\n');
    expect(await job(script, clone, { ...env, CAIRN_MIRROR_SECRET: 'a'.repeat(64) })).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('CAIRN_MIRROR_SECRET does not belong to CAIRN_MIRROR_TOKEN'),
    });
    const other = 'age1zqrwttjaded0k02j8333myppv64ma8xtfefvruyyt0f6sxvzn4mqpn5dhk';
    const [command = ''] = script.split('\n').slice(-1);
    const named = await job(script.replace(command, `${command} --recipient ${other}`), clone, env);
    expect(named).toMatchObject({ code: 0, stdout: expect.stringContaining('for other recipients') });
  },
  120_000,
);

test('[MIR-20, MIR-31, OAUTH-5] a job restores with a token that only downloads; a read-only key opens no backups, and hears why', async () => {
  const who = await account(hub);
  const machine = backupMachine(hub, who);
  await machine.cairn('init');
  const { folder } = testRepository(4096, 'project');
  expect((await machine.cairnIn(folder, 'push')).code).toBe(0);
  const identity = join(machine.config, 'cairn', 'identity.txt');
  const pull = (to: string) => ['pull', '--repository', 'project', '--identity', identity, '--output', to];
  const made = await hub.cli('key', 'create', '--email', who.email, '--name', 'ci', '--read-only', '--json');
  const { mcp_key: reading } = JSON.parse(made.stdout) as { mcp_key: string };
  const reader = backupMachine(hub, { ...who, mcp_key: reading });
  const none = join(temporaryFolder(), 'none');
  for (const args of [['list'], ['latest'], pull(none), ['init'], ['prune', '--keep-last', '1']])
    expect([args[0], await reader.cairnIn(folder, ...args)]).toMatchObject([
      args[0],
      {
        code: 5,
        stdout: '',
        stderr: expect.stringContaining('the mirror token also removes backups: it changes data'),
      },
    ]);
  expect((await reader.cairn('uploader-create', 'x')).stderr).toContain('this key may only read');
  expect((await reader.cairnIn(folder, 'push')).stderr).toContain('has no credential to upload backups');
  expect(existsSync(none)).toBe(false);

  // What the manual tells: the token of a credential that only downloads, and no key.
  const told = (await machine.cairn('restorer-create', 'deploy')).stdout;
  expect(told).toContain('can list and download backups and nothing else');
  expect(told).not.toContain('CAIRN_MIRROR_SECRET');
  const token = /^CAIRN_MIRROR_TOKEN=(.*)$/m.exec(told)?.[1] ?? '';
  expect((await machine.cairn('uploaders')).stdout).toMatch(/^md_\w+ {2}\S+ {2}downloads {2}deploy$/m);
  const output = join(temporaryFolder(), 'restored');
  const env = { XDG_CONFIG_HOME: temporaryFolder(), CAIRN_SERVER: hub.url, CAIRN_MIRROR_TOKEN: token };
  const inJob = (...args: string[]) => runCairn(['backups', ...args], env, '', ['env', '-C', folder]);
  expect(await inJob(...pull(output))).toMatchObject({ code: 0, stderr: '' });
  expect(refsOf(output)).toBe(refsOf(folder));
  const piped = join(temporaryFolder(), 'piped');
  const text = readFileSync(identity, 'utf8');
  const fromPipe = ['backups', 'pull', '--repository', 'project', '--identity', '-', '--output', piped];
  expect(await runCairn(fromPipe, env, '')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('standard input has no age identity'),
  });
  expect(await runCairn(fromPipe, env, text)).toMatchObject({ code: 0, stderr: '' });
  expect(refsOf(piped)).toBe(refsOf(folder));
  expect((await inJob('list')).stdout).toContain('project');
  expect((await inJob('latest')).code).toBe(0);
  commitFile(folder, 'new.txt', 'new\n');
  const drilled = await inJob('drill', '--identity', identity);
  expect(drilled).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('proven'),
    stderr: expect.stringContaining(`not recorded: ${hub.url} refused: this token may only list and download backups.`),
  });
  for (const args of [['push'], ['init'], ['uploader-create', 'x']])
    expect([args[0], (await inJob(...args)).code]).not.toEqual([args[0], 0]);
  expect((JSON.parse((await machine.cairn('list', '--json')).stdout) as { blobs: object[] }).blobs).toHaveLength(1);
}, 120_000);

test('[MIR-30] the file that a hub serves restores on a machine with Node.js, git and nothing else', async () => {
  const who = await account(hub);
  const machine = backupMachine(hub, who);
  await machine.cairn('init');
  const { folder } = testRepository(4096, 'project');
  expect((await machine.cairnIn(folder, 'push')).code).toBe(0);
  const served = await fetch(`${hub.url}/client/cairn.mjs`, { headers: { 'User-Agent': 'test/1' } });
  expect([served.status, served.headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8']);
  const fresh = temporaryFolder();
  writeFileSync(join(fresh, 'cairn.mjs'), await served.text());
  const env = {
    PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
    HOME: fresh,
    CAIRN_SERVER: hub.url,
    CAIRN_KEY: who.mcp_key,
    IDENTITY: join(machine.config, 'cairn', 'identity.txt'),
  };
  const pull = 'node cairn.mjs backups pull --repository project --identity "$IDENTITY" --output restored';
  expect(await job(pull, fresh, env)).toMatchObject({ code: 0, stderr: '' });
  expect(refsOf(join(fresh, 'restored'))).toBe(refsOf(folder));
  expect((await job('node cairn.mjs --version', fresh, env)).stdout.trim()).toBe(packageVersion());
  expect(await job('node cairn.mjs serve', fresh, env)).toMatchObject({ code: 2, stdout: '' });
}, 120_000);
