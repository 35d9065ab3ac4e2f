/** Two machines and a bucket, as the manual says: HAProxy in front, the one that serves killed, and the way back in time. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { afterAll, expect, test } from 'vitest';
import { findFreePort, untilListening } from '../support/free-port.ts';
import { callTool, structured } from '../support/gateway.ts';
import { type Hub, runCairn, startHub } from '../support/hub.ts';
import { startMember, untilState, whichServes } from '../support/members.ts';
import { hasRgw, useRgw } from '../support/rgw.ts';
import { succeeds } from '../support/succeeds.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const MASTER_KEY = '5a'.repeat(32);
const started: Hub[] = [];
const proxies: ChildProcess[] = [];
afterAll(async () => {
  for (const hub of started) await hub.kill();
  for (const proxy of proxies) proxy.kill('SIGKILL');
});

const hasHaproxy = succeeds('/bin/sh', '-c', 'PATH=$PATH:/usr/sbin command -v haproxy');

/** The configuration of the manual, with addresses of this test. */
async function startHaproxy(members: readonly Hub[]): Promise<{ url: string }> {
  const port = await findFreePort();
  const servers = members.map((hub, index) => `  server m${index} 127.0.0.1:${hub.port}`).join('\n');
  const path = join(temporaryFolder(), 'haproxy.cfg');
  writeFileSync(
    path,
    `defaults\n  mode http\n  timeout connect 5s\n  timeout client 1h\n  timeout server 1h\n  retries 0\n` +
      `frontend hub\n  bind 127.0.0.1:${port}\n  default_backend members\n` +
      `backend members\n  option httpchk\n` +
      `  http-check send meth GET uri /ready ver HTTP/1.1 hdr Host hub.example.org hdr User-Agent haproxy\n` +
      `  http-check expect status 200\n` +
      `  option forwardfor\n` +
      `  default-server check inter 1s fall 2 rise 1 on-marked-down shutdown-sessions\n${servers}\n`,
  );
  proxies.push(spawn('haproxy', ['-db', '-f', path], { stdio: 'ignore', env: { PATH: '/usr/sbin:/usr/bin:/bin' } }));
  await untilListening(port);
  return { url: `http://127.0.0.1:${port}` };
}

async function taskNames(hub: Pick<Hub, 'url'>, key: string): Promise<string[]> {
  const { tasks } = await structured<{ tasks: { content: string }[] }>(hub as Hub, 'list_tasks', { limit: 100 }, key);
  return tasks.map(({ content }) => content).toSorted();
}

test.runIf(hasRgw && hasHaproxy)(
  '[MEMBER-1, MEMBER-3, MEMBER-4] members of an encrypted bucket: the owner is killed, the other serves, and any second is restored',
  { timeout: 300_000 },
  async () => {
    const rgw = await useRgw();
    const identity = await generateX25519Identity();
    const log = `s3://logs/members/${randomBytes(6).toString('hex')}`;
    const env = { ...rgw.env, CAIRN_LOG_IDENTITY: identity, CAIRN_LOG_RECIPIENT: await identityToRecipient(identity) };
    const one = await startMember({ name: 'west', log, env });
    started.push(one);
    await whichServes([one]);
    const two = await startMember({ name: 'east', log, env });
    started.push(two);
    const made = JSON.parse((await one.cli('account', 'create', '--email', 'ada@example.org', '--json')).stdout);
    const key: string = made.mcp_key;
    await untilState(two, 'following');
    const door = await startHaproxy([one, two]);
    await whichServes([door]);
    /** As clients do: HAProxy takes a member for ready until two checks failed, so a refusal is answered by a repeat. */
    const create = async (content: string) => {
      for (let tried = 0; tried < 100; tried += 1) {
        const reply = await callTool(door as Hub, 'create_task', { content }, key).catch(() => undefined);
        if (reply !== undefined && reply.error === undefined) return;
        await sleep(100);
      }
      throw new Error(`the task ${content} was not created`);
    };
    for (const name of ['a', 'b']) await create(name);
    await sleep(1100);
    const between = new Date().toISOString();
    await sleep(1100);
    await create('c');
    await one.kill();
    await whichServes([two]);
    await whichServes([door]);
    await create('d');
    expect(await taskNames(door, key)).toEqual(['a', 'b', 'c', 'd']);
    for (const [at, names] of [
      [between, ['a', 'b']],
      ['now', ['a', 'b', 'c', 'd']],
    ] as const) {
      const dataFolder = join(temporaryFolder(), 'restored');
      const settings = { ...env, CAIRN_DATA: dataFolder, CAIRN_MASTER_KEY: MASTER_KEY };
      const done = await runCairn(['restore', '--at', at, log], settings);
      expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining('new epoch') });
      expect((await runCairn(['verify'], settings)).code).toBe(0);
      const hub = await startHub({ dataFolder, env: { CAIRN_MASTER_KEY: MASTER_KEY } });
      started.push(hub);
      expect(await taskNames(hub, key)).toEqual(names);
      await hub.stop();
    }
  },
);
