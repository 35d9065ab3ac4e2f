/** The log in PostgreSQL through a network, a pooler and a server that cut, delay, repeat, warn of and lose statements. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { PartTaken } from '../../src/replication/log/log.ts';
import { PostgresLog } from '../../src/replication/log/postgres.ts';
import { postgresPrograms, startPostgres } from '../support/postgres-server.ts';
import { randomOf } from '../support/random.ts';
import { startRoughWire, WIRE_MISCHIEF } from '../support/rough-wire.ts';
import { seed } from '../support/seed.ts';
import { all } from './conformance.ts';

/** Positions that two writers race for. By hand: 10,000. */
const CUT_APPENDS = Number(process.env['CUT_APPENDS'] ?? 100);
/** Logs that are written at the same time: in one log, a position waits for the one before it. */
const LANES = 10;
/** Of one statement. */
const STATEMENT_MS = 500;
/** So many of the statements are treated badly: of the inserts of records, and of the others. */
const CUT_SHARES = { record: 0.6, other: 0.1 };
/** One part is larger than a row of them. */
const PART_BYTES = { first: 2 ** 21, other: 99 };

interface Lane {
  readonly one: PostgresLog;
  readonly two: PostgresLog;
  /** Past the bad wire. */
  readonly direct: PostgresLog;
}

async function openLane(rough: string, direct: string): Promise<Lane> {
  const cell = `?cell=${randomBytes(6).toString('hex')}`;
  const open = async (url: string): Promise<PostgresLog> => {
    // A busy machine may not answer in so short a time.
    return await PostgresLog.open(url + cell, STATEMENT_MS).catch(() => open(url));
  };
  return { one: await open(rough), two: await open(rough), direct: await PostgresLog.open(direct + cell) };
}

class Race {
  unknown = 0;

  async settle<T>(ask: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (error instanceof PartTaken) throw error;
        this.unknown += 1;
      }
    }
  }

  async run({ one, two, direct }: Lane, positions: number): Promise<void> {
    const winners: Buffer[] = [];
    for (let position = 1; position <= positions; position += 1) {
      const where = `position ${position}, seed ${seed}`;
      const [ours, theirs] = [randomBytes(300), randomBytes(300)];
      const outcomes = await Promise.all([
        this.settle(() => one.append(position, ours)),
        this.settle(() => two.append(position, theirs)),
      ]);
      expect(outcomes.toSorted(), where).toEqual(['taken', 'written']);
      winners.push(outcomes[0] === 'written' ? ours : theirs);
      const part = randomBytes(position === 1 ? PART_BYTES.first : PART_BYTES.other);
      await this.settle(() => one.putPart(`parts/${position}`, part));
      expect(Buffer.compare(await direct.getPart(`parts/${position}`), part), where).toBe(0);
    }
    const kept = await all(direct, 1);
    expect(Buffer.concat(kept.map(({ bytes }) => bytes)).equals(Buffer.concat(winners)), `seed ${seed}`).toBe(true);
    for (const log of [one, two, direct]) await log.close();
  }
}

test.runIf(postgresPrograms !== undefined)(
  '[MEMBER-2] every append and part that a bad wire cuts, delays, repeats, warns of or loses is settled, and settled right (needs postgresql)',
  async () => {
    const random = randomOf(seed);
    const primary = await startPostgres();
    const wire = await startRoughWire(primary.port);
    const rough = `postgres://cairn@127.0.0.1:${wire.port}/postgres`;
    // What opens a log is not repeated, so the wire is good until then.
    const lanes = await Promise.all(Array.from({ length: LANES }, () => openLane(rough, primary.url)));
    wire.mischief = (statement) => {
      const share = CUT_SHARES[statement.includes('insert into cairn_log ') ? 'record' : 'other'];
      return WIRE_MISCHIEF[Math.floor((random() / share) * WIRE_MISCHIEF.length)] ?? 'none';
    };
    const race = new Race();
    await Promise.all(lanes.map((lane) => race.run(lane, CUT_APPENDS / LANES)));
    wire.close();
    expect(race.unknown).toBeGreaterThan(CUT_APPENDS / 4);
    for (const kind of WIRE_MISCHIEF) expect(wire.counts.get(kind), kind).toBeGreaterThan(0);
    process.stdout.write(`${CUT_APPENDS} positions, ${race.unknown} unknown outcomes, seed ${seed}\n`);
  },
  3_600_000,
);
