/** What a request costs in this build and in another, in turn. usage: node dist/bench/costs/compare.js OTHER/cairn.js PAIRS SECONDS [LOAD...] */
import { summarize } from '../report.ts';
import { type Cost, costOf, LOAD_NAMES, type LoadName } from './loads.ts';
import { openSide } from './side.ts';

const [other, pairs = '3', seconds = '2', ...named] = process.argv.slice(2);
const isLoad = (name: string): name is LoadName => LOAD_NAMES.some((load) => load === name);
const loads = named.length > 0 ? named.filter(isLoad) : LOAD_NAMES;
const sides = { here: await openSide({}), other: await openSide({}, other) };
const median = (costs: readonly Cost[], field: keyof Cost) => summarize(costs.map((cost) => cost[field])).median;
try {
  for (const name of loads) {
    const costs = { here: [] as Cost[], other: [] as Cost[] };
    for (const side of ['here', 'other'] as const) await costOf(sides[side], name, 2);
    for (let pair = 0; pair < Number(pairs); pair += 1) {
      for (const side of pair % 2 === 0 ? (['here', 'other'] as const) : (['other', 'here'] as const)) {
        costs[side].push(await costOf(sides[side], name, Number(seconds)));
      }
    }
    const shown = (field: keyof Cost) => {
      const ratios = costs.here.map((cost, pair) => cost[field] / (costs.other[pair]?.[field] ?? Number.NaN));
      const least = (all: readonly Cost[]) => summarize(all.map((cost) => cost[field])).min;
      return `${median(costs.here, field).toFixed(1)} / ${median(costs.other, field).toFixed(1)} = ${summarize(ratios).median.toFixed(3)} (least ${(least(costs.here) / least(costs.other)).toFixed(3)})`;
    };
    process.stdout.write(`${name}: hub thread ${shown('mainUs')} us, all ${shown('allUs')} us, rate ${shown('rate')}\n`);
  }
} finally {
  await sides.here.cairn.stop();
  await sides.other.cairn.stop();
}
