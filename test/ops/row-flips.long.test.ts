/** One rotten bit in any row of any table: no row stops the check of the others. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { versions } from '../../src/sync/log/records.ts';
import { filledFolder } from '../support/filled-folder.ts';
import { fillTables } from '../support/filled-tables.ts';
import { runCairn } from '../support/hub.ts';
import { randomOf } from '../support/random.ts';
import { RowFlips } from '../support/row-flips.ts';
import { seed } from '../support/seed.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const FLIPS = Number(process.env['ROW_FLIPS'] ?? 300);

test(
  `[OPS-23, OPS-24] a flipped bit in a row is found, and stops no check (seed ${seed})`,
  async () => {
    const random = randomOf(seed);
    const flips = new RowFlips((await filledFolder(random, { fill: fillTables })).dataFolder);
    expect(flips.verify().problems).toEqual([]);
    expect(flips.tableNames.length).toBeGreaterThan(65);
    const missed = new Map<string, number>();
    const stopped: string[] = [];
    const untold: string[] = [];
    for (let done = 0; done < FLIPS; done += 1) {
      const flip = await flips.flip(random);
      if (flip === undefined) continue;
      const where = `${flip.table} ${flip.key.join(' ')} bit ${flip.bit}`;
      try {
        const { ok, set_aside: aside } = flips.verify();
        if (ok && aside.length === 0) missed.set(flip.table, (missed.get(flip.table) ?? 0) + 1);
      } catch (error) {
        stopped.push(`${where}: ${(error as Error).stack?.split('\n').slice(0, 3).join(' ')}`);
      }
      await flip.undo();
    }
    process.stdout.write(
      `${FLIPS} flips over ${flips.tableNames.length} tables, not told: ${JSON.stringify([...missed])}\n`,
    );
    await flips.misplaceEach((where) => {
      try {
        if (flips.verify().ok) untold.push(where);
      } catch (error) {
        stopped.push(`${where}: ${(error as Error).stack?.split('\n').slice(0, 3).join(' ')}`);
      }
    });
    expect(stopped).toEqual([]);
    expect(untold).toEqual([]);
    expect([...missed]).toEqual([]);
    expect(flips.verify().problems).toEqual([]);
    await flips.store.close();
  },
  600_000 + FLIPS * 500,
);

test(`[OPS-23] a version whose head is damaged is named, and stops neither verify nor backup (seed ${seed})`, async () => {
  const random = randomOf(seed);
  const { dataFolder } = await filledFolder(random);
  const flips = new RowFlips(dataFolder);
  // The length of the metadata: bytes 4 to 7 of the head.
  const flip = await flips.flip(random, { table: versions.name, from: 32, to: 64 });
  await flips.store.close();
  const { code, stdout } = await runCairn(['verify', '--json'], { CAIRN_DATA: dataFolder });
  expect(code).toBe(1);
  expect(JSON.parse(stdout).problems).toContainEqual(expect.stringContaining(String(flip?.key.join(' '))));
  const backup = await runCairn(['backup', join(temporaryFolder(), 'backup')], { CAIRN_DATA: dataFolder });
  expect([backup.code, backup.stderr]).toEqual([1, expect.stringContaining('damaged')]);
});
