import { defineConfig } from 'vitest/config';

/** A test's name or folder shows its kind; `test/tidy.test.ts` holds the names against what the files import. */
const UNIT = ['test/**/*.unit.test.ts', 'test/tidy.test.ts'];
const LONG = ['test/**/*.long.test.ts'];
/** Properties that `npm test` runs seldom for their price: the long run takes them again with more runs each. */
const PROPERTIES = [
  'test/**/random.unit.test.ts',
  'test/sync/pull/{choose,folders}.unit.test.ts',
  'test/sync/log/{paths,hlc}.unit.test.ts',
  'test/http/checks/rate-limiter.unit.test.ts',
  'test/store/schema.unit.test.ts',
];
/** These need a browser on the machine. */
const BROWSER = ['test/browser/**/*.test.ts'];

// biome-ignore lint/style/noDefaultExport: the test runner reads its settings from the default export.
export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 120_000,
    // Longer than `startHub` waits for a hub.
    hookTimeout: 180_000,
    // What is waited for comes at once, but not on a busy machine.
    expect: { poll: { timeout: 40_000 } },
    // Tests marked concurrent wait for real deadlines: all of a file wait at once.
    maxConcurrency: 20,
    projects: [
      // Units start no process and share nothing, so the files of a worker share its modules. A third worker runs while one waits for the disk.
      kind('unit', UNIT, { isolate: false, maxWorkers: 3, sequence: { groupOrder: 0 } }),
      // Each file starts services of its own and waits for them and for deadlines, so more files run than there are cores. A
      // process takes one file after another: starting one for each takes a tenth of the CPU time of all.
      kind('service', ['test/**/*.test.ts'], {
        exclude: [...UNIT, ...LONG, ...BROWSER],
        isolate: false,
        maxWorkers: 3,
        sequence: { groupOrder: 1 },
      }),
      kind('long', [...LONG, ...PROPERTIES], {
        env: { PROPERTY_RUNS: '5' },
        // Two leave a third of the cores idle: the tests wait for deadlines and disks.
        maxWorkers: 3,
        sequence: { groupOrder: 2 },
      }),
      kind('browser', BROWSER, {
        maxWorkers: 2,
        testTimeout: 120_000,
        hookTimeout: 120_000,
        sequence: { groupOrder: 3 },
      }),
    ],
  },
});

function kind<Settings extends object>(name: string, include: string[], settings: Settings) {
  return { extends: true as const, test: { name, include, ...settings } };
}
