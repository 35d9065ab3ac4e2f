/** Runs README and manual as a reader would: each section by itself, in a fresh git repository, with accounts of its own. */
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { examples, pages, textOf } from '../support/examples.ts';
import { call } from '../support/http.ts';
import { CAIRN, cleanEnvironment } from '../support/hub.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { useHub } from '../support/use-hub.ts';

const run = promisify(execFile);
const ADDRESS = '127.0.0.1:8787';
const COMMIT = ['-c', 'user.name=You', '-c', 'user.email=you@example.org', 'commit', '--quiet', '--message', 'First'];

const hub = useHub({
  env: { CAIRN_IDP_ISSUER: 'https://idp.example.org', CAIRN_IDP_AUDIENCE: 'https://hub.example.org' },
});
let readers = 0;

interface Reader {
  /** A git repository with one commit. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  /** The script with the address of this hub and the emails of this reader. */
  readonly own: (script: string) => string;
}

/** A home folder with the command, and the accounts that the manual names: `you` with the key, and `ada`. */
async function newReader(): Promise<Reader> {
  const home = temporaryFolder();
  const folder = `${home}/repository`;
  mkdirSync(`${home}/bin`);
  mkdirSync(folder);
  writeFileSync(`${home}/bin/cairn`, `#!/bin/sh\nexec ${process.execPath} ${CAIRN} "$@"\n`);
  chmodSync(`${home}/bin/cairn`, 0o755);
  writeFileSync(`${folder}/notes.md`, '# Notes\n');
  await run('git', ['init', '--quiet'], { cwd: folder });
  await run('git', ['add', '.'], { cwd: folder });
  await run('git', COMMIT, { cwd: folder });
  readers++;
  const domain = `@reader-${readers}.example.org`;
  const you = await hub.cli('account', 'create', '--email', `you${domain}`, '--json');
  expect((await hub.cli('account', 'create', '--email', `ada${domain}`)).code).toBe(0);
  const env = {
    HOME: home,
    XDG_CONFIG_HOME: `${home}/.config`,
    PATH: `${home}/bin:${process.env['PATH'] ?? ''}`,
    CAIRN_SERVER: hub.url,
    CAIRN_KEY: (JSON.parse(you.stdout) as { mcp_key: string }).mcp_key,
    CAIRN_DATA: hub.dataFolder,
  };
  const own = (script: string) =>
    script.replaceAll(ADDRESS, `127.0.0.1:${hub.port}`).replaceAll('@example.org', domain);
  return { folder, env: cleanEnvironment(env), own };
}

const all = pages().flatMap(examples);

test('[MAN-2] the README and most pages of the manual have examples that run', () => {
  expect(all.length).toBeGreaterThanOrEqual(20);
  expect(all.filter(({ title }) => title.startsWith('README.md')).length).toBeGreaterThanOrEqual(3);
});

test.each(all)(
  '[MAN-2] $title',
  async ({ script }) => {
    const { folder, env, own } = await newReader();
    const text = `set -euo pipefail\n${own(script)}`;
    const options = { cwd: folder, env, maxBuffer: 16 * 1024 * 1024 };
    const ended = await run('bash', ['-c', text], options).catch((error: Failure) => error);
    expect(ended, `${ended.stdout}\n${ended.stderr}`).not.toHaveProperty('code');
  },
  120_000,
);

test('[MIR-7, MIR-13, OPS-1] the example of git, openssl, curl and tar restores what was uploaded', async () => {
  const script = examples('src/manual/mirror.md').find(({ title }) => title.includes('without the command'))?.script;
  const { folder, env } = await newReader();
  const compare = 'cmp backup.tar.gz.enc restored.enc\ncat restored/notes.md';
  const { stdout } = await run('bash', ['-c', `set -euo pipefail\n${script}\n${compare}`], { cwd: folder, env });
  const commit = (await run('git', ['rev-parse', 'HEAD'], { cwd: folder })).stdout.trim();
  expect(stdout).toContain(`"commit_sha":"${commit}"`);
  expect(stdout).toContain(`"download_url":"/api/cert_mirror/${commit}/download"`);
  expect(stdout).toContain('restored.enc: OK');
  expect(stdout).toContain('# Notes');
  expect(JSON.parse((await hub.cli('verify', '--json')).stdout)).toMatchObject({ ok: true });
}, 120_000);

test('[UA-1] a health check needs no User-Agent of its own', async () => {
  const { stdout } = await run('curl', ['-sS', `${hub.url}/health`]);
  expect(JSON.parse(stdout)).toMatchObject({ status: 'ok' });
});

test('[TOOL-1] the manual lists every tool with its description and arguments', async () => {
  const answer = await call(hub, '/api/mcp?toolsets=all', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  });
  const { tools } = answer.json()['result'] as { tools: Listing[] };
  const rows = tools.map(({ name, description, inputSchema }) => {
    // Every tool that changes something takes it, which the text says once.
    const own = Object.keys(inputSchema.properties).filter((argument) => argument !== 'idempotency_key');
    const names = own.map((argument) => `\`${argument}\``);
    return `| \`${name}\` | ${description} | ${names.join(', ') || 'none'} |`;
  });
  const [, section = ''] = textOf('src/manual/agents.md').split(/^## Tools$/m);
  const [table = ''] = section.split(/^## /m);
  const listed = table.split('\n').filter((line) => /^\| `[a-z_]+` \|/.test(line));
  expect(listed.toSorted()).toEqual(rows.toSorted());
});

interface Failure {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface Listing {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: { readonly properties: Readonly<Record<string, unknown>> };
}
