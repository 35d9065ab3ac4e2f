/** Two members and a log: one serves, the other one takes over, and nothing that was answered is lost. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SCHEMA } from '../../src/compose/schema/steps.ts';
import { allTables } from '../../src/compose/tables.ts';
import { openCommitLog } from '../../src/replication/log/open.ts';
import { findSnapshot } from '../../src/replication/snapshots/manifest.ts';
import { putSchema } from '../../src/store/meta/schema.ts';
import { HUB } from '../../src/store/owners.ts';
import { Store } from '../../src/store/store.ts';
import { fillTables } from '../support/filled-tables.ts';
import { callTool, PASSWORD, structured } from '../support/gateway.ts';
import { AGENT, call } from '../support/http.ts';
import { type Hub, runCairn, startHub } from '../support/hub.ts';
import { answersOf, KEPT_KEY, keptFile } from '../support/keep-data-file.ts';
import { memberHealth, newLog, rowsAtEnd, startMember, untilState, whichServes } from '../support/members.ts';
import { type Credential, download, mirrorAccount, randomCommit, sha256, upload } from '../support/mirror.ts';
import { until } from '../support/mirror-state.ts';
import { signedUp } from '../support/page-client.ts';
import { canUnshare, onSmallDisk } from '../support/small-disk.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { useMembers } from '../support/use-members.ts';

/** On a busy machine each start takes seconds. */
const PATIENCE_MS = 240_000;
const { ending, member, served } = useMembers();

async function pair(): Promise<{ log: string; owner: Hub; follower: Hub; key: string }> {
  const { log, owner } = await served();
  const follower = await member({ name: 'east', log });
  const made = JSON.parse((await owner.cli('account', 'create', '--email', 'ada@example.org', '--json')).stdout);
  await untilState(follower, 'following');
  return { log, owner, follower, key: made.mcp_key };
}

const createTask = (hub: Hub, key: string, name: string) => callTool(hub, 'create_task', { content: name }, key);

async function taskNames(hub: Hub, key: string): Promise<string[]> {
  const { tasks } = await structured<{ tasks: { content: string }[] }>(hub, 'list_tasks', { limit: 100 }, key);
  return tasks.map(({ content }) => content).toSorted((a, b) => (a < b ? -1 : 1));
}

/** A file where the folder of the log was: whatever asks it fails, and nobody takes it for an empty log. */
function takeAway(log: string): () => void {
  renameSync(log, `${log}.away`);
  writeFileSync(log, '');
  return () => {
    renameSync(log, `${log}.file`);
    renameSync(`${log}.away`, log);
  };
}

test('[MEMBER-1, MEMBER-3] a killed owner loses no answered write, keys stay valid, and it comes back as a follower', {
  timeout: PATIENCE_MS,
}, async () => {
  const { log, owner, follower, key } = await pair();
  const names = Array.from({ length: 20 }, (_, index) => `task ${String(index).padStart(2, '0')}`);
  for (const name of names) expect((await createTask(owner, key, name)).error).toBeUndefined();
  await owner.kill();
  await whichServes([follower]);
  expect(await taskNames(follower, key)).toEqual(names);
  const again = await member({ name: 'west', log, dataFolder: owner.dataFolder });
  expect(await untilState(again, 'following')).toMatchObject({ name: 'west', owner: 'east', behind: 0 });
  expect((await createTask(follower, key, 'later')).error).toBeUndefined();
  await Promise.all([follower.kill(), again.kill()]);
});

test.runIf(canUnshare)(
  '[MEMBER-3] a follower whose disk is full says so, lives, and goes on when there is room',
  {
    timeout: PATIENCE_MS,
  },
  async () => {
    const { log, owner } = await served();
    const follower = await member({ name: 'east', log, wrapper: onSmallDisk(64) });
    await untilState(follower, 'following');
    const who = await mirrorAccount(owner);
    const filler = `/proc/${follower.process.pid}/root${follower.dataFolder}/filler`;
    writeFileSync(filler, Buffer.alloc(56 * 2 ** 20));
    const stored = Array.from({ length: 12 }, () => [randomCommit(), randomBytes(2 ** 20)] as const);
    for (const [commit, bytes] of stored) expect((await upload(owner, who, commit, bytes)).status).toBe(200);
    expect(await untilState(follower, 'no room')).toMatchObject({ owner: 'west' });
    expect(follower.logs.filter(({ level }) => Number(level) >= 40).map(({ msg }) => msg)).toEqual([
      'member: the disk of this member is full or failed: free space or check it, and the member goes on; trying again',
    ]);
    rmSync(filler);
    await untilState(follower, 'following');
    await owner.kill();
    await whichServes([follower]);
    for (const [commit, bytes] of stored) {
      const back = await download(follower, who, commit);
      expect([back.status, sha256(back.bytes)]).toEqual([200, sha256(bytes)]);
    }
    await follower.kill();
  },
);

test.runIf(canUnshare)(
  '[MEMBER-3] a follower without room does not take over, says so once, and another one does',
  { timeout: PATIENCE_MS },
  async () => {
    const { log, owner } = await served();
    const small = await member({ name: 'east', log, wrapper: onSmallDisk(20) });
    expect(await untilState(small, 'no room')).toMatchObject({ owner: 'west' });
    const other = await member({ name: 'north', log, env: { CAIRN_MEMBER_PRIORITY: '3' } });
    await untilState(other, 'following');
    await owner.kill();
    expect(await whichServes([small, other])).toBe(other);
    // It goes on applying records.
    const followed = await until('the small one follows the other one', async () => {
      const health = await memberHealth(small);
      return health?.owner === 'north' ? health : undefined;
    });
    expect(followed).toMatchObject({ state: 'no room' });
    // The rest are answers to those who asked it.
    const told = small.logs.flatMap(({ level, msg }) => (Number(level) >= 40 ? [String(msg)] : []));
    expect(told.filter((msg) => msg.startsWith('member:'))).toEqual([
      'member: the disk of this member is full or failed: free space or check it, and the member goes on; trying again',
    ]);
    await Promise.all([small.kill(), other.kill()]);
  },
);

test('[MEMBER-3] what does not own the log answers 503 with its state, and its command line says where to go', {
  timeout: PATIENCE_MS,
}, async () => {
  const { owner, follower, key } = await pair();
  const refused = await call(follower, '/api/mcp/tools/list_tasks', {
    method: 'POST',
    headers: { Authorization: `McpKey ${key}`, 'Content-Type': 'application/json' },
    body: '{}',
  });
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, expect.stringMatching(/^\d+$/)]);
  expect(refused.text).toContain('this member follows; another one serves');
  const ready = await call(follower, '/ready');
  expect([ready.status, ready.json()['status']]).toEqual([503, 'not_ready']);
  expect((await call(owner, '/ready')).status).toBe(200);
  expect(await memberHealth(owner)).toMatchObject({ name: 'west', state: 'owning', owner: 'west' });
  expect(await memberHealth(follower)).toMatchObject({ name: 'east', state: 'following', owner: 'west' });
  const asked = await follower.cli('account', 'list');
  expect([asked.code, asked.stderr]).toEqual([
    1,
    expect.stringContaining('run the command on the member that owns the log: west'),
  ]);
  const listed = JSON.parse((await follower.cli('member', 'list', '--json')).stdout);
  expect(listed).toMatchObject({ name: 'east', owner: 'west', members: ['east', 'west'] });
  expect((await follower.cli('member', 'why')).stdout).toMatch(/west owns the log/);
  // A planned change, to and fro.
  expect((await createTask(owner, key, 'before')).error).toBeUndefined();
  expect((await owner.cli('member', 'hand-over', '--to', 'nobody')).stderr).toContain('there is no member nobody');
  expect((await owner.cli('member', 'hand-over', '--to', 'east')).code).toBe(0);
  await whichServes([follower]);
  await untilState(owner, 'following');
  expect(await taskNames(follower, key)).toEqual(['before']);
  expect((await follower.cli('member', 'hand-over')).code).toBe(0);
  await whichServes([owner]);
  expect(await taskNames(owner, key)).toEqual(['before']);
  // A stop hands over too.
  await owner.stop();
  await whichServes([follower]);
  await follower.stop();
});

test('[MEMBER-2] an owner that was stopped for longer than its lease answers nothing more and ends itself', {
  timeout: PATIENCE_MS,
}, async () => {
  const { owner, follower, key } = await pair();
  const ended = new Promise((resolve) => owner.process.once('exit', (_code, signal) => resolve(signal)));
  owner.process.kill('SIGSTOP');
  const zombie = createTask(owner, key, 'of a zombie').catch(() => undefined);
  await whichServes([follower]);
  expect((await createTask(follower, key, 'of the owner')).error).toBeUndefined();
  owner.process.kill('SIGCONT');
  expect(await ended).toBe('SIGKILL');
  expect((await zombie)?.result).toBeUndefined();
  await owner.waitForLog(({ msg }) => String(msg).startsWith('member: fenced'));
  expect(await taskNames(follower, key)).toEqual(['of the owner']);
  await follower.kill();
});

test('[MEMBER-3] with the log away writes and then reads are answered 503, and everything resumes by itself', {
  timeout: PATIENCE_MS,
}, async () => {
  const { log, owner, follower, key } = await pair();
  const bringBack = takeAway(log);
  const late = createTask(owner, key, 'late');
  await untilState(owner, 'apart');
  await untilState(follower, 'apart');
  const read = await call(owner, '/api/accounts/me', { headers: { 'User-Agent': AGENT } });
  expect([read.status, read.headers['retry-after']]).toEqual([503, expect.stringMatching(/^\d+$/)]);
  expect(read.text).toContain('the log cannot be reached');
  bringBack();
  const serves = await whichServes([owner, follower]);
  const answer = await late.catch(() => undefined);
  const names = await taskNames(serves, key);
  // The one that was waiting is answered if the owner is still the one.
  if (answer?.result !== undefined) expect(names).toEqual(['late']);
  expect((await createTask(serves, key, 'then')).error).toBeUndefined();
  await Promise.all([owner.kill(), follower.kill()]);
});

test('[MEMBER-4] a hub gets its first log, and what belongs to a log is not opened without it', {
  timeout: PATIENCE_MS,
}, async () => {
  const env = { CAIRN_MASTER_KEY: '5a'.repeat(32) };
  const hub = ending(await startHub({ env }));
  const made = JSON.parse((await hub.cli('account', 'create', '--email', 'ada@example.org', '--json')).stdout);
  expect((await createTask(hub, made.mcp_key, 'before the log')).error).toBeUndefined();
  await hub.stop();
  const log = newLog();
  const wrong = startMember({
    name: 'west',
    log,
    dataFolder: hub.dataFolder,
    env: { CAIRN_MASTER_KEY: '6b'.repeat(32) },
  });
  await expect(wrong).rejects.toThrow('another master key');
  const west = await member({ name: 'west', log, dataFolder: hub.dataFolder });
  await whichServes([west]);
  const east = await member({ name: 'east', log });
  await untilState(east, 'following');
  await west.kill();
  await whichServes([east]);
  expect(await taskNames(east, made.mcp_key)).toEqual(['before the log']);
  // Another hub may not write into this log, and nobody writes the folder of a member behind it.
  const other = ending(await startHub({ env }));
  await other.stop();
  await expect(startMember({ name: 'other', log, dataFolder: other.dataFolder })).rejects.toThrow('a hub of its own');
  const alone = { CAIRN_DATA: west.dataFolder, ...env };
  const command = (...args: string[]) => runCairn(args, alone, '', []);
  const away = ['account', 'create', '--email', 'eve@example.org'];
  expect(await command(...away)).toMatchObject({ code: 1, stderr: expect.stringContaining('belongs to a log') });
  expect(await west.cli(...away)).toMatchObject({ code: 1, stderr: expect.stringContaining('start the service') });
  await expect(startHub({ dataFolder: west.dataFolder, env })).rejects.toThrow('belongs to a log');
  // A copy of a member is a hub of its own once it is restored.
  const copy = join(temporaryFolder(), 'copy');
  expect(await east.cli('backup', copy)).toMatchObject({ code: 0 });
  const restored = { CAIRN_DATA: join(temporaryFolder(), 'restored'), ...env };
  expect(await runCairn(['restore', copy], restored, '', [])).toMatchObject({ code: 0 });
  expect((await runCairn(['account', 'list'], restored, '', [])).stdout).toContain('ada@example.org');
  expect(await command('member', 'leave')).toMatchObject({ code: 0 });
  expect((await command('account', 'list')).stdout).toContain('ada@example.org');
  await east.kill();
});

test('[MEMBER-6] a new master key, and a compacted file, reach the others through the log', {
  timeout: PATIENCE_MS,
}, async () => {
  const { log, owner, follower, key } = await pair();
  expect((await createTask(owner, key, 'before')).error).toBeUndefined();
  const issued = await call(owner, '/api/cert_mirror/credentials', {
    method: 'POST',
    headers: { Authorization: `McpKey ${key}`, 'Content-Type': 'application/json' },
    body: '{}',
  });
  const credential = issued.json() as unknown as Credential;
  await follower.stop();
  await owner.stop();
  const newKey = '6b'.repeat(32);
  const old = { CAIRN_DATA: owner.dataFolder, CAIRN_MASTER_KEY: '5a'.repeat(32) };
  const changed = await runCairn(['rekey', '--key-stdin'], old, `${newKey}\n`, []);
  expect(changed, changed.stderr).toMatchObject({ code: 0 });
  expect(await runCairn(['compact'], { ...old, CAIRN_MASTER_KEY: newKey }, '', [])).toMatchObject({ code: 0 });
  const env = { CAIRN_MASTER_KEY: newKey };
  const west = await member({ name: 'west', log, dataFolder: owner.dataFolder, env });
  await whichServes([west]);
  expect((await upload(west, credential, randomCommit(), Buffer.from('sealed anew'))).status).toBe(200);
  // One that has the key of before says so and ends.
  const late = await member({ name: 'east', log, dataFolder: follower.dataFolder });
  await late.waitForLog((line) => JSON.stringify(line).includes('another master key'));
  await late.kill();
  const east = await member({ name: 'east', log, dataFolder: follower.dataFolder, env });
  await untilState(east, 'following');
  await west.kill();
  await whichServes([east]);
  expect(await taskNames(east, key)).toEqual(['before']);
  expect((await upload(east, credential, randomCommit(), Buffer.from('after the change'))).status).toBe(200);
  expect(await east.cli('verify')).toMatchObject({ code: 0 });
  await east.kill();
});

test('[MEMBER-6, OPS-9] an older data file is upgraded through the log, and an older version does not take over', {
  timeout: PATIENCE_MS,
}, async () => {
  const { kept, folder } = keptFile('schema-7');
  const log = newLog();
  const env = { CAIRN_MASTER_KEY: KEPT_KEY };
  const west = await member({ name: 'west', log, dataFolder: folder, env });
  await whichServes([west]);
  await west.waitForLog(({ msg }) => msg === 'the data file is upgraded');
  const east = await member({ name: 'east', log, env });
  await untilState(east, 'following');
  await west.kill();
  await whichServes([east]);
  expect(east.logs.some(({ msg }) => msg === 'the data file is upgraded')).toBe(false);
  expect(await east.cli('verify')).toMatchObject({ code: 0 });
  expect(await answersOf(east, kept.owner, kept.mirror)).toEqual(kept.answers);
  await east.kill();
  // As a later version leaves it.
  const store = new Store({ folder: east.dataFolder, tables: allTables, log: 'later' });
  await store.write(HUB, (batch) => putSchema(batch, SCHEMA + 1));
  await store.close();
  const older = await member({ name: 'east', log, dataFolder: east.dataFolder, env });
  await older.waitForLog((line) => JSON.stringify(line).includes('and this version of cairn'));
});

test('[MEMBER-1] members that follow, and one that joins from a snapshot, have every row of every table', {
  timeout: PATIENCE_MS,
}, async () => {
  // Blobs, packs, an identity: what needs time or a setting to come about. The rest is made by every tool.
  const { folder } = keptFile('schema-7');
  const log = newLog();
  // Nothing is lost here, and filling takes long: a lease that holds meanwhile.
  const env = { CAIRN_MASTER_KEY: KEPT_KEY, CAIRN_LEASE_SECONDS: '20' };
  const owner = await member({ name: 'west', log, dataFolder: folder, env });
  await whichServes([owner]);
  const follower = await member({ name: 'east', log, env });
  await fillTables(owner);
  expect((await owner.cli('member', 'snapshot')).code).toBe(0);
  const joined = await member({ name: 'north', log, env });
  await untilState(joined, 'following');
  await untilState(follower, 'following');
  await Promise.all([owner, follower, joined].map((one) => one.kill()));
  const rows = await rowsAtEnd(owner.dataFolder, log);
  const filled = [...new Set([...rows.keys()].map((name) => name.split(' ')[0]))];
  expect(filled).toEqual(expect.arrayContaining(['sync_packs', 'sync_pack_bytes', 'mirror_blobs', 'mirror_chunks']));
  expect(await rowsAtEnd(follower.dataFolder, log)).toEqual(rows);
  expect(await rowsAtEnd(joined.dataFolder, log)).toEqual(rows);
});

test('[MEMBER-4, OPS-5] a new member joins from a snapshot, and one that was away for too long begins from it again', {
  timeout: PATIENCE_MS,
}, async () => {
  const { log, owner, follower, key } = await pair();
  await createTask(owner, key, 'before');
  await untilState(follower, 'following');
  await follower.kill();
  await createTask(owner, key, 'while away');
  expect((await owner.cli('member', 'snapshot')).stdout).toMatch(/^made a snapshot of record \d+\n$/);
  await createTask(owner, key, 'after');
  // What is older than the days that are kept, and in no segment.
  const commitLog = await openCommitLog(`file://${log}`);
  const at = (await findSnapshot(commitLog))?.manifest.position ?? 0;
  await commitLog.removeBefore(at);
  expect(await commitLog.ends()).toMatchObject({ first: at });
  await commitLog.close();
  const third = await member({ name: 'north', log, env: { CAIRN_METRICS_TOKEN: 'token-of-figures' } });
  await untilState(third, 'following');
  const figures = async () =>
    (await call(third, '/metrics', { headers: { Authorization: 'Bearer token-of-figures' } })).text.split('\n');
  expect(await figures()).toContain('cairn_member_state{member="north",state="following"} 1');
  const back = await member({ name: 'east', log, dataFolder: follower.dataFolder });
  await untilState(back, 'following');
  await createTask(owner, key, 'last');
  expect((await owner.cli('member', 'hand-over', '--to', 'north')).code).toBe(0);
  await whichServes([third]);
  const names = ['after', 'before', 'last', 'while away'];
  expect(await taskNames(third, key)).toEqual(names);
  expect(await figures()).toContain('cairn_member_state{member="north",state="owning"} 1');
  expect((await third.cli('member', 'hand-over', '--to', 'east')).code).toBe(0);
  await whichServes([back]);
  expect(await taskNames(back, key)).toEqual(names);
  expect((await third.cli('member', 'snapshot')).stderr).toMatch(/make the snapshot on the owner/);
  await Promise.all([owner.kill(), third.kill(), back.kill()]);
});

test('[MEMBER-7] a log goes on with a hub that was restored from it, and the other members join that', {
  timeout: PATIENCE_MS,
}, async () => {
  const { log, owner, follower, key } = await pair();
  const restore = async (at: number, ...flags: string[]) => {
    const env = { CAIRN_DATA: join(temporaryFolder(), 'data'), CAIRN_MASTER_KEY: '5a'.repeat(32) };
    const time = new Date(at).toISOString();
    const { stdout, stderr } = await runCairn(['restore', '--json', ...flags, '--at', time, `file://${log}`], env);
    expect(stderr).toBe('');
    return { folder: env.CAIRN_DATA, position: JSON.parse(stdout).position as number };
  };
  await createTask(owner, key, 'kept');
  const before = Date.now();
  await createTask(owner, key, 'a mistake');
  const after = Date.now();
  await untilState(follower, 'following');
  await follower.stop();
  await owner.stop();
  const alone = await restore(before);
  // While the snapshot is made, a busy machine may append more slowly than a short lease allows.
  const env = { CAIRN_LEASE_SECONDS: '5' };
  await expect(member({ name: 'west', log, dataFolder: alone.folder })).rejects.toThrow(/cairn restore --into-log/);
  const restored = await restore(before, '--into-log');
  const west = await member({ name: 'west', log, env, dataFolder: restored.folder });
  await whichServes([west]);
  expect(await taskNames(west, key)).toEqual(['kept']);
  const [east, north] = await Promise.all([
    member({ name: 'east', log, env, dataFolder: follower.dataFolder }),
    member({ name: 'north', log, env }),
  ]);
  await createTask(west, key, 'later');
  await untilState(north, 'following');
  await east.waitForLog(({ msg }) => String(msg).includes('goes on with a restored hub'));
  await untilState(east, 'following');
  expect((await west.cli('member', 'hand-over', '--to', 'east')).code).toBe(0);
  await whichServes([east]);
  expect(await taskNames(east, key)).toEqual(['kept', 'later']);
  await Promise.all([west.kill(), east.kill(), north.kill()]);
  const [one, other] = [await rowsAtEnd(east.dataFolder, log), await rowsAtEnd(north.dataFolder, log)];
  expect([...one].filter(([name, value]) => other.get(name) !== value)).toEqual([]);
  expect(one.size).toBe(other.size);
  // What was before can be restored as well.
  expect((await restore(after)).position).toBeGreaterThan(restored.position);
});

test('[MEMBER-3, WEB-3] an operator sees the members on a page, and lets another one serve', {
  timeout: PATIENCE_MS,
}, async () => {
  const { log, owner } = await served();
  const operator = await signedUp(owner, 'operator@example.org', PASSWORD);
  await operator.open('/accounts');
  expect(operator.text).toContain('No other member has joined.');
  // What an earlier process of this folder has set aside.
  const dataFolder = temporaryFolder();
  mkdirSync(join(dataFolder, 'set-aside'));
  writeFileSync(join(dataFolder, 'set-aside', 'one.jsonl'), '{}\n');
  const follower = await member({ name: 'east', log, dataFolder });
  await untilState(follower, 'following');
  await operator.open('/accounts');
  expect(operator.text).toMatch(/Serves west State this member serves Newest record \d+ .* east Let it serve/);
  expect(operator.text).toContain('east has 1 file of answered writes that the log never had');
  await operator.open('/accounts');
  const fields = operator.fieldsOf('/accounts/members/hand-over');
  fields.set('to', 'nowhere');
  expect((await operator.post('/accounts/members/hand-over', fields)).status).toBe(404);
  fields.set('to', 'east');
  await operator.post('/accounts/members/hand-over', fields);
  expect(await whichServes([follower])).toBe(follower);
  await untilState(owner, 'following');
});
