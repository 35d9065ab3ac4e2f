/** One folder holds every temporary folder of a test run, and goes with it, however the test processes end. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const setup = (): (() => void) => {
  const root = mkdtempSync(join(tmpdir(), 'cairn-run-'));
  process.env['TEST_RUN_FOLDER'] = root;
  return () => rmSync(root, { recursive: true, force: true });
};
