/** Records are opened before their turn, and a member never sees that. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { OneBehind, openAhead } from '../../src/replication/ahead.ts';
import { DamagedRecord, encodeRecord, NO_HASH } from '../../src/replication/frame.ts';
import { LogGap, type LogRecord } from '../../src/replication/log/log.ts';

const MiB = 1024 * 1024;

/** Records, each with a row whose value is a part of so many bytes. */
async function records(sizes: readonly number[]): Promise<LogRecord[]> {
  return await Promise.all(
    sizes.map(async (bytes, at) => {
      const part = { name: String(at), sha256: 'a'.repeat(64), bytes };
      const head = { cell: 1, incarnation: 'i', position: at + 1, member: 'm', timeMs: 0, id: 'i' };
      const rows = [{ table: 't', key: Buffer.from([at]), part }];
      const made = await encodeRecord({ ...head, previousHash: NO_HASH, kind: 'write', rows });
      return { position: at + 1, bytes: made.bytes };
    }),
  );
}

async function* listed(all: readonly LogRecord[]): AsyncGenerator<LogRecord> {
  yield* all;
}

test('[MEMBER-1] records whose parts come late and out of order keep their order, and few bytes wait for their turn', async () => {
  const sizes = Array.from({ length: 60 }, (_, at) => (at % 7 === 0 ? 20 : 3) * MiB);
  let [taken, fetched, most] = [0, 0, 0];
  const opened = openAhead(listed(await records(sizes)), async ({ name, bytes }) => {
    fetched += bytes;
    most = Math.max(most, fetched - taken);
    // The first of each ten comes last.
    await sleep(10 - (Number(name) % 10));
    return Buffer.from(name);
  });
  const order: string[] = [];
  for await (const { record, rows } of opened) {
    taken += record.rows[0]?.part?.bytes ?? 0;
    order.push(String(rows[0]?.value));
  }
  expect(order).toEqual(sizes.map((_, at) => String(at)));
  // Never two large ones, which have more than the room alone, and never only the one whose turn it is.
  expect(most).toBeGreaterThan(3 * MiB);
  expect(most).toBeLessThanOrEqual(20 * MiB);
});

test('[MEMBER-1] what a record fails with is thrown in its turn, and a reader that stops leaves nothing behind', async () => {
  const all = await records([1, 1, 1, 1]);
  const damaged = Buffer.from(all[2]?.bytes ?? []);
  damaged.writeUInt8(damaged.readUInt8(60) ^ 1, 60);
  const withDamage = [...all.slice(0, 2), { position: 3, bytes: damaged }, ...all.slice(3)];
  const seen: number[] = [];
  const read = async (at: number) => {
    for await (const { record } of openAhead(listed(withDamage), async () => Buffer.alloc(1))) {
      seen.push(record.position);
      if (record.position === at) return;
    }
  };
  await read(2);
  await expect(read(4)).rejects.toThrow(DamagedRecord);
  expect(seen).toEqual([1, 2, 1, 2]);
  // What lies before a gap is read all the same: a restore may need no more.
  const gap = async function* () {
    yield* all.slice(0, 3);
    throw new LogGap(4, 6);
  };
  const before: number[] = [];
  const readAll = async () => {
    for await (const { record } of openAhead(gap(), async () => Buffer.alloc(1))) before.push(record.position);
  };
  await expect(readAll()).rejects.toThrow(LogGap);
  expect(before).toEqual([1, 2, 3]);
});

test('[MEMBER-3] after a write that failed no other begins', async () => {
  const writes = new OneBehind();
  const begun: string[] = [];
  const write = (name: string, error?: Error) => async () => {
    begun.push(name);
    await sleep(1);
    if (error !== undefined) throw error;
  };
  await writes.begin(write('first'));
  await writes.begin(write('second', new Error('the disk is full')));
  await expect(writes.begin(write('third'))).rejects.toThrow('the disk is full');
  await expect(writes.end()).rejects.toThrow('the disk is full');
  expect(begun).toEqual(['first', 'second']);
});
