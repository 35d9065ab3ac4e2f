/**
 * What does a request cost, and how many requests would a machine of 4, 8 or 16 cores serve? Measures the CPU time of
 * a request over all threads of the hub, and in the hub thread alone, with a single thread and with fronts; a model
 * derives the effect of more cores. See README.md, "More cores".
 */
import { type Cost, costOf, LOAD_NAMES, type LoadName } from './costs/loads.ts';
import { rateOn } from './costs/model.ts';
import { openSide } from './costs/side.ts';
import { requireTool } from './peers/child.ts';
import { note, readBenchOptions, summarize } from './report.ts';

const CORES = [4, 8, 16];
/** Enough fronts that the hub thread only serves requests handed over to it. */
const FRONTS = 2;

type Costs = Readonly<Record<'one' | 'fronts', Cost>>;

async function measure(rounds: number): Promise<Map<LoadName, Costs>> {
  const sides = {
    one: await openSide({ CAIRN_FRONTS: '0' }),
    fronts: await openSide({ CAIRN_FRONTS: String(FRONTS) }),
  };
  const found = new Map<LoadName, Costs>();
  try {
    for (const name of LOAD_NAMES) {
      const costs = { one: [] as Cost[], fronts: [] as Cost[] };
      // The first round is warm-up. The order alternates from round to round.
      for (let round = 0; round <= rounds; round += 1) {
        for (const side of round % 2 === 0 ? (['one', 'fronts'] as const) : (['fronts', 'one'] as const)) {
          const cost = await costOf(sides[side], name, 1);
          if (round > 0) costs[side].push(cost);
        }
      }
      const middle = (of: readonly Cost[], field: keyof Cost) => summarize(of.map((cost) => cost[field])).median;
      const median = (of: readonly Cost[]): Cost => ({
        rate: middle(of, 'rate'),
        mainUs: middle(of, 'mainUs'),
        allUs: middle(of, 'allUs'),
      });
      found.set(name, { one: median(costs.one), fronts: median(costs.fronts) });
      note(name);
    }
  } finally {
    await sides.one.cairn.stop();
    await sides.fronts.cairn.stop();
  }
  return found;
}

function row(name: LoadName, { one, fronts }: Costs): string {
  const us = ({ mainUs, allUs }: Cost) => `${mainUs.toFixed(0)} of ${allUs.toFixed(0)} µs`;
  const rates = (cost: Cost) =>
    CORES.map((cores) => rateOn(cores, cost).toPrecision(2))
      .map(Number)
      .join(', ');
  return `| \`${name}\` | ${one.rate.toFixed(0)}/s | ${us(one)} | ${rates(one)} | ${us(fronts)} | ${rates(fronts)} |`;
}

requireTool('wrk', 'wrk');
const found = await measure(readBenchOptions().quick ? 2 : 5);
const cores = CORES.join(', ');
process.stdout.write(
  `| Load | Here | Hub thread of all, one thread | a second on ${cores} cores | Hub thread of all, ${FRONTS} fronts | a second on ${cores} cores, with fronts |
|---|---|---|---|---|---|
${[...found].map(([name, costs]) => row(name, costs)).join('\n')}
`,
);
