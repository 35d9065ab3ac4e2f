/**
 * Loses members of a hub, or its log, as often as asked: `node dist/test/replication/losses-loop.js ROUNDS [SEED] [WORLD] [LOSS]`.
 * The world `network` needs root and PostgreSQL: members in network namespaces, their disks and the log's answers go wrong
 * too. `bucket` needs Ceph RGW, and treats requests badly. `patroni` needs Patroni, etcd and PostgreSQL: the log is lost, not
 * the members. `folder` needs nothing. A round has one loss, the next in the list, of those whose name has LOSS; every 25
 * rounds a new hub begins. Prints a line for each round and one at the end, and ends
 * with code 1 if anything was lost, stale, out of order or different. SIGTERM ends it after the round under way.
 */
import { setup } from '../support/global-setup.ts';
import { postgresPrograms, startPostgres } from '../support/postgres-server.ts';
import { randomOf } from '../support/random.ts';
import { useRgw } from '../support/rgw.ts';
import { BucketWorld } from './losses/bucket-world.ts';
import { FolderWorld } from './losses/folder-world.ts';
import { canCutNetworks } from './losses/network.ts';
import { NetworkWorld } from './losses/network-world.ts';
import { PatroniCluster } from './losses/patroni.ts';
import { PatroniWorld } from './losses/patroni-world.ts';
import { runRounds } from './losses/rounds.ts';
import type { MemberWorld } from './losses/world.ts';

const ROUNDS_PER_HUB = 25;

const say = (line: string) => process.stdout.write(`${line}\n`);
const rounds = Number(process.argv[2] ?? 100);
const seed = Number(process.argv[3] ?? Math.floor(Math.random() * 2 ** 31));
const kind = process.argv[4] ?? (canCutNetworks && postgresPrograms !== undefined ? 'network' : 'folder');
const random = randomOf(seed);
const total = { appends: 0, writes: 0, reads: 0, unknown: 0, rows: 0 };
const problems: string[] = [];
let done = 0;
let isOver = false;
process.once('SIGTERM', () => {
  isOver = true;
});
const endRun = setup();
const { open, end } = await places(kind);
try {
  for (let from = 0; from < rounds && !isOver; from += ROUNDS_PER_HUB) {
    const report = await runRounds(await open(), {
      from,
      to: Math.min(rounds, from + ROUNDS_PER_HUB),
      random,
      only: process.argv[5],
      isOver: () => isOver,
      tell: (round, loss, counts, found) => {
        done += 1;
        say(
          `round ${round} (${loss}): ${counts.appends} appends, ${counts.writes} writes, ${counts.unknown} unknown, ${counts.reads} reads; ${found.length} problems`,
        );
      },
    });
    for (const name of Object.keys(total) as (keyof typeof total)[]) total[name] += report.counts[name];
    for (const problem of report.problems) say(problem);
    problems.push(...report.problems);
  }
} finally {
  end();
  endRun();
}
say(
  `${done} losses of members (${kind}, seed ${seed}): ${total.appends} appends and ${total.writes} writes answered, ${total.unknown} writes unknown, ${total.reads} reads; ${total.rows} rows equal on both members unless told: ${problems.length} problems`,
);
process.exitCode = problems.length === 0 ? 0 : 1;

/** What opens worlds of a kind, one after another. */
async function places(name: string): Promise<{ open: () => MemberWorld | Promise<MemberWorld>; end: () => void }> {
  if (name === 'network') {
    const server = await startPostgres();
    return { open: () => NetworkWorld.open(server, random), end: () => server.kill() };
  }
  if (name === 'bucket') {
    const rgw = await useRgw();
    return { open: () => BucketWorld.open(rgw, random), end: () => undefined };
  }
  if (name === 'patroni') {
    const cluster = await PatroniCluster.start();
    return { open: () => new PatroniWorld(cluster), end: () => cluster.close() };
  }
  return { open: () => new FolderWorld(), end: () => undefined };
}
