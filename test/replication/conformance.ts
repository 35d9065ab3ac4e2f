/** What every engine of the log promises. One suite, run over each. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { type CommitLog, LogGap, type LogRecord, PartMissing, PartTaken } from '../../src/replication/log/log.ts';

/** Opens one more handle on the log of a test: the same name gives the same log, as it does for two members. */
export type OpenLog = (name: string) => Promise<CommitLog>;

const WRITERS = 4;
const RACES = Number(process.env['LOG_RACES'] ?? 20);

export function conformance(engine: string, openLog: OpenLog): void {
  const open = () => openLog(randomBytes(6).toString('hex'));

  test(`[MEMBER-1] ${engine}: a new log is empty`, async () => {
    const log = await open();
    expect(await log.ends()).toBeUndefined();
    expect(await all(log, 1)).toEqual([]);
    await log.close();
  });

  test(`[MEMBER-1] ${engine}: what is written is read, in order, from any position`, async () => {
    const log = await open();
    const records = Array.from({ length: 45 }, (_, index) => randomBytes(1 + index * 100));
    for (const [index, bytes] of records.entries()) expect(await log.append(index + 1, bytes)).toBe('written');
    for (const from of [1, 2, 44, 45, 46]) {
      const read = await all(log, from);
      expect(read.map(({ position }) => position)).toEqual(records.slice(from - 1).map((_, index) => from + index));
      expect(Buffer.concat(read.map(({ bytes }) => bytes)).equals(Buffer.concat(records.slice(from - 1)))).toBe(true);
    }
    expect(await log.ends()).toEqual({ first: 1, last: 45 });
    await log.close();
  });

  test(`[MEMBER-2] ${engine}: a position has one record, whoever races for it`, async () => {
    const name = randomBytes(6).toString('hex');
    const logs = await Promise.all(Array.from({ length: WRITERS }, () => openLog(name)));
    for (let position = 1; position <= RACES; position += 1) {
      const records = logs.map(() => randomBytes(200));
      const outcomes = await Promise.all(logs.map((log, index) => log.append(position, records[index] as Buffer)));
      expect(outcomes.filter((outcome) => outcome === 'written')).toHaveLength(1);
      const [kept] = await all(logs[0] as CommitLog, position);
      const winner = records[outcomes.indexOf('written')] as Buffer;
      expect(Buffer.compare(kept?.bytes ?? Buffer.alloc(0), winner)).toBe(0);
    }
    await Promise.all(logs.map((log) => log.close()));
  });

  test(`[MEMBER-2] ${engine}: the same bytes again are written, other bytes find the position taken`, async () => {
    const log = await open();
    const [ours, theirs] = [randomBytes(50), randomBytes(50)];
    expect(await log.append(1, ours)).toBe('written');
    expect(await log.append(1, ours, Date.now())).toBe('written');
    expect(await log.append(1, theirs)).toBe('taken');
    expect((await all(log, 1)).map(({ bytes }) => Buffer.from(bytes))).toEqual([ours]);
    await log.close();
  });

  test(`[MEMBER-2] ${engine}: old records are removed and the newest never; a reader is told of the gap`, async () => {
    const log = await open();
    for (let position = 1; position <= 40; position += 1) await log.append(position, randomBytes(20));
    await log.removeBefore(30);
    expect(await log.ends()).toEqual({ first: 30, last: 40 });
    expect(await all(log, 30)).toHaveLength(11);
    await expect(all(log, 29)).rejects.toThrow(LogGap);
    await log.removeBefore(1000);
    expect(await log.ends()).toEqual({ first: 40, last: 40 });
    expect(await log.append(41, randomBytes(20))).toBe('written');
    // A former owner that was stopped for long comes back.
    const late = await log.append(10, randomBytes(20), Date.now() - 16 * 60_000).catch((error: Error) => error.name);
    expect(['taken', 'OutcomeUnknown']).toContain(late);
    expect(await log.ends()).toEqual({ first: 40, last: 41 });
    await log.close();
  });

  moreConformance(engine, openLog);
}

function moreConformance(engine: string, openLog: OpenLog): void {
  const open = () => openLog(randomBytes(6).toString('hex'));

  test(`[MEMBER-1] ${engine}: parts of any size keep their bytes, are listed by prefix, and are not overwritten`, async () => {
    const log = await open();
    const large = randomBytes(5 * 1024 * 1024 + 1);
    await log.putPart('parts/b', large);
    await log.putPart('parts/a-1', Buffer.alloc(0));
    await log.putPart('snapshots/0000000000000001-x/manifest', Buffer.from('m'));
    await log.putPart('parts/b', large);
    await expect(log.putPart('parts/b', randomBytes(10))).rejects.toThrow(PartTaken);
    expect(Buffer.compare(await log.getPart('parts/b'), large)).toBe(0);
    expect(await log.getPart('parts/a-1')).toHaveLength(0);
    expect(await log.listParts('parts/')).toEqual(['parts/a-1', 'parts/b']);
    expect(await log.listParts('parts/a')).toEqual(['parts/a-1']);
    expect(await log.listParts('snapshots/')).toEqual(['snapshots/0000000000000001-x/manifest']);
    await log.removePart('parts/b');
    await log.removePart('parts/b');
    await expect(log.getPart('parts/b')).rejects.toThrow(PartMissing);
    expect(await log.ends()).toBeUndefined();
    await log.close();
  });

  test(`[MEMBER-1] ${engine}: a second handle sees each record as soon as it is written`, async () => {
    const name = randomBytes(6).toString('hex');
    const [writer, reader] = [await openLog(name), await openLog(name)];
    for (let position = 1; position <= 10; position += 1) {
      await writer.append(position, randomBytes(30));
      expect(await all(reader, position)).toHaveLength(1);
      expect(await reader.ends()).toEqual({ first: 1, last: position });
    }
    await Promise.all([writer.close(), reader.close()]);
  });
}

export async function all(log: Pick<CommitLog, 'read'>, from: number): Promise<LogRecord[]> {
  const records: LogRecord[] = [];
  for await (const record of log.read(from)) records.push(record);
  return records;
}
