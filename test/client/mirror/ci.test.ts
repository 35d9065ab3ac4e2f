/** The files for CI: what their jobs run works in an empty environment, and backs the repository up. */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { backupMachine, gitIn, refsOf, testRepository } from '../../support/backup-machine.ts';
import { CAIRN, type CommandResult } from '../../support/hub.ts';
import { account } from '../../support/mirror.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub();

/** The script of a job: the lines of its block, without their indentation. */
function scriptOf(file: string, key: string): string {
  const text = readFileSync(new URL(`../../../src/manual/deploy/${file}`, import.meta.url), 'utf8');
  const [, indent = '', block = ''] = new RegExp(`^( +)${key}: \\|\\n((?:\\1 +.*\\n)+)`, 'm').exec(text) ?? [];
  expect(block).toContain('cairn backups push');
  return block.replaceAll(`\n${indent}  `, '\n').trim();
}

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
  '[MIR-24] the job of %s backs up a fresh clone; without the hub it ends with exit code 4 or 5',
  async (file, key) => {
    const machine = backupMachine(hub, await account(hub));
    await machine.cairn('init');
    const { servers } = JSON.parse(readFileSync(join(machine.config, 'cairn', 'mirror.json'), 'utf8')) as {
      servers: Record<string, { token: string; hmac_secret: string; recipients: string[] }>;
    };
    const { token = '', hmac_secret = '', recipients = [] } = servers[hub.url] ?? {};
    const bin = temporaryFolder();
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, 'cairn'), `#!/bin/sh\nexec ${process.execPath} ${CAIRN} "$@"\n`, { mode: 0o755 });
    const env = {
      PATH: `${bin}:${dirname(process.execPath)}:/usr/bin:/bin`,
      HOME: temporaryFolder(),
      CAIRN_SERVER: hub.url,
      CAIRN_RECIPIENTS: recipients.join(','),
      CAIRN_MIRROR_TOKEN: token,
      CAIRN_MIRROR_SECRET: hmac_secret,
      CAIRN_LABEL: '빌드서버-7호',
    };
    const { folder } = testRepository(4096, 'project');
    const clone = join(temporaryFolder(), 'project');
    gitIn(temporaryFolder(), 'clone', '--quiet', folder, clone);
    const script = scriptOf(file, key);
    const done = await job(script, clone, env);
    expect([done.code, done.stderr]).toEqual([0, '']);
    expect(done.stdout).toContain('Backed up project');
    const listed = JSON.parse((await machine.cairn('list', '--json')).stdout) as { blobs: Record<string, unknown>[] };
    expect(listed.blobs).toMatchObject([{ uploaded_by: '빌드서버-7호', repository_label: 'project' }]);
    const output = join(temporaryFolder(), 'restored');
    expect((await machine.cairn('pull', '--output', output)).code).toBe(0);
    expect(refsOf(output)).toBe(refsOf(clone));
    // A job knows by the exit code whether to try again.
    expect((await job(script, clone, { ...env, CAIRN_SERVER: 'http://nowhere.invalid' })).code).toBe(4);
    expect((await job(script, clone, { ...env, CAIRN_MIRROR_TOKEN: 'a'.repeat(64) })).code).toBe(5);
  },
);
