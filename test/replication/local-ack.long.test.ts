/** CAIRN_LOG_ACK=local through the front door: what a crash keeps from the log comes into it, or is set aside. */
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { epochOf } from '../../src/store/meta/epoch.ts';
import { metaTables } from '../../src/store/meta/meta.ts';
import { Store } from '../../src/store/store.ts';
import { callTool, structured } from '../support/gateway.ts';
import { AGENT, call } from '../support/http.ts';
import type { Hub } from '../support/hub.ts';
import { memberHealth, newLog, untilState, whichServes } from '../support/members.ts';
import { useMembers } from '../support/use-members.ts';

const PATIENCE_MS = 240_000;
/** Long enough to write with the log away, on a busy machine. */
const LEASE_SECONDS = 6;
const TOKEN = 'token-of-figures';
const members = useMembers();

const member = (options: { name: string; log: string; dataFolder?: string }): Promise<Hub> =>
  members.member({
    ...options,
    env: { CAIRN_LOG_ACK: 'local', CAIRN_LEASE_SECONDS: String(LEASE_SECONDS), CAIRN_METRICS_TOKEN: TOKEN },
  });

async function account(owner: Hub): Promise<string> {
  const made = await owner.cli('account', 'create', '--email', 'ada@example.org', '--json');
  return JSON.parse(made.stdout).mcp_key;
}

const createTask = (hub: Hub, key: string, name: string) => callTool(hub, 'create_task', { content: name }, key);

async function taskNames(hub: Hub, key: string): Promise<string[]> {
  const { tasks } = await structured<{ tasks: { content: string }[] }>(hub, 'list_tasks', { limit: 100 }, key);
  return tasks.map(({ content }) => content).toSorted((a, b) => (a < b ? -1 : 1));
}

/** A file where the folder of the log was: whatever asks it fails. */
function takeAway(log: string): () => void {
  renameSync(log, `${log}.away`);
  writeFileSync(log, '');
  return () => {
    rmSync(log);
    renameSync(`${log}.away`, log);
  };
}

function epochIn(hub: Hub): string | undefined {
  const store = new Store({ folder: hub.dataFolder, tables: metaTables, readOnly: true });
  try {
    return epochOf(store);
  } finally {
    void store.close();
  }
}

const figure = async (hub: Hub, name: string): Promise<number> => {
  const { text } = await call(hub, '/metrics', { headers: { Authorization: `Bearer ${TOKEN}` } });
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.split(' ')[1],
  );
};

const logHas = async (hub: Hub): Promise<void> => {
  while ((await figure(hub, 'cairn_log_unlogged_bytes')) > 0) await new Promise((resolve) => setTimeout(resolve, 50));
};

test('[MEMBER-5] a write is answered with the log away, is in it after a crash, and past the lease none is answered', {
  timeout: PATIENCE_MS,
}, async () => {
  const log = newLog();
  const west = await member({ name: 'west', log });
  await whichServes([west]);
  const key = await account(west);
  expect((await createTask(west, key, 'before')).error).toBeUndefined();
  await logHas(west);
  const bringBack = takeAway(log);
  expect((await createTask(west, key, 'log away')).error).toBeUndefined();
  expect(await figure(west, 'cairn_log_unlogged_bytes')).toBeGreaterThan(0);
  expect((await memberHealth(west))?.unlogged_ms).toBeGreaterThan(0);
  await untilState(west, 'apart');
  const late = await call(west, '/api/accounts/me', { headers: { 'User-Agent': AGENT } });
  expect([late.status, late.headers['retry-after']]).toEqual([503, expect.stringMatching(/^\d+$/)]);
  await west.kill();
  bringBack();
  const again = await member({ name: 'west', log, dataFolder: west.dataFolder });
  await whichServes([again]);
  await again.waitForLog(({ msg }) => msg === 'member: the log has what a crash kept from it');
  expect(await taskNames(again, key)).toEqual(['before', 'log away']);
  // A snapshot is made while writes go on, and whoever joins has the same.
  const writes = Promise.all(
    Array.from({ length: 30 }, (_, at) => createTask(again, key, `more ${String(at).padStart(2, '0')}`)),
  );
  expect((await again.cli('member', 'snapshot')).stdout).toMatch(/^made a snapshot of record \d+\n$/);
  expect((await writes).every(({ error }) => error === undefined)).toBe(true);
  const east = await member({ name: 'east', log });
  await untilState(east, 'following');
  // A stop leaves nothing behind the log.
  await again.stop();
  await whichServes([east]);
  expect(await taskNames(east, key)).toHaveLength(32);
  await east.stop();
  expect(epochIn(east)).toBe(epochIn(again));
});

test('[MEMBER-5] what the log never had is set aside when another member has taken over, and told', {
  timeout: PATIENCE_MS,
}, async () => {
  const log = newLog();
  const west = await member({ name: 'west', log });
  await whichServes([west]);
  const key = await account(west);
  expect((await createTask(west, key, 'in the log')).error).toBeUndefined();
  await logHas(west);
  const east = await member({ name: 'east', log });
  await untilState(east, 'following');
  const bringBack = takeAway(log);
  expect((await createTask(west, key, 'only here')).error).toBeUndefined();
  const ended = new Promise((resolve) => west.process.once('exit', (_code, signal) => resolve(signal)));
  west.process.kill('SIGSTOP');
  bringBack();
  await whichServes([east]);
  expect(await taskNames(east, key)).toEqual(['in the log']);
  expect((await createTask(east, key, 'of the new owner')).error).toBeUndefined();
  west.process.kill('SIGCONT');
  expect(await ended).toBe('SIGKILL');
  expect(epochIn(east)).not.toBe(epochIn(west));
  const back = await member({ name: 'west', log, dataFolder: west.dataFolder });
  expect(await untilState(back, 'following')).toMatchObject({ owner: 'east', set_aside: 1 });
  await back.waitForLog(({ msg }) => String(msg).includes('were set aside'));
  expect(await figure(back, 'cairn_log_set_aside_files')).toBe(1);
  const folder = join(back.dataFolder, 'set-aside');
  const [name = ''] = readdirSync(folder);
  const lines = readFileSync(join(folder, name), 'utf8').trim().split('\n');
  const commits = lines.map((line) => JSON.parse(line) as { at: string; rows: { table: string; value?: unknown }[] });
  const values = commits.flatMap(({ rows }) => rows).map(({ value }) => JSON.stringify(value) ?? '');
  expect(values.some((value) => value.includes('only here'))).toBe(true);
  expect(values.some((value) => value.includes('in the log'))).toBe(false);
  // The one that came back serves what the log has, and its operator is told until the file is gone.
  expect((await east.cli('member', 'hand-over', '--to', 'west')).code).toBe(0);
  await whichServes([back]);
  expect(await taskNames(back, key)).toEqual(['in the log', 'of the new owner']);
  const ready = (await call(back, '/ready')).json() as { checks: { name: string }[] };
  expect(ready.checks.map((check) => check.name)).toContain('set_aside');
  expect((await back.cli('verify')).code).toBe(0);
  // Those of the others are known by the log alone.
  const listed = async () => (await east.cli('member', 'list')).stdout;
  expect(await listed()).toMatch(/west +serves, 1 file set aside/);
  rmSync(join(folder, name));
  while ((await memberHealth(back))?.set_aside !== 0) await new Promise((resolve) => setTimeout(resolve, 100));
  while (/set aside/.test(await listed())) await new Promise((resolve) => setTimeout(resolve, 100));
  await Promise.all([back.kill(), east.kill()]);
});
