/** Loses members round after round, judges each round, and compares the members' files at the end. */
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { limits } from '../../../src/limits/service.ts';
import { openCommitLog } from '../../../src/replication/log/open.ts';
import { LogFollower } from '../../../src/replication/members/follower.ts';
import { ReplicaFile } from '../../../src/store/logged/replica.ts';
import { LossTrial, type RoundCounts } from './trial.ts';
import type { MemberWorld } from './world.ts';

export interface Rounds {
  /** The numbers of the rounds: which loss each has follows from them. */
  readonly from: number;
  readonly to: number;
  readonly random: () => number;
  /** Only losses whose name has this. */
  readonly only?: string | undefined;
  /** Asked before each round whether to leave out the rest. */
  readonly isOver?: () => boolean;
  /** Told after each round. */
  readonly tell?: (round: number, loss: string, counts: RoundCounts, problems: readonly string[]) => void;
}

/** What all rounds saw together. */
export interface LossReport {
  readonly problems: string[];
  readonly counts: { appends: number; writes: number; reads: number; unknown: number; rows: number };
}

/** Opens members in a world, loses some of them in each round, and closes both. */
export async function runRounds(
  world: MemberWorld,
  { from, to, random, only = '', isOver = () => false, tell }: Rounds,
): Promise<LossReport> {
  const report: LossReport = { problems: [], counts: { appends: 0, writes: 0, reads: 0, unknown: 0, rows: 0 } };
  const losses = [...world.losses].filter(([name]) => name.includes(only));
  const trial = new LossTrial(world);
  try {
    await trial.open();
    for (let round = from; round < to && !isOver(); round += 1) {
      const [name, lose] = losses[round % losses.length] as (typeof losses)[number];
      await trial.begin(round, random);
      await sleep(300 + random() * 700);
      await lose(trial);
      await trial.heal();
      await sleep(300);
      const { problems, counts } = await trial.end();
      for (const kind of ['appends', 'writes', 'reads', 'unknown'] as const) report.counts[kind] += counts[kind];
      report.problems.push(...problems.map((problem) => `round ${round} (${name}): ${problem}`));
      tell?.(round, name, counts, problems);
    }
    const folders = [...trial.members.values()].map(({ dataFolder }) => dataFolder);
    await trial.close();
    const [one = new Map(), other = new Map()] = await Promise.all(folders.map((folder) => rowsOf(folder, world)));
    report.counts.rows = one.size;
    const different = [...one].filter(([key, stored]) => other.get(key) !== stored).map(([key]) => key);
    if (different.length > 0 || one.size !== other.size)
      report.problems.push(
        `the files differ in ${different.length} of ${one.size} and ${other.size} rows: ${different[0]}`,
      );
  } finally {
    await trial.close();
    await world.close();
  }
  return report;
}

/** Every row of a data file after all records of the log, as text by table and key. */
async function rowsOf(folder: string, { log, environment }: MemberWorld): Promise<Map<string, string>> {
  const file = new ReplicaFile({ folder, mapBytes: limits.mapBytes });
  const commitLog = await openCommitLog(log, environment);
  const end = new AbortController();
  const follower = new LogFollower({
    commitLog,
    replica: file,
    identity: { name: 'reader', instance: 'r' },
    log: pino({ level: 'silent' }),
    prove: () => undefined,
    leaseMs: 1e9,
    priority: 0,
    signal: end.signal,
  });
  const followed = follower.run();
  while (follower.state !== 'following') await sleep(20);
  end.abort();
  await followed;
  const rows = new Map<string, string>();
  for (const table of file.tables.filter((name) => name !== 'replication')) {
    for (const { key, value } of file.rows(table)) {
      rows.set(`${table} ${Buffer.from(key).toString('hex')}`, Buffer.from(value ?? []).toString('hex'));
    }
  }
  await file.close();
  await commitLog.close();
  return rows;
}
