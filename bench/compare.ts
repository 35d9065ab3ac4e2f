/**
 * What does a request cost in this build, compared with another build? Two hubs in one run, in turn.
 * usage: node dist/bench/compare.js --other BUILD/cairn.js [--pairs N] [--seconds N] [LOAD...]
 */
import { parseArgs } from 'node:util';
import { type Cost, costOf, LOAD_NAMES } from './costs/loads.ts';
import { openSide } from './costs/side.ts';
import { summarize } from './report.ts';

const { values, positionals } = parseArgs({
  options: {
    other: { type: 'string' },
    pairs: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '2' },
  },
  allowPositionals: true,
});
const WARM_UP = 3;
const loads = LOAD_NAMES.filter((name) => positionals.length === 0 || positionals.includes(name));
const sides = {
  here: await openSide(),
  other: await openSide(values.other),
};

try {
  for (const name of loads) {
    const costs = { here: [] as Cost[], other: [] as Cost[] };
    // The first pair is warm-up, and longer, so that the code is compiled. The order alternates from pair to pair.
    for (let pair = 0; pair <= Number(values.pairs); pair += 1) {
      for (const side of pair % 2 === 0 ? (['here', 'other'] as const) : (['other', 'here'] as const)) {
        const cost = await costOf(sides[side], name, Number(values.seconds) * (pair === 0 ? WARM_UP : 1));
        if (pair > 0) costs[side].push(cost);
      }
    }
    const told = (field: keyof Cost) => {
      const of = (side: 'here' | 'other') => summarize(costs[side].map((cost) => cost[field])).median;
      const ratios = costs.here.map((cost, pair) => cost[field] / (costs.other[pair]?.[field] ?? Number.NaN));
      const { median, min, max } = summarize(ratios);
      const range = `${median.toFixed(2)} (${min.toFixed(2)}–${max.toFixed(2)})`;
      return `${of('here').toFixed(1)} beside ${of('other').toFixed(1)}, ${range}`;
    };
    process.stdout.write(
      `${name}: ${told('rate')} a second; hub thread ${told('mainUs')} us, all ${told('allUs')} us\n`,
    );
  }
} finally {
  await sides.here.cairn.stop();
  await sides.other.cairn.stop();
}
