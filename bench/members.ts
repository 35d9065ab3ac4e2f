/**
 * Members of a log, in one run of some twelve minutes: what a log costs with each engine beside a hub without one, how fast
 * members catch up, how long nobody serves when the owner is killed or hands over, and what an idle hub asks of its bucket.
 */
import { catchUpRows } from './members/catch-up.ts';
import { idleRows, outageRows } from './members/change.ts';
import { costRows } from './members/costs.ts';
import { startStores } from './members/stores.ts';
import { type Bench, note, type Row, runWhenStarted } from './report.ts';

/** By the word that `--only` takes; any other word chooses questions of `costs`. */
const PARTS = { 'catch-up': catchUpRows, outage: outageRows, idle: idleRows } as const;

export const members: Bench = async ({ quick, only }) => {
  const startMs = performance.now();
  const stores = await startStores();
  try {
    const rows: Row[] = [];
    if (only === undefined || !(only in PARTS)) rows.push(...(await costRows(stores, { quick, only })));
    for (const [name, part] of Object.entries(PARTS))
      if (only === undefined || only === name) rows.push(...(await part(stores, { quick })));
    return rows;
  } finally {
    stores.end();
    note(`${((performance.now() - startMs) / 60_000).toFixed(1)} minutes`);
  }
};

await runWhenStarted(import.meta.url, members);
