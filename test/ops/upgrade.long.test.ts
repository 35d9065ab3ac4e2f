/** Data files of earlier schemas, as they were kept: opened, upgraded, verified and used; and the way back. */
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SCHEMA } from '../../src/compose/schema/steps.ts';
import { allTables } from '../../src/compose/tables.ts';
import { bytesCodec } from '../../src/store/codec.ts';
import { putSchema } from '../../src/store/meta/schema.ts';
import { HUB } from '../../src/store/owners.ts';
import { Store } from '../../src/store/store.ts';
import { defineUnsummedTable } from '../../src/store/table.ts';
import { callTool, PASSWORD, structured } from '../support/gateway.ts';
import { type Hub, runCairn, startHub } from '../support/hub.ts';
import { answersOf, KEPT, KEPT_KEY, type Kept, keptFile } from '../support/keep-data-file.ts';
import { account, download, randomCommit, sha256, upload } from '../support/mirror.ts';
import { verified } from '../support/mirror-state.ts';
import { refresh, tokensOf } from '../support/oauth.ts';
import { refusedStart } from '../support/refused-start.ts';
import { Device } from '../support/sync.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const env = { CAIRN_MASTER_KEY: KEPT_KEY };

/** Everything that whoever used the hub before does with it. */
async function use(hub: Hub, { owner, mirror, refresh_token, answers }: Kept): Promise<void> {
  expect(await verified(hub)).toMatchObject({ code: 0, ok: true, problems: [] });
  expect(await answersOf(hub, owner, mirror)).toEqual(answers);
  for (const [commit, hash] of answers.blobs.slice(0, 1)) {
    expect(sha256((await download(hub, mirror, commit)).bytes)).toBe(hash);
  }
  expect((await callTool(hub, 'login_and_get_key', { email: owner.email, password: PASSWORD })).error).toBeUndefined();
  expect(tokensOf(await refresh(hub, refresh_token)).access_token).toMatch(/./);
  expect(await structured(hub, 'list_tasks', {}, owner.account_key)).toBeDefined();
  expect((await upload(hub, mirror, randomCommit(), Buffer.from('new'))).status).toBe(200);
  await new Device(hub, owner.mcp_key, 'after').push('after.md', 'written after the upgrade\n');
  expect(await verified(hub)).toMatchObject({ code: 0, ok: true });
}

test.each(readdirSync(KEPT))(
  '[OPS-9] the kept data file of %s is upgraded at start, and holds what it held',
  async (name) => {
    const { kept, folder } = keptFile(name);
    const hub = await startHub({ dataFolder: folder, env });
    await use(hub, kept);
    // The oldest account runs the hub, and what accounts use is counted.
    const { stdout } = await hub.cli('account', 'show', '--email', kept.owner.email, '--json');
    expect(JSON.parse(stdout)).toMatchObject({ operator: true, used_bytes: { blobs: expect.any(Number) } });
    // A file whose newest commit is more than a day old makes the hub doubt the clock, as it should.
    const errors = hub.logs.filter(
      (line) => Number(line['level']) >= 50 && !String(line['msg']).startsWith('the clock'),
    );
    expect(errors).toEqual([]);
    expect(await hub.stop()).toBe(0);
    const again = await startHub({ dataFolder: folder, env });
    expect(again.logs.filter((line) => JSON.stringify(line).includes('upgrad'))).toEqual([]);
    expect(await again.stop()).toBe(0);
  },
  180_000,
);

/** The data file of each release, by its version: what a version opens, and what leads back from it. */
const RELEASED = [
  ['0.1.0', 'schema-1'],
  ['1.0.0', 'schema-11'],
] as const;

test.each(RELEASED)(
  '[OPS-9] the data file of %s is upgraded after a backup of it, which is restored as it was',
  async (_version, name) => {
    const { kept, folder } = keptFile(name);
    const before = readFileSync(join(folder, 'cairn.mdb'));
    const hub = await startHub({ dataFolder: folder, env });
    const told = hub.logs.find((line) => typeof line['backup'] === 'string');
    expect(await hub.stop()).toBe(0);
    if (name === `schema-${SCHEMA}`) {
      // The way back is the file itself.
      expect([told, readdirSync(folder).filter((one) => one.startsWith('before-schema'))]).toEqual([undefined, []]);
      return;
    }
    const backup = String(told?.['backup']);
    const manifest = JSON.parse(readFileSync(join(backup, 'manifest.json'), 'utf8')) as Record<string, unknown>;
    // As the version that wrote the file reads it: with nothing that it does not know.
    const schema = name === 'schema-1' ? [] : ['schema'];
    expect(Object.keys(manifest).sort()).toEqual(
      ['bytes', 'cairn_version', 'epoch', 'format', 'made_at', 'master_key', 'sha256', 'tables', ...schema].sort(),
    );
    expect(sha256(readFileSync(join(backup, 'cairn.mdb')))).toBe(manifest['sha256']);
    expect(readFileSync(join(backup, 'cairn.mdb')).length).toBeLessThanOrEqual(before.length);
    const restored = temporaryFolder();
    const done = await runCairn(['restore', backup], { CAIRN_DATA: restored, ...env });
    expect([done.code, done.stderr]).toEqual([0, '']);
    const back = await startHub({ dataFolder: restored, env });
    await use(back, kept);
    expect(await back.stop()).toBe(0);
  },
);

test('[OPS-9] the newest release has a kept data file, and it is of the newest schema', () => {
  expect(RELEASED.at(-1)?.[1]).toBe(`schema-${SCHEMA}`);
  expect(readdirSync(KEPT)).toEqual(expect.arrayContaining(RELEASED.map(([, name]) => name)));
});

test('[OPS-9, OPS-26] a newer data file, and its backup, are refused with one sentence and left alone', async () => {
  const hub = await startHub();
  await account(hub, 'a@example.org');
  await hub.cli('backup', join(hub.dataFolder, 'backup'));
  expect(await hub.stop()).toBe(0);
  const store = new Store({ folder: hub.dataFolder, tables: allTables });
  // The oldest version reads only the proof of the key, and only in version 1; those with a schema read that first.
  const stored = defineUnsummedTable<[string], Uint8Array>('meta', bytesCodec, {});
  expect(['key_check', 'schema'].map((name) => store.get(stored, [name])?.[0])).toEqual([2, 1]);
  await store.write(HUB, (batch): void => putSchema(batch, SCHEMA + 1));
  await store.close();
  const { code, stderr } = await refusedStart({ CAIRN_DATA: hub.dataFolder });
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/^cairn: the data file has schema \d+ \(written by cairn [\d.]+\), [^\n]+\.\n$/),
  ]);
  for (const args of [
    ['verify'],
    ['stats'],
    ['backup', join(temporaryFolder(), 'b')],
    ['key', 'list', '--email', 'a@example.org'],
  ]) {
    const done = await hub.cli(...args);
    expect([args, done.code, done.stderr]).toEqual([args, 1, expect.stringContaining(`schema ${SCHEMA + 1}`)]);
  }
  const later = join(temporaryFolder(), 'later');
  cpSync(join(hub.dataFolder, 'backup'), later, { recursive: true });
  const path = join(later, 'manifest.json');
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
  expect(manifest['schema']).toBe(SCHEMA);
  writeFileSync(path, JSON.stringify({ ...manifest, schema: SCHEMA + 1 }));
  const restored = await runCairn(['restore', later], { CAIRN_DATA: temporaryFolder() });
  expect([restored.code, restored.stderr]).toEqual([1, expect.stringContaining('later version')]);
});

test('[OPS-9] an older data file with damage, another key, or read by a command, is told and not touched', async () => {
  const { folder } = keptFile('schema-1');
  const path = join(folder, 'cairn.mdb');
  const before = readFileSync(path);
  const wrong = await refusedStart({ CAIRN_DATA: folder, CAIRN_MASTER_KEY: 'ab'.repeat(32) });
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('another master key')]);
  for (const args of [['verify'], ['key', 'list', '--email', 'kept@example.org']]) {
    const done = await runCairn(args, { CAIRN_DATA: folder, ...env });
    expect([done.code, done.stderr]).toEqual([1, expect.stringContaining('cairn serve')]);
  }
  expect(readFileSync(path).equals(before)).toBe(true);
  expect(readdirSync(folder).filter((name) => name.startsWith('before-schema'))).toEqual([]);
  // The root of the list of tables, as the newer meta page names it.
  const bytes = Buffer.from(before);
  const root = Number(
    bytes.readBigUInt64LE((bytes.readBigUInt64LE(152) > bytes.readBigUInt64LE(4096 + 152) ? 0 : 4096) + 136),
  );
  bytes.fill(0, root * 4096, root * 4096 + 24);
  writeFileSync(path, bytes);
  const damaged = await refusedStart({ CAIRN_DATA: folder, ...env });
  expect([damaged.code, damaged.stderr]).toEqual([1, expect.stringMatching(/^cairn: [^\n]+\.\n$/)]);
  expect(readFileSync(path).equals(bytes)).toBe(true);
});
