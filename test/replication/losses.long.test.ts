/** Members are lost under load, round after round: nothing that was answered is lost, and no read is stale. */
import { expect, test } from 'vitest';
import { postgresPrograms, startPostgres } from '../support/postgres-server.ts';
import { randomOf } from '../support/random.ts';
import { seed } from '../support/seed.ts';
import { FolderWorld } from './losses/folder-world.ts';
import { canCutNetworks } from './losses/network.ts';
import { NetworkWorld } from './losses/network-world.ts';
import { runRounds } from './losses/rounds.ts';
import type { MemberWorld } from './losses/world.ts';

/** Of each world; `losses-loop.ts` takes a thousand. */
const ROUNDS = Number(process.env['MEMBER_ROUNDS'] ?? 2);
const ROUND_MS_MAX = 120_000;

async function lose(world: MemberWorld, random: () => number): Promise<void> {
  const from = seed % world.losses.size;
  const { problems, counts } = await runRounds(world, { from, to: from + ROUNDS, random });
  expect(problems, `seed ${seed}`).toEqual([]);
  expect(counts.appends).toBeGreaterThan(0);
  expect(counts.writes).toBeGreaterThan(0);
  expect(counts.rows).toBeGreaterThan(counts.appends);
}

test(`[MEMBER-1, MEMBER-2, MEMBER-3] ${ROUNDS} losses of members lose nothing and show nothing stale (seed ${seed})`, {
  timeout: ROUND_MS_MAX * (ROUNDS + 1),
}, async () => {
  await lose(new FolderWorld(), randomOf(seed));
});

test.runIf(canCutNetworks && postgresPrograms !== undefined)(
  `[MEMBER-1, MEMBER-2, MEMBER-3] ${ROUNDS} losses with cut networks, full disks and a bad log lose nothing (seed ${seed}; needs root and postgresql)`,
  { timeout: ROUND_MS_MAX * (ROUNDS + 1) },
  async () => {
    const random = randomOf(seed);
    await lose(await NetworkWorld.open(await startPostgres(), random), random);
  },
);
