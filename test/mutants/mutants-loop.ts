/**
 * Changes the code that decides, one place at a time, and runs the unit tests that load it:
 * `node dist/test/mutants/mutants-loop.js [COUNT] [SEED] [PATH]`. A mutant that no test notices survives. PATH keeps to the
 * files whose path contains it. Ends with code 1 when fewer than nine of ten are killed.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { randomOf } from '../support/random.ts';
import { refusedByCompiler } from './check.ts';
import { DECISIONS } from './decisions.ts';
import { EQUIVALENT } from './equivalent.ts';
import { type Mutant, mutantsOf, mutated } from './operators.ts';
import { Loads, sourceText } from './source.ts';
import { serveTrials, type Trial, type Verdict } from './warm.ts';

const COUNT = 200;
const SEED = 1;
const KILLED_SHARE_MIN = 0.9;
/** A mutant may loop for ever: its tests may take so many times what they take without it, and not less than this. */
const TRIAL_TIMES_MAX = 20;
const TRIAL_MS_MIN = 20_000;
/** The tests of a file as it is. */
const FIRST_TRIAL_MS_MAX = 300_000;

interface Candidate extends Mutant {
  readonly path: string;
  readonly line: number;
  /** The line as it is and as it becomes. */
  readonly before: string;
  readonly after: string;
}

const say = (line: string) => process.stdout.write(`${line}\n`);

/** Every mutant of the files that decide. */
function allMutants(part: string): Candidate[] {
  return Object.entries(DECISIONS)
    .filter(([path]) => path.includes(part))
    .flatMap(([path, deciding]) => {
      const source = sourceText(path);
      return mutantsOf(source, deciding).map((mutant) => ({ ...mutant, path, ...placeOf(source, mutant) }));
    });
}

function placeOf(source: string, mutant: Mutant): Pick<Candidate, 'line' | 'before' | 'after'> {
  const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim();
  const from = source.lastIndexOf('\n', mutant.start - 1) + 1;
  const end = source.indexOf('\n', mutant.end);
  const to = end === -1 ? source.length : end;
  return {
    line: source.slice(0, mutant.start).split('\n').length,
    before: oneLine(source.slice(from, to)),
    after: oneLine(source.slice(from, mutant.start) + mutant.text + source.slice(mutant.end, to)),
  };
}

function shuffled<T>(items: readonly T[], seed: number): T[] {
  const random = randomOf(seed);
  return items
    .map((item) => ({ item, key: random() }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ item }) => item);
}

const reasonOf = ({ path, before, after }: Candidate) => EQUIVALENT[path]?.[`${before} => ${after}`];

/** Picks by seed, and leaves out what does not compile and what changes nothing that can be seen. */
function picked(count: number, seed: number, part: string): { readonly chosen: Candidate[]; readonly said: string } {
  const all = allMutants(part);
  const order = shuffled(all, seed).slice(0, count * 2);
  const texts = order.map((one) => ({ path: one.path, text: mutated(sourceText(one.path), one) }));
  const refused = refusedByCompiler(texts);
  const compiled = order.filter((_, place) => !refused.has(place));
  const chosen = compiled.filter((one) => reasonOf(one) === undefined).slice(0, count);
  const equal = compiled.filter((one) => reasonOf(one) !== undefined).length;
  return {
    chosen,
    said: `${all.length} mutants of ${new Set(all.map(({ path }) => path)).size} files; of ${order.length} by seed ${seed}, ${refused.size} do not compile and ${equal} are equivalent`,
  };
}

/** The process with vitest in it, started again after a mutant that never ended. */
class WarmProcess {
  #child: ChildProcess | undefined;

  async try(trial: Trial, msMax: number): Promise<Verdict> {
    const child = this.#child ?? (await this.#start());
    return await new Promise((resolve) => {
      const end = (verdict: Verdict) => {
        clearTimeout(timer);
        child.removeAllListeners();
        resolve(verdict);
      };
      const give = (by: string) => {
        this.end();
        end({ killed: true, by });
      };
      const timer = setTimeout(() => give('it never ended'), msMax);
      child.once('message', (verdict) => end(verdict as Verdict));
      child.once('exit', () => give('the process ended'));
      child.send(trial);
    });
  }

  end(): void {
    this.#child?.kill('SIGKILL');
    this.#child = undefined;
  }

  async #start(): Promise<ChildProcess> {
    const child = fork(fileURLToPath(import.meta.url), ['serve']);
    this.#child = child;
    await new Promise((resolve, reject) => {
      child.once('message', resolve);
      child.once('exit', () => reject(new Error('vitest did not start')));
    });
    child.removeAllListeners();
    return child;
  }
}

/** Milliseconds that the tests of a file take as it is. Throws when one fails. */
async function timed(warm: WarmProcess, trial: Trial): Promise<number> {
  const startedMs = performance.now();
  const { killed, by } = await warm.try(trial, FIRST_TRIAL_MS_MAX);
  if (killed) throw new Error(`the tests of ${trial.file} fail without a mutant: ${by}`);
  return performance.now() - startedMs;
}

async function main(count: number, seed: number, part: string): Promise<boolean> {
  const startedMs = performance.now();
  const { chosen, said } = picked(count, seed, part);
  say(said);
  const loads = new Loads();
  const warm = new WarmProcess();
  const survivors: Candidate[] = [];
  const allowedMs = new Map<string, number>();
  // One file after the other, so that a run finds its modules ready.
  for (const one of chosen.toSorted((a, b) => a.path.localeCompare(b.path) || a.start - b.start)) {
    const [file, source] = [one.path, sourceText(one.path)];
    const tests = loads.testsOf(file);
    const msMax = allowedMs.get(file) ?? (await timed(warm, { file, text: source, tests })) * TRIAL_TIMES_MAX;
    allowedMs.set(file, msMax);
    const trial = { file, text: mutated(source, one), tests };
    const { killed, by } = await warm.try(trial, Math.max(TRIAL_MS_MIN, msMax));
    if (!killed) survivors.push(one);
    say(
      `${killed ? 'killed  ' : 'SURVIVED'} ${one.path}:${one.line} ${one.operator} | ${one.before} => ${one.after}${killed ? ` | ${by}` : ''}`,
    );
  }
  warm.end();
  const killed = chosen.length - survivors.length;
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  say(
    `${killed} of ${chosen.length} mutants killed (${((killed / chosen.length) * 100).toFixed(1)} %) in ${seconds} s, seed ${seed}`,
  );
  return killed >= chosen.length * KILLED_SHARE_MIN;
}

const [first = String(COUNT), seed = String(SEED), part = ''] = process.argv.slice(2);
if (first === 'serve') await serveTrials();
else process.exitCode = (await main(Number(first), Number(seed), part)) ? 0 : 1;
