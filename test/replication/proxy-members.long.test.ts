/** The lines of the manual for nginx in front of members, as they are written: it finds the one that serves before it sends. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { findFreePort, untilListening } from '../support/free-port.ts';
import { post, toolRequest, withKey } from '../support/gateway.ts';
import type { Hub } from '../support/hub.ts';
import { untilState, whichServes } from '../support/members.ts';
import { succeeds } from '../support/succeeds.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { useMembers } from '../support/use-members.ts';

const MANUAL = readFileSync(new URL('../../src/manual/members.md', import.meta.url), 'utf8');
const hasNginx = succeeds('/bin/sh', '-c', 'PATH=$PATH:/usr/sbin command -v nginx');
const { member, served } = useMembers();
let proxy: ChildProcess | undefined;
afterAll(() => void proxy?.kill('SIGTERM'));

/** Starts nginx with the block of the manual, with the addresses of this test and without TLS. */
async function startNginx(members: readonly Hub[]): Promise<{ url: string }> {
  const [port, folder] = [await findFreePort(), temporaryFolder()];
  const block = /^```\n(upstream members \{\n[\s\S]*?)^```/m.exec(MANUAL)?.[1] ?? '';
  const lines = block
    .replace(/listen 443 ssl;/, `listen 127.0.0.1:${port};`)
    .replace(/^ *ssl_certificate.*\n/gm, '')
    .replace(/10\.0\.0\.(\d):8787/g, (_, number) => `127.0.0.1:${members[Number(number) - 1]?.port}`);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (part) => `${part}_temp_path ${folder}/${part};`,
  );
  const path = join(folder, 'nginx.conf');
  mkdirSync(join(folder, 'logs'));
  const own = `daemon off; pid ${folder}/pid; error_log ${folder}/error.log; worker_processes 1;`;
  writeFileSync(path, `${own} events {} http { access_log off; ${temporary.join(' ')}\n${lines}}\n`);
  proxy = spawn('nginx', ['-p', folder, '-c', path], { stdio: 'ignore', env: { PATH: '/usr/sbin:/usr/bin:/bin' } });
  await untilListening(port);
  return { url: `http://127.0.0.1:${port}` };
}

test.runIf(hasNginx)(
  '[MEMBER-3] behind the nginx of the manual every write reaches the member that serves, and the next one after its loss; with none, 503 with Retry-After',
  { timeout: 300_000 },
  async () => {
    const { log, owner } = await served();
    const other = await member({ name: 'east', log });
    await untilState(other, 'following');
    const made = JSON.parse((await owner.cli('account', 'create', '--email', 'ada@example.org', '--json')).stdout);
    const door = await startNginx([owner, other]);
    const create = (content: string) =>
      post(door as Hub, toolRequest(1, 'create_task', { content }), withKey(made.mcp_key));
    await whichServes([door]);
    const statuses: number[] = [];
    for (let number = 0; number < 20; number += 1) statuses.push((await create(`before ${number}`)).status);
    expect(new Set(statuses)).toEqual(new Set([200]));
    await owner.kill();
    await whichServes([other]);
    await whichServes([door]);
    for (let number = 0; number < 20; number += 1) statuses.push((await create(`after ${number}`)).status);
    expect(new Set(statuses)).toEqual(new Set([200]));
    await other.kill();
    await expect.poll(async () => (await create('with nobody')).status).toBe(503);
    expect((await create('with nobody')).headers['retry-after']).toBe('1');
  },
);
