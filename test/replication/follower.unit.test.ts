/** What a member that follows refuses: to take over without the end of the log, and to apply what is not its log's. */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { afterEach, expect, test } from 'vitest';
import { StartError } from '../../src/common/start-error.ts';
import { decodeHead, encodeRecord, NO_HASH } from '../../src/replication/frame.ts';
import { FolderStore } from '../../src/replication/log/folder.ts';
import type { CommitLog } from '../../src/replication/log/log.ts';
import { ObjectLog } from '../../src/replication/log/object-log.ts';
import { LogFollower } from '../../src/replication/members/follower.ts';
import { ReplicaFile } from '../../src/store/logged/replica.ts';
import type { LoggedRow } from '../../src/store/rows.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

function newReplica(): ReplicaFile {
  const replica = new ReplicaFile({ folder: temporaryFolder(), mapBytes: 2 ** 26 });
  ends.push(() => replica.close());
  return replica;
}

function followerOf(commitLog: CommitLog, replica: ReplicaFile, prove: () => void = () => undefined) {
  const end = new AbortController();
  const follower = new LogFollower({
    commitLog,
    replica,
    identity: { name: 'west', instance: 'w' },
    leaseMs: 100,
    priority: 0,
    log: pino({ level: 'silent' }),
    prove,
    signal: end.signal,
  });
  return { follower, end };
}

/** A log with records of another member that owned it, each with one row; `incarnations`: of each. */
async function newLog(incarnations: readonly string[], row: (at: number) => LoggedRow = plainRow): Promise<ObjectLog> {
  const store = new FolderStore(temporaryFolder());
  await store.open();
  const log = new ObjectLog(store);
  let previousHash = NO_HASH;
  for (const [at, incarnation] of incarnations.entries()) {
    const about = { cell: 1, incarnation, position: at + 1, member: 'east', timeMs: 0, id: `r${at}`, previousHash };
    const record = await encodeRecord({
      ...about,
      kind: 'write',
      note: { instance: 'e', lease: '60000' },
      rows: [row(at)],
    });
    await log.append(at + 1, record.bytes);
    previousHash = record.hash;
  }
  return log;
}

const plainRow = (at: number): LoggedRow => ({ table: 't', key: Buffer.from([at]), value: Buffer.from([at]) });
const rowAt = (replica: ReplicaFile, at: number) => replica.valueOf('t', Buffer.from([at]));

test('[MEMBER-2] a member that has not applied the end of the log does not take over, however silent the log seems', async () => {
  const replica = newReplica();
  await replica.apply([], { cell: 1, incarnation: 'i', position: 1, hash: NO_HASH });
  const appended: number[] = [];
  let asked = 0;
  // Record 2 was another member's and has been trimmed: nothing follows record 1.
  const log: Partial<CommitLog> = {
    async *read() {},
    listParts: () => Promise.resolve([]),
    ends() {
      asked += 1;
      return Promise.resolve({ first: 3, last: 3 });
    },
    append(position) {
      appended.push(position);
      return Promise.resolve('written');
    },
  };
  const { follower, end } = followerOf(log as CommitLog, replica);
  const taken = follower.run();
  while (asked < 4 && appended.length === 0) await sleep(1);
  end.abort();
  expect([await taken, appended]).toEqual([undefined, []]);
});

test('[MEMBER-4] a record of another incarnation ends the follower, and its rows are not applied', async () => {
  const replica = newReplica();
  const { follower } = followerOf(await newLog(['i', 'other']), replica);
  await expect(follower.run()).rejects.toThrow('the log has begun again at record 2');
  expect(rowAt(replica, 1)).toBeUndefined();
});

test('[MEMBER-4] a part that has other bytes than its record says is not applied', async () => {
  const replica = newReplica();
  const sha256 = createHash('sha256').update('what was put').digest('hex');
  const log = await newLog(['i'], () => ({
    table: 't',
    key: Buffer.from([0]),
    part: { name: 'parts/1', sha256, bytes: 12 },
  }));
  await log.putPart('parts/1', Buffer.from('other bytes!'));
  const { follower, end } = followerOf(log, replica);
  const taken = follower.run();
  while (follower.state !== 'apart' && follower.state !== 'following') await sleep(1);
  expect([follower.state, rowAt(replica, 0)]).toEqual(['apart', undefined]);
  end.abort();
  await taken;
});

test('[MEMBER-6] a member that could not serve the applied rows ends, and takes over nothing', async () => {
  const log = await newLog(['i']);
  const { follower } = followerOf(log, newReplica(), () => {
    throw new StartError('another master key');
  });
  await expect(follower.run()).rejects.toThrow('another master key');
  expect(await log.ends()).toEqual({ first: 1, last: 1 });
});

test('[MEMBER-4] the record by which a member takes over begins its term', async () => {
  const log = await newLog([]);
  const { follower } = followerOf(log, newReplica());
  expect(await follower.run()).toMatchObject({ end: { position: 1 }, isFirst: true });
  for await (const { bytes } of log.read(1)) expect(decodeHead(bytes).note?.['term']).toBe('1');
  expect((await log.ends())?.last).toBe(1);
});
