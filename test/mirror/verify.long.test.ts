/** cairn verify: silent on good data, beside a running hub too, and exact about every kind of damage. */

import { randomBytes } from 'node:crypto';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import {
  blobs,
  chunks,
  commits,
  credentials,
  heads,
  mirrorTables,
  order,
  stagedUploads,
  tokenHashes,
} from '../../src/mirror/records.ts';
import { DATA_FILE } from '../../src/store/data-file/names.ts';
import type { Batch } from '../../src/store/group-commit.ts';
import { Store } from '../../src/store/store.ts';
import { forge } from '../support/forge.ts';
import { type CommandResult, runCairn, startHub } from '../support/hub.ts';
import { type Account, type Credential, mirrorAccount, randomCommit, sha256, upload } from '../support/mirror.ts';
import { verified } from '../support/mirror-state.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const MIB = 1024 * 1024;
const small = { commit: randomCommit(), bytes: randomBytes(2000) };
const large = { commit: randomCommit(), bytes: randomBytes(2 * MIB + 1) };
/** Other bytes for the commit of `small`, and newer. */
const newer = { commit: small.commit, bytes: randomBytes(70_000) };

let pristine: string;
let who: Account & Credential;

beforeAll(async () => {
  const hub = await startHub();
  pristine = hub.dataFolder;
  who = await mirrorAccount(hub);
  for (const { commit, bytes } of [small, large, newer]) {
    const answer = await upload(hub, who, commit, bytes);
    if (answer.status !== 200) throw new Error(`upload answered ${answer.status}`);
  }
  await hub.stop();
});

/** A folder with the same data, to be damaged. */
function copyOfData(): string {
  const folder = temporaryFolder();
  for (const name of [DATA_FILE, 'master.key']) copyFileSync(join(pristine, name), join(folder, name));
  return folder;
}

async function damagedBy(change: (batch: Batch) => void): Promise<CommandResult> {
  const folder = copyOfData();
  const store = new Store({ folder, tables: mirrorTables });
  await forge(store, change);
  await store.close();
  return runCairn(['verify', '--json'], { CAIRN_DATA: folder });
}

function recordOf(store: Pick<Batch, 'get'>, { commit, bytes }: typeof small) {
  const record = store.get(blobs, [who.account_id, commit, sha256(bytes)]);
  if (record === undefined) throw new Error('the blob is not stored');
  return record;
}

/** Exit code 1, and one problem at the least that holds every one of the words. */
function expectDamage(result: CommandResult, ...words: string[]): void {
  expect(result.stderr).toBe('');
  const report = JSON.parse(result.stdout) as { ok: boolean; problems: string[] };
  expect({ code: result.code, ok: report.ok }).toEqual({ code: 1, ok: false });
  expect(report.problems.filter((problem) => words.every((word) => problem.includes(word)))).not.toEqual([]);
}

test('[OPS-6] verify of good data exits 0 with what it counted', async () => {
  const { code, stdout } = await runCairn(['verify', '--json'], { CAIRN_DATA: copyOfData() });
  expect({ code, report: JSON.parse(stdout) as unknown }).toMatchObject({
    code: 0,
    report: {
      ok: true,
      accounts: 1,
      keys: 2,
      mirror_credentials: 1,
      blobs: 3,
      blob_bytes: small.bytes.length + large.bytes.length + newer.bytes.length,
      staged_uploads: 0,
      tasks: 0,
      categories: 0,
      problems: [],
    },
  });
});

test('[OPS-6] verify speaks to a person too', async () => {
  const { code, stdout, stderr } = await runCairn(['verify'], { CAIRN_DATA: copyOfData() });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/blobs\s+3\b/);
  expect(stdout).toContain('verified');
});

test('[OPS-6] verify changes no byte of the data file', async () => {
  const folder = copyOfData();
  await runCairn(['verify'], { CAIRN_DATA: folder });
  expect(readFileSync(join(folder, DATA_FILE)).equals(readFileSync(join(pristine, DATA_FILE)))).toBe(true);
});

test('[OPS-6] verify beside a hub that takes uploads finds nothing wrong, again and again', async () => {
  const hub = await startHub({ dataFolder: copyOfData() });
  try {
    let going = true;
    const uploading = [3000, 70_000, 3 * MIB].map(async (size) => {
      while (going) expect((await upload(hub, who, randomCommit(), randomBytes(size))).status).toBe(200);
    });
    for (let count = 0; count < 4; count += 1) {
      expect(await verified(hub)).toMatchObject({ code: 0, ok: true, problems: [] });
    }
    going = false;
    await Promise.all(uploading);
  } finally {
    await hub.stop();
  }
});

test.each([
  ['small', small],
  ['large', large],
  ['newer', newer],
])('[OPS-6] one flipped byte in the %s blob is found and named', async (_name, blob) => {
  const folder = copyOfData();
  const path = join(folder, DATA_FILE);
  const file = readFileSync(path);
  // Pages that were replaced still lie in the file, so the bytes of a small blob can stand there more than once.
  let at = file.indexOf(blob.bytes.subarray(0, 64));
  expect(at).toBeGreaterThan(0);
  for (; at >= 0; at = file.indexOf(blob.bytes.subarray(0, 64), at + 1)) {
    file[at + 20] = (file[at + 20] ?? 0) ^ 0x10;
  }
  writeFileSync(path, file);
  const result = await runCairn(['verify', '--json'], { CAIRN_DATA: folder });
  expectDamage(result, blob.commit, sha256(blob.bytes), 'hash');
  const human = await runCairn(['verify'], { CAIRN_DATA: folder });
  expect(human.code).toBe(1);
  expect(human.stdout).toMatch(new RegExp(`damaged: .*${blob.commit}`));
  expect(human.stdout).not.toContain('verified');
});

test('[OPS-6] rows that are missing from an index are found', async () => {
  const account = who.account_id;
  expectDamage(await damagedBy((batch) => batch.remove(commits, [account, large.commit])), large.commit);
  expectDamage(
    await damagedBy((batch) => batch.remove(order, [account, recordOf(batch, large).sequence])),
    large.commit,
    'order',
  );
  expectDamage(await damagedBy((batch) => batch.remove(heads, [account])), 'head', account);
  expectDamage(
    await damagedBy((batch) => batch.remove(blobs, [account, large.commit, sha256(large.bytes)])),
    large.commit,
  );
  expectDamage(
    await damagedBy((batch) => {
      const [credential] = batch.range(credentials, { prefix: [] });
      batch.remove(tokenHashes, [credential?.value.token_hash ?? '']);
    }),
    account,
  );
  expectDamage(await damagedBy((batch) => batch.remove(credentials, [account])), account);
});

test('[OPS-6] rows of an index that lead nowhere or to the wrong place are found', async () => {
  const account = who.account_id;
  const nowhere = { commit_sha: randomCommit(), sha256: '0'.repeat(64) };
  expectDamage(await damagedBy((batch) => batch.put(order, [account, 99], nowhere)), nowhere.commit_sha);
  expectDamage(
    await damagedBy((batch) => batch.put(commits, [account, nowhere.commit_sha], { sha256: nowhere.sha256 })),
    nowhere.commit_sha,
  );
  expectDamage(
    await damagedBy((batch) => batch.put(commits, [account, small.commit], { sha256: sha256(small.bytes) })),
    small.commit,
    'newest',
  );
  expectDamage(
    await damagedBy((batch) => batch.put(heads, [account], { sequence: 1, uploaded_at: new Date(0).toISOString() })),
    'head',
  );
});

test('[OPS-6] a head of an account without blobs is found', async () => {
  const head = { sequence: 5, uploaded_at: new Date().toISOString() };
  expectDamage(await damagedBy((batch) => batch.put(heads, ['acc_nobody'], head)), 'acc_nobody');
});

test('[OPS-6] times that run backwards in the order of uploads are found', async () => {
  const result = await damagedBy((batch) => {
    const key: [string, string, string] = [who.account_id, large.commit, sha256(large.bytes)];
    batch.put(blobs, key, { ...recordOf(batch, large), uploaded_at: new Date(Date.now() - 3_600_000).toISOString() });
  });
  expectDamage(result, 'order');
});

test('[OPS-6] chunks that are missing, cut or nobody’s are found', async () => {
  const idOf = (batch: Pick<Batch, 'get'>, blob: typeof small) => recordOf(batch, blob).storage_id;
  expectDamage(await damagedBy((batch) => batch.remove(chunks, [idOf(batch, large), 1])), large.commit, 'missing');
  expectDamage(
    await damagedBy((batch) => batch.put(chunks, [idOf(batch, large), 1], Buffer.alloc(MIB - 1))),
    large.commit,
  );
  expectDamage(await damagedBy((batch) => batch.put(chunks, [999, 0], Buffer.from('nobody’s'))), '999');
});

test('[OPS-6] a chunk after the end of its blob is found', async () => {
  const result = await damagedBy((batch) => {
    batch.put(chunks, [recordOf(batch, large).storage_id, 3], Buffer.from('after its end'));
  });
  expectDamage(result, 'chunk');
});

test('[OPS-6] a blob whose bytes are still marked as staged is found: the next start would sweep them', async () => {
  const result = await damagedBy((batch) => {
    batch.put(stagedUploads, [recordOf(batch, large).storage_id], {
      account_id: who.account_id,
      started_at: new Date().toISOString(),
    });
  });
  expectDamage(result, large.commit);
});

test('[OPS-6] two blobs on the same bytes are found', async () => {
  const result = await damagedBy((batch) => {
    const key: [string, string, string] = [who.account_id, newer.commit, sha256(newer.bytes)];
    batch.put(blobs, key, { ...recordOf(batch, newer), storage_id: recordOf(batch, small).storage_id });
  });
  expectDamage(result, newer.commit);
});

test('[OPS-6] a record that cannot be read is reported, and does not end the check', async () => {
  const key: [string, string, string] = [who.account_id, large.commit, sha256(large.bytes)];
  const raw = { ...blobs, codec: chunks.codec };
  expectDamage(await damagedBy((batch) => batch.put(raw, key, Buffer.of(200, 1, 2, 3))), large.commit);
});

test('[OPS-6] sealed fields that do not open are found', async () => {
  const account = who.account_id;
  for (const field of ['token', 'hmac_secret'] as const) {
    const result = await damagedBy((batch) => {
      const current = batch.get(credentials, [account]);
      if (current === undefined) throw new Error('there is no credential');
      const bytes = Buffer.from(current[field]);
      bytes[20] = (bytes[20] ?? 0) ^ 1;
      batch.put(credentials, [account], { ...current, [field]: bytes });
    });
    expectDamage(result, account);
  }
});
