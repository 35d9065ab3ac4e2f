/** Runs the README's walk-through as it stands there, with the tools that it names. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call } from './support/http.ts';
import { cleanEnvironment, type Hub, startHub } from './support/hub.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const README = readFileSync(`${ROOT}/README.md`, 'utf8');
const ADDRESS = '127.0.0.1:8787';

let hub: Hub;

beforeAll(async () => {
  // The README's own port, unless a hub of the developer's has it just now.
  hub = await startHub({ env: { CAIRN_PORT: '8787' } }).catch(() => startHub());
});

afterAll(async () => {
  await hub.stop();
});

function walkThrough(): string {
  const blocks = [...README.matchAll(/<!-- walk-through -->\n```sh\n([\s\S]*?)```/g)].map((match) => match[1]);
  expect(blocks.length).toBeGreaterThanOrEqual(5);
  return ['set -euo pipefail', ...blocks].join('\n').replaceAll(ADDRESS, `127.0.0.1:${hub.port}`);
}

test('[MIR-7, MIR-13, OPS-1] the walk-through of the README works with git, openssl, curl and tar', async () => {
  const script = `${walkThrough()}\ncmp "$work/backup.tar.gz.enc" "$work/restored.enc"\ncat "$work/restored/package.json"\ndiff -r "$work/restored" "$work/pulled"`;
  const { stdout } = await promisify(execFile)('bash', ['-c', script], {
    cwd: ROOT,
    env: cleanEnvironment({ CAIRN_DATA: hub.dataFolder, CAIRN_PORT: String(hub.port) }),
    maxBuffer: 16 * 1024 * 1024,
  });
  const commit = (await promisify(execFile)('git', ['rev-parse', 'HEAD'], { cwd: ROOT })).stdout.trim();
  expect(stdout).toContain(`"commit_sha":"${commit}"`);
  expect(stdout).toContain(`"download_url":"/api/cert_mirror/${commit}/download"`);
  expect(stdout).toContain('restored.enc: OK');
  expect(stdout).toContain('"name": "cairn"');
  const verified = await hub.cli('verify', '--json');
  expect(JSON.parse(verified.stdout)).toMatchObject({ ok: true, blobs: 2 });
}, 240_000);

test('[UA-1] the README’s health check works as written: the probe needs no agent of its own', async () => {
  const { stdout } = await promisify(execFile)('curl', ['-sS', `${hub.url}/health`]);
  expect(JSON.parse(stdout)).toMatchObject({ status: 'ok' });
});

test('[TOOL-1] the README’s table names every tool with its description and arguments', async () => {
  const answer = await call(hub, '/api/mcp', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  });
  const { tools } = answer.json()['result'] as { tools: Listing[] };
  const rows = tools.map(({ name, description, inputSchema }) => {
    const names = Object.keys(inputSchema.properties).map((argument) => `\`${argument}\``);
    return `| \`${name}\` | ${description} | ${names.join(', ') || 'none'} |`;
  });
  const section = README.slice(README.indexOf('## Connect an agent'), README.indexOf('## Tasks over REST'));
  expect(section.split('\n').filter((line) => /^\| `[a-z_]+` \|/.test(line))).toEqual(rows);
});

interface Listing {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: { readonly properties: Readonly<Record<string, unknown>> };
}
