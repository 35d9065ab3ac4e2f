/** The log in PostgreSQL, alone and with a synchronous standby that is stopped, left and promoted. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { OutcomeUnknown } from '../../src/replication/log/log.ts';
import { openCommitLog } from '../../src/replication/log/open.ts';
import { PostgresLog } from '../../src/replication/log/postgres.ts';
import { type PostgresServer, postgresPrograms, startPostgres } from '../support/postgres-server.ts';
import { all, conformance } from './conformance.ts';

const words = (error: unknown) => `${(error as Error).name}: ${(error as Error).message}`;
const newCell = () => randomBytes(6).toString('hex');

describe.runIf(postgresPrograms !== undefined)('PostgreSQL (needs its Debian package)', () => {
  let primary: PostgresServer;
  beforeAll(async () => {
    primary = await startPostgres();
  }, 120_000);

  conformance('PostgreSQL', (name) => openCommitLog(`${primary.url}?cell=${name}`));

  test('[MEMBER-2] a removed position cannot be created again, and neither can one without a predecessor', async () => {
    const log = await PostgresLog.open(`${primary.url}?cell=${newCell()}`);
    await expect(log.append(2, randomBytes(9))).rejects.toThrow(OutcomeUnknown);
    for (let position = 1; position <= 9; position += 1) await log.append(position, randomBytes(9));
    await log.removeBefore(9);
    for (let position = 1; position <= 9; position += 1)
      expect(await log.append(position, randomBytes(9))).toBe('taken');
    expect(await log.ends()).toEqual({ first: 9, last: 9 });
    await log.close();
  });

  test('[MEMBER-4] a server that is away or refuses the user is refused at the start, without the password', async () => {
    const away = await openCommitLog('postgres://cairn:secret@127.0.0.1:9/x').catch(words);
    expect(away).toMatch(/^StartError: The log at postgres:\/\/127\.0\.0\.1:9\/x does not work: .*ECONNREFUSED/);
    const missing = await openCommitLog(`postgres://cairn:secret@127.0.0.1:${primary.port}/none`).catch(words);
    expect(missing).toMatch(/database "none" does not exist/);
    for (const told of [away, missing]) expect(told).not.toMatch(/secret/);
    expect(await openCommitLog('postgres://').catch(words)).toMatch(/must have the form postgres:\/\/USER/);
  });
});

let primary: PostgresServer;
let standby: PostgresServer;

describe.runIf(postgresPrograms !== undefined)(
  'PostgreSQL with a synchronous standby (needs its Debian package)',
  () => {
    beforeAll(async () => {
      primary = await startPostgres();
      standby = await startPostgres(primary);
      primary.sql("alter system set synchronous_standby_names = 'standby'");
      primary.sql('select pg_reload_conf()');
      const isInSync = () => primary.sql('select sync_state from pg_stat_replication').trim() === 'sync';
      for (let tried = 0; !isInSync() && tried < 300; tried += 1) await sleep(100);
    }, 120_000);

    test('[MEMBER-2] a commit whose wait for the standby is cancelled, or takes too long, is unknown until the standby has it', async () => {
      const log = await PostgresLog.open(`${primary.url}?cell=${newCell()}`, 1000);
      expect(await log.append(1, Buffer.from('a'))).toBe('written');
      // Only what receives stops: the postmaster would let it go on.
      const receiver = Number(standby.sql('select pid from pg_stat_wal_receiver'));
      process.kill(receiver, 'SIGSTOP');
      const hung = log.append(2, Buffer.from('b')).catch(words);
      let waiting = '';
      for (let tried = 0; waiting === '' && tried < 500; tried += 1) {
        // The append needs this thread as well.
        await sleep(20);
        waiting = primary.sql("select pid from pg_stat_activity where wait_event = 'SyncRep'").trim();
      }
      primary.sql(`select pg_cancel_backend(${waiting})`);
      expect(await hung).toMatch(/^OutcomeUnknown/);
      // It is visible, and the standby does not have it: nobody may read it, call it written, or find it taken.
      expect(primary.sql('select count(*) from cairn_log where position = 2').trim()).toBe('1');
      await expect(all(log, 2)).rejects.toThrow();
      await expect(log.ends()).rejects.toThrow();
      await expect(log.append(2, Buffer.from('b'))).rejects.toThrow(OutcomeUnknown);
      await expect(log.append(2, Buffer.from('other'))).rejects.toThrow(OutcomeUnknown);
      process.kill(receiver, 'SIGCONT');
      let outcome = 'unknown';
      for (let tried = 0; outcome === 'unknown' && tried < 60; tried += 1) {
        outcome = await log.append(2, Buffer.from('b')).catch(() => 'unknown');
      }
      expect(outcome).toBe('written');
      expect(await log.append(2, Buffer.from('other'))).toBe('taken');
      expect(await all(log, 2)).toHaveLength(1);
      await log.close();
    }, 120_000);
  },
);

describe.runIf(postgresPrograms !== undefined)(
  'the same PostgreSQL, whose standby is away and then promoted (needs its Debian package)',
  () => {
    test('[MEMBER-3] while the standby is away, a member that asks again and again uses up no connections of the server', async () => {
      const log = await PostgresLog.open(`${primary.url}?cell=${newCell()}`, 300);
      expect(await log.append(1, Buffer.from('a'))).toBe('written');
      const receiver = Number(standby.sql('select pid from pg_stat_wal_receiver'));
      process.kill(receiver, 'SIGSTOP');
      for (let tried = 0; tried < 8; tried += 1) {
        await expect(log.append(2, Buffer.from('b'))).rejects.toThrow(OutcomeUnknown);
        await expect(log.ends()).rejects.toThrow();
      }
      const busy = () =>
        Number(
          primary.sql(
            "select count(*) from pg_stat_activity where application_name = 'cairn' and state <> 'idle' and backend_type = 'client backend'",
          ),
        );
      // One commit of each kind waits for the standby, with its locks. The others have given up.
      for (let tried = 0; busy() > 2 && tried < 100; tried += 1) await sleep(100);
      expect(busy()).toBeLessThanOrEqual(2);
      process.kill(receiver, 'SIGCONT');
      let outcome = 'unknown';
      for (let tried = 0; outcome === 'unknown' && tried < 100; tried += 1)
        outcome = await log.append(2, Buffer.from('b')).catch(() => 'unknown');
      expect(outcome).toBe('written');
      await log.close();
    }, 60_000);

    test('[MEMBER-1] the standby is promoted, and the primary left alone and then killed: what was written is there, and the log goes on', async () => {
      const hosts = `127.0.0.1:${primary.port},127.0.0.1:${standby.port}`;
      const url = `postgres://cairn@${hosts}/postgres?cell=${newCell()}`;
      const log = await PostgresLog.open(url, 2000);
      const written: Buffer[] = [];
      for (let position = 1; position <= 50; position += 1) {
        const bytes = randomBytes(100);
        expect(await log.append(position, bytes)).toBe('written');
        written.push(bytes);
      }
      standby.sql('select pg_promote()');
      // The former primary answers, and its commits wait for a standby that there is no more.
      await expect(log.append(51, Buffer.from('x'))).rejects.toThrow(OutcomeUnknown);
      expect(await log.append(51, Buffer.from('x'))).toBe('written');
      const kept = await all(log, 1);
      expect(Buffer.concat(kept.map(({ bytes }) => bytes)).equals(Buffer.concat([...written, Buffer.from('x')]))).toBe(
        true,
      );
      await log.close();
      primary.kill();
      const later = await PostgresLog.open(url, 2000);
      expect(await later.append(52, Buffer.from('y'))).toBe('written');
      expect(await later.ends()).toEqual({ first: 1, last: 52 });
      await later.close();
    }, 120_000);
  },
);
