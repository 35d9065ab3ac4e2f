/** Runs unit tests again and again in one process of vitest, in which one module is replaced by a mutant. */
import { join } from 'node:path';
import { createVitest, type TestSpecification, type Vitest } from 'vitest/node';
import { ROOT } from './source.ts';

/** What the parent asks for: the module as a whole, and the test files to run, in this order. */
export interface Trial {
  readonly file: string;
  readonly text: string;
  readonly tests: readonly string[];
}

/** What the tests said. */
export interface Verdict {
  readonly killed: boolean;
  /** The first test that failed, or what else went wrong. */
  readonly by: string;
}

/** Serves trials of the parent process until it goes. */
export async function serveTrials(): Promise<void> {
  const replaced = new Map<string, string>();
  const plugin = {
    name: 'mutant',
    enforce: 'pre' as const,
    load: (id: string) => replaced.get(id.split('?')[0] ?? ''),
  };
  const vitest = await createVitest(
    'test',
    {
      root: ROOT,
      config: false,
      include: ['test/**/*.unit.test.ts'],
      globalSetup: ['test/support/global-setup.ts'],
      watch: true,
      isolate: false,
      pool: 'threads',
      maxWorkers: 1,
      bail: 1,
      testTimeout: 60_000,
      reporters: [{}],
    },
    { plugins: [plugin], server: { watch: null } },
  );
  await vitest.standalone();
  const specifications = new Map((await vitest.globTestSpecifications()).map((one) => [one.moduleId, one]));
  process.on('message', (trial: Trial) => {
    // What was replaced before is loaded anew too.
    for (const file of replaced.keys()) vitest.invalidateFile(file);
    replaced.clear();
    const file = join(ROOT, trial.file);
    replaced.set(file, trial.text);
    vitest.invalidateFile(file);
    void run(vitest, specifications, trial).then((verdict) => process.send?.(verdict));
  });
  process.on('disconnect', () => process.exit(0));
  process.send?.('ready');
}

async function run(
  vitest: Vitest,
  specifications: ReadonlyMap<string, TestSpecification>,
  { tests }: Trial,
): Promise<Verdict> {
  for (const path of tests) {
    const specification = specifications.get(join(ROOT, path));
    if (specification === undefined) continue;
    const { testModules, unhandledErrors } = await vitest.runTestSpecifications([specification]);
    // What other files said in earlier trials is in there too.
    for (const module of testModules.filter(({ moduleId }) => moduleId === specification.moduleId)) {
      for (const test of module.children.allTests('failed')) return { killed: true, by: test.fullName };
      if (!module.ok()) return { killed: true, by: `${path}: ${module.errors()[0]?.message ?? 'it failed'}` };
    }
    if (unhandledErrors.length > 0) return { killed: true, by: `${path}: ${String(unhandledErrors[0])}` };
  }
  return { killed: false, by: '' };
}
