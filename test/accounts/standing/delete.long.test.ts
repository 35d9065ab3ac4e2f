/** An account that is deleted, by its operator or by its owner: nothing of it is left, whenever the process is killed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { allTables } from '../../../src/compose/tables.ts';
import { Store } from '../../../src/store/store.ts';
import { mirrorTool, PASSWORD, structured } from '../../support/gateway.ts';
import { call } from '../../support/http.ts';
import { type Hub, runCairn, startHub } from '../../support/hub.ts';
import { account, credential, randomCommit, upload } from '../../support/mirror.ts';
import { until, verified } from '../../support/mirror-state.ts';
import { signInDevice } from '../../support/oauth.ts';
import { signedUp } from '../../support/page-client.ts';
import { fill, rowsOf } from '../../support/portable.ts';

const BLOBS = [1, 65_537, 3 * 1024 * 1024 + 7];

interface Person {
  readonly account_id: string;
  readonly email: string;
  readonly mcp_key: string;
  readonly account_key: string;
}

/** An account with a password, something of everything, and every kind of credential. */
async function fullPerson(hub: Hub, email: string): Promise<Person> {
  const browser = await signedUp(hub, email, PASSWORD);
  await browser.open('/settings');
  const made = await structured<{ account_id: string; mcp_key: string }>(hub, 'login_and_get_key', {
    email,
    password: PASSWORD,
  });
  const { stdout } = await hub.cli('account', 'show', '--email', email, '--json');
  const owner = { ...made, email, account_id: JSON.parse(stdout).account_id, account_key: '' };
  await fill(hub, owner, BLOBS);
  await signInDevice(hub, owner);
  return owner;
}

/** Every row that names one of these, in its key or as bytes in its value. */
function rowsNaming(folder: string, needles: readonly string[]): string[] {
  const store = new Store({ folder, tables: allTables, readOnly: true });
  const found: string[] = [];
  for (const table of allTables) {
    // The hub's own log outlives accounts: id and email stay there for a year (AUD-2).
    if (table.name === 'hub_events') continue;
    const raw = {
      ...table,
      codec: { encode: () => Buffer.alloc(0), decode: (bytes: Uint8Array) => Buffer.from(bytes) },
    };
    for (const { key, value } of store.entries(raw, { prefix: [] })) {
      const text = `${key.join(' ')} ${(value as Buffer).toString('latin1')}`;
      if (needles.some((needle) => text.includes(needle))) found.push(`${table.name} ${key.join(' ')}`);
    }
  }
  void store.close();
  return found;
}

function vaultIdsOf(folder: string, accountId: string): string[] {
  const store = new Store({ folder, tables: allTables, readOnly: true });
  const vaults = allTables.find(({ name }) => name === 'sync_vaults');
  const ids = vaults === undefined ? [] : [...store.keys(vaults, [accountId])].map((key) => String(key[1]));
  void store.close();
  return ids;
}

async function untilRemoved(hub: Pick<Hub, 'cli'>): Promise<void> {
  await until('no deleted account is left', async () => {
    const { stdout } = await hub.cli('verify', '--json');
    return (JSON.parse(stdout) as { removals: number }).removals === 0 ? true : undefined;
  });
}

test('[OPS-7] an account that is deleted leaves no row and no byte, and other accounts keep theirs', async () => {
  const hub = await startHub();
  await account(hub, 'keeper@example.org');
  await hub.stop();
  const empty = rowsOf(hub);
  const again = await startHub({ dataFolder: hub.dataFolder });
  const { email, account_id: id, mcp_key: key } = await fullPerson(again, 'leaver@example.org');
  const vaultIds = vaultIdsOf(again.dataFolder, id);
  expect(vaultIds.length).toBeGreaterThan(0);
  expect(rowsNaming(again.dataFolder, [id, email, ...vaultIds]).length).toBeGreaterThan(50);
  const done = await again.cli('account', 'delete', '--email', email, '--confirm', email);
  expect([done.code, done.stdout]).toEqual([0, expect.stringContaining(`Deleted ${email}`)]);
  expect((await call(again, '/api/account', { headers: { Authorization: `McpKey ${key}` } })).status).toBe(401);
  expect((await again.cli('account', 'show', '--email', email)).code).toBe(1);
  await untilRemoved(again);
  expect(await verified(again)).toMatchObject({ code: 0, ok: true, problems: [] });
  // The email is free, and what is made with it now is another account.
  const renewed = await structured<Person>(again, 'signup_and_get_key', { email, password: PASSWORD });
  expect(renewed.account_id).not.toBe(id);
  expect((await again.cli('account', 'delete', '--email', email, '--confirm', email)).code).toBe(0);
  await untilRemoved(again);
  await again.stop();
  expect(rowsNaming(again.dataFolder, [id, email, renewed.account_id, ...vaultIds])).toEqual([]);
  // The bytes of packs go with the next start.
  const last = await startHub({ dataFolder: hub.dataFolder });
  expect(await last.stop()).toBe(0);
  const left = rowsOf(last);
  const differing = Object.keys(empty).filter((name) => empty[name] !== left[name]);
  expect(differing.filter((name) => !['keys', 'sign_up_days', 'hub_events'].includes(name))).toEqual([]);
});

test('[OPS-7] what a deleted account held is written again by others: the file does not grow', async () => {
  const hub = await startHub();
  await account(hub, 'keeper@example.org');
  const blob = Buffer.alloc(8 * 1024 * 1024, 7);
  const sizeAfter = async (email: string) => {
    const { mcp_key: key } = await account(hub, email);
    const mirror = await credential(hub, key);
    for (let index = 0; index < 4; index += 1) {
      expect((await upload(hub, mirror, randomCommit(), blob)).status).toBe(200);
    }
    const { length } = readFileSync(join(hub.dataFolder, 'cairn.mdb'));
    await hub.cli('account', 'delete', '--email', email, '--confirm', email);
    await untilRemoved(hub);
    return length;
  };
  const first = await sizeAfter('one@example.org');
  await sizeAfter('two@example.org');
  expect(await sizeAfter('three@example.org')).toBeLessThan(first * 1.5);
  await hub.stop();
});

test('[OPS-7, OPS-2] a deletion that is killed goes on at the next start, from wherever it was', async () => {
  const hub = await startHub();
  await account(hub, 'keeper@example.org');
  const { email, account_id: id } = await fullPerson(hub, 'leaver@example.org');
  let running = hub;
  expect((await hub.cli('account', 'delete', '--email', email, '--confirm', email)).code).toBe(0);
  for (const waitMs of [0, 5, 25]) {
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    await running.kill();
    running = await startHub({ dataFolder: hub.dataFolder });
    expect(await verified(running)).toMatchObject({ ok: true, problems: [] });
    expect((await running.cli('account', 'show', '--email', email)).code).toBe(1);
  }
  await untilRemoved(running);
  await running.stop();
  expect(rowsNaming(hub.dataFolder, [id, email])).toEqual([]);
});

test('[OPS-7] a hub that does not run deletes as well', async () => {
  const hub = await startHub();
  await account(hub, 'keeper@example.org');
  const { email, account_id: id } = await fullPerson(hub, 'leaver@example.org');
  await hub.stop();
  const done = await runCairn(['account', 'delete', '--email', email, '--confirm', email], {
    CAIRN_DATA: hub.dataFolder,
  });
  expect(done.code).toBe(0);
  expect(rowsNaming(hub.dataFolder, [id, email])).toEqual([]);
});

test('[OPS-7] a push and an upload that run while the account is deleted leave nothing', async () => {
  const hub = await startHub();
  await account(hub, 'keeper@example.org');
  const { email, account_id: id, mcp_key: key } = await account(hub, 'leaver@example.org');
  const mirror = await credential(hub, key);
  const writes: Promise<unknown>[] = [];
  for (let index = 0; index < 40; index += 1) {
    writes.push(upload(hub, mirror, randomCommit(), Buffer.alloc(200_000, index)).catch(() => undefined));
    writes.push(
      mirrorTool(hub, 'create_task', { content: `task ${index}` }, { Authorization: `McpKey ${key}` }).catch(
        () => undefined,
      ),
    );
    const push = { path: `f${index}.md`, content: 'x'.repeat(1000 * index), base_sha: null };
    writes.push(mirrorTool(hub, 'sync_push', push, { Authorization: `McpKey ${key}` }).catch(() => undefined));
  }
  expect((await hub.cli('account', 'delete', '--email', email, '--confirm', email)).code).toBe(0);
  await Promise.all(writes);
  await untilRemoved(hub);
  expect(await verified(hub)).toMatchObject({ ok: true, problems: [], staged_uploads: 0 });
  await hub.stop();
  const last = await startHub({ dataFolder: hub.dataFolder });
  await last.stop();
  expect(rowsNaming(hub.dataFolder, [id, email])).toEqual([]);
});

test('[OPS-7, WEB-1] a person deletes their own account, by REST and on the settings page, with the password', async () => {
  const hub = await startHub();
  const sent = (key: string, password: string) =>
    call(hub, '/api/account', {
      method: 'DELETE',
      headers: { Authorization: `McpKey ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ password }),
    });
  const one = await structured<Person>(hub, 'signup_and_get_key', { email: 'one@example.org', password: PASSWORD });
  const wrong = await sent(one.mcp_key, 'wrong horse');
  expect([wrong.status, wrong.json()]).toEqual([
    422,
    { error: 'password is wrong', errors: { password: ['password is wrong'] } },
  ]);
  expect((await sent(one.mcp_key, PASSWORD)).json()).toEqual({ status: 'deleted' });
  expect((await sent(one.mcp_key, PASSWORD)).status).toBe(401);
  const bare = await account(hub);
  expect((await sent(bare.mcp_key, PASSWORD)).text).toContain('no password');
  const browser = await signedUp(hub, 'two@example.org', PASSWORD);
  await browser.open('/settings');
  await browser.submit('/settings/delete', { password: 'wrong horse' });
  expect([browser.answer?.status, browser.text]).toEqual([422, expect.stringContaining('is wrong')]);
  await browser.submit('/settings/delete', { password: PASSWORD });
  expect(browser.text).toContain('Your account is deleted');
  expect((await browser.send('/settings')).status).toBe(303);
  await hub.stop();
});
