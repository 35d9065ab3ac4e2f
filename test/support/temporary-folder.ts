/** Folders for a test's files, removed with the test run. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folders = new Set<string>();
process.on('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Creates a folder that is removed with the test run, or with this process when there is no run. */
export function temporaryFolder(): string {
  const root = process.env['TEST_RUN_FOLDER'];
  const folder = mkdtempSync(join(root ?? tmpdir(), 'cairn-test-'));
  if (root === undefined) folders.add(folder);
  return folder;
}
