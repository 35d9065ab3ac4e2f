/** The log in a folder, and which stores are refused. */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { expect, test } from 'vitest';
import { openCommitLog } from '../../src/replication/log/open.ts';
import { checkFences, type Racetrack } from '../../src/replication/log/probe.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { conformance } from './conformance.ts';

const root = temporaryFolder();
conformance('folder', (name) => openCommitLog(`file://${root}/${name}`));

const identity = await generateX25519Identity();
const keys = { CAIRN_LOG_RECIPIENT: await identityToRecipient(identity), CAIRN_LOG_IDENTITY: identity };
conformance('encrypted folder', (name) => openCommitLog(`file://${root}/${name}`, keys));

test('[MEMBER-1] an encrypted log keeps nothing readable, and opens with its own identity only', async () => {
  const url = `file://${temporaryFolder()}`;
  const log = await openCommitLog(url, keys);
  await log.append(1, Buffer.from('a plain secret'));
  await log.putPart('parts/x', Buffer.from('a plain secret'));
  const stored = readdirSync(fileURLToPath(url), { recursive: true, withFileTypes: true }).filter((one) =>
    one.isFile(),
  );
  expect(stored.length).toBeGreaterThan(1);
  for (const { parentPath, name } of stored)
    expect(readFileSync(join(parentPath, name)).toString('latin1')).not.toContain('secret');
  await expect(openCommitLog(url)).rejects.toThrow('The log is encrypted; set CAIRN_LOG_RECIPIENT and');
  const other = await generateX25519Identity();
  const wrong = await openCommitLog(url, { ...keys, CAIRN_LOG_IDENTITY: other });
  await expect(wrong.getPart('parts/x')).rejects.toThrow(/cannot be decrypted: .*CAIRN_LOG_IDENTITY/);
  await expect(openCommitLog(url, { CAIRN_LOG_RECIPIENT: keys.CAIRN_LOG_RECIPIENT })).rejects.toThrow(
    /belong together/,
  );
  await expect(openCommitLog(url, { ...keys, CAIRN_LOG_RECIPIENT: 'x' })).rejects.toThrow(/must be an age recipient/);
  await expect(openCommitLog(url, { ...keys, CAIRN_LOG_IDENTITY: 'x' })).rejects.toThrow(/must be an age identity/);
});

test('[MEMBER-1] a folder keeps no drafts', async () => {
  const folder = temporaryFolder();
  const log = await openCommitLog(`file://${folder}`);
  for (let position = 1; position <= 5; position += 1) await log.append(position, randomBytes(10));
  expect(await log.append(3, randomBytes(10))).toBe('taken');
  expect(readdirSync(join(folder, 'cells/1/drafts'))).toEqual([]);
});

test('[MEMBER-1] a folder that went away is not an empty log: it is asked again when it is back', async () => {
  const folder = temporaryFolder();
  const log = await openCommitLog(`file://${folder}/log`);
  await log.append(1, Buffer.from('one'));
  renameSync(`${folder}/log`, `${folder}/away`);
  await expect(log.ends()).rejects.toThrow(/is not there; is its disk mounted/);
  await expect(log.getPart('parts/x')).rejects.toThrow(/is not there; is its disk mounted/);
  await expect(log.append(2, Buffer.from('two'))).rejects.toThrow();
  renameSync(`${folder}/away`, `${folder}/log`);
  expect(await log.append(2, Buffer.from('two'))).toBe('written');
  expect(await log.ends()).toEqual({ first: 1, last: 2 });
});

test('[MEMBER-1] the newest of many records is found', async () => {
  const folder = temporaryFolder();
  const log = await openCommitLog(`file://${folder}`);
  await log.append(1, Buffer.from([1]));
  // As an engine leaves them, without waiting for the disk 2,499 times.
  for (let position = 2; position <= 2500; position += 1) {
    writeFileSync(join(folder, 'cells/1/log', String(position).padStart(16, '0')), '1');
  }
  expect(await log.ends()).toEqual({ first: 1, last: 2500 });
  await log.removeBefore(2400);
  expect(await log.ends()).toEqual({ first: 2400, last: 2500 });
});

const refusal = (create: Racetrack['create'], get: Racetrack['get'] = async () => Buffer.alloc(0)) =>
  checkFences({ create, get, remove: async () => undefined }, 's3://bucket/p').then(
    () => 'accepted',
    (error: Error) => `${error.name}: ${error.message}`,
  );

test('[MEMBER-4] a store that does not create once is refused, with a sentence', async () => {
  expect(await refusal(async () => 'written')).toMatch(/^StartError: The store at s3:\/\/bucket\/p let 9 of 9 writers/);
  expect(await refusal(async () => 'taken')).toMatch(/let 0 of 9 writers/);
  let calls = 0;
  const twice = await refusal(async () => {
    calls += 1;
    return calls % 9 <= 2 && calls % 9 > 0 ? 'written' : 'taken';
  });
  expect(twice).toMatch(/let 2 of 9 writers create the same object/);
  const overwriting = await refusal(async () => {
    calls += 1;
    return calls % 9 === 0 ? 'written' : 'taken';
  });
  expect(overwriting).toMatch(/^StartError/);
});

test('[MEMBER-4] a store that keeps other bytes, or does not answer, is refused, with a sentence', async () => {
  let calls = 0;
  const once = async () => {
    calls += 1;
    return calls % 9 === 1 ? ('written' as const) : ('taken' as const);
  };
  expect(await refusal(once)).toMatch(/keeps other bytes/);
  const away = refusal(async () => {
    throw new Error('fetch failed', { cause: new Error('connect ECONNREFUSED 127.0.0.1:9') });
  });
  expect(await away).toMatch(/^StartError: The log at .* does not work: fetch failed: connect ECONNREFUSED/);
});

test('[MEMBER-4] a setting that names no log is refused, with a sentence', async () => {
  await expect(openCommitLog('nonsense')).rejects.toThrow(/CAIRN_LOG is nonsense, which is not a URL/);
  await expect(openCommitLog('ftp://x/y')).rejects.toThrow(/it must begin with/);
});
