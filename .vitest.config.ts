import { defineConfig } from 'vitest/config';

// biome-ignore lint/style/noDefaultExport: the test runner reads its settings from the default export.
export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    include: ['test/**/*.test.ts'],
    // A command of its own: it needs a browser on the machine.
    exclude: ['test/browser/**'],
    // Each file starts services of its own; more files at once than cores would only make them wait for each other.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
