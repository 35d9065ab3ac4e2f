/** What every engine of the log promises. One suite, run over each. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { encodeRecord, NO_HASH } from '../../src/replication/frame.ts';
import { type CommitLog, LogGap, type LogRecord, PartMissing, PartTaken } from '../../src/replication/log/log.ts';
import { PARTS, positionText } from '../../src/replication/names.ts';
import { encodeManifest, manifestName } from '../../src/replication/snapshots/manifest.ts';
import { trimLog } from '../../src/replication/snapshots/trim.ts';

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
  partConformance(engine, openLog);
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

const HOUR_MS = 3_600_000;

/** Records as owners write them, one an hour. */
class HourlyLog {
  readonly log: CommitLog;
  #hash = NO_HASH;
  #position = 0;

  constructor(log: CommitLog) {
    this.log = log;
  }

  async append(term: number | undefined, parts: readonly string[] = []): Promise<void> {
    this.#position += 1;
    const { bytes, hash } = await this.record(term, parts, this.#position);
    expect(await this.log.append(this.#position, bytes)).toBe('written');
    this.#hash = hash;
  }

  async record(term: number | undefined, parts: readonly string[], position: number) {
    const rows = parts.map((name) => {
      return { table: 't', key: Buffer.from(name), part: { name, sha256: '0'.repeat(64), bytes: 1 } };
    });
    const head = { cell: 1, incarnation: 'i', position, member: 'm', timeMs: position * HOUR_MS, id: `${position}` };
    const note = term === undefined ? {} : { term: String(term) };
    return await encodeRecord({ ...head, previousHash: this.#hash, kind: 'write', rows, note });
  }

  /** A snapshot of a position; only its place counts here. */
  async snapshot(position: number): Promise<void> {
    const of = { cell: 1, incarnation: 'i', position, hash: '0'.repeat(64), timeMs: position * HOUR_MS };
    const manifest = encodeManifest({ form: 1, ...of, cairn: '1', tables: {}, parts: [] });
    await this.log.putPart(manifestName(`${positionText(position)}-x`), manifest);
  }

  /** So many hours after the first record, with a day of moments kept. */
  async trim(hours: number) {
    return await trimLog({ log: this.log, keepDays: 1, nowMs: hours * HOUR_MS });
  }
}

const partName = (term: number, name: string): string => `${PARTS}${positionText(term)}-${name}`;

function partConformance(engine: string, openLog: OpenLog): void {
  test(`[MEMBER-4] ${engine}: parts that no record named go with the last record of their owner; no zombie names one after that`, async () => {
    const hourly = new HourlyLog(await openLog(randomBytes(6).toString('hex')));
    const { log } = hourly;
    const [named, unnamed, later, older] = [partName(1, 'a'), partName(1, 'b'), partName(4, 'c'), 'parts/mf2x-d'];
    for (const name of [named, unnamed, later, older]) await log.putPart(name, Buffer.from('x'));
    await hourly.append(1);
    await hourly.append(1, [named]);
    await hourly.append(1);
    // Another owner.
    await hourly.append(4);
    for (let position = 5; position <= 40; position += 1) await hourly.append(4);
    // Records of the first owner are still there.
    await hourly.snapshot(2);
    // Two segments, of records 1 and 2, and 3 to 5.
    for (const hours of [4.5, 7.5]) await hourly.trim(hours);
    expect(await hourly.trim(26.5)).toMatchObject({ segmentsRemoved: 1, partsRemoved: 1 });
    expect(await log.listParts(PARTS)).toEqual([unnamed, later, older]);
    // None is: the oldest record is of the second owner, whose own part may still be named.
    await hourly.snapshot(6);
    expect(await hourly.trim(31)).toMatchObject({ segmentsRemoved: 1, partsRemoved: 1 });
    expect(await log.listParts(PARTS)).toEqual([later, older]);
    // The first owner was stopped between its part and the record.
    const { bytes } = await hourly.record(1, [unnamed], 4);
    const late = await log.append(4, bytes, Date.now() - 16 * 60_000).catch((error: Error) => error.name);
    expect(['taken', 'OutcomeUnknown']).toContain(late);
    expect((await log.ends())?.first).toBeGreaterThan(6);
    // It puts one even now. It goes with the next.
    await log.putPart(partName(1, 'e'), Buffer.from('x'));
    await hourly.snapshot(24);
    expect((await hourly.trim(100)).segmentsRemoved).toBeGreaterThan(0);
    expect(await log.listParts(PARTS)).toEqual([later, older]);
    await log.close();
  });

  test(`[MEMBER-4] ${engine}: a record of an earlier version says no term, and no part goes for it`, async () => {
    const hourly = new HourlyLog(await openLog(randomBytes(6).toString('hex')));
    await hourly.log.putPart(partName(1, 'a'), Buffer.from('x'));
    for (let position = 1; position <= 8; position += 1) await hourly.append(undefined);
    await hourly.snapshot(3);
    await hourly.trim(4.5);
    expect(await hourly.trim(40)).toMatchObject({ segmentsRemoved: 1, partsRemoved: 0 });
    expect(await hourly.log.listParts(PARTS)).toEqual([partName(1, 'a')]);
    await hourly.log.close();
  });
}

export async function all(log: Pick<CommitLog, 'read'>, from: number): Promise<LogRecord[]> {
  const records: LogRecord[] = [];
  for await (const record of log.read(from)) records.push(record);
  return records;
}
