import { defineConfig } from 'vitest/config';

// biome-ignore lint/style/noDefaultExport: the test runner reads its settings from the default export.
export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    include: ['test/browser/**/*.test.ts'],
    // Each file starts a service and a browser of its own.
    maxWorkers: 1,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
