/** One folder holds every temporary folder of a test run, and goes with it, however the test processes end. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RUN_FOLDERS, RUN_PROCESSES } from './run-wide.ts';

export const setup = (): (() => void) => {
  const root = mkdtempSync(join(tmpdir(), 'cairn-run-'));
  process.env['TEST_RUN_FOLDER'] = root;
  return () => {
    for (const pid of linesOf(join(root, RUN_PROCESSES))) endGroup(Number(pid));
    for (const folder of linesOf(join(root, RUN_FOLDERS))) rmSync(folder, { recursive: true, force: true });
    rmSync(root, { recursive: true, force: true });
    // Benches that run afterwards in this process have folders of their own.
    delete process.env['TEST_RUN_FOLDER'];
  };
};

const linesOf = (path: string): string[] =>
  existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];

function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}
