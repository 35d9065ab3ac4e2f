/** As many steps as asked, from a new seed or the one that a run named: `node dist/test/sync/chunks/promise-loop.js 1000 [seed]`. */
import { PromiseModel } from './promise-model.ts';

const STEPS_DEFAULT = 1000;
/** A vault that is older is slower to verify. */
const STEPS_PER_VAULT = 50;

const steps = Number(process.argv[2] ?? STEPS_DEFAULT);
const firstSeed = Number(process.argv[3] ?? Math.floor(Math.random() * 2 ** 30));
for (let done = 0; done < steps; done += STEPS_PER_VAULT) {
  const seed = firstSeed + done / STEPS_PER_VAULT;
  const model = await PromiseModel.open(seed);
  try {
    for (let step = 0; step < Math.min(STEPS_PER_VAULT, steps - done); step += 1) await model.step();
    const problems = model.problems();
    if (problems.length > 0) throw new Error(problems.join('\n'));
    process.stdout.write(`seed ${seed}: ${JSON.stringify(model.seen)}\n`);
  } catch (error) {
    process.stderr.write(`seed ${seed}: ${String((error as Error).stack)}\n`);
    process.exitCode = 1;
  } finally {
    await model.close();
  }
}
