/** Servers that all files of a test run share: the first file that needs one starts it, `global-setup.ts` ends it. */
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const START_MS = 180_000;

/** The folder of the run; without a run, one for this process. */
function root(): string {
  process.env['TEST_RUN_FOLDER'] ??= mkdtempSync(join(tmpdir(), 'cairn-run-'));
  return process.env['TEST_RUN_FOLDER'];
}

/** Processes of the run, one id a line. */
export const RUN_PROCESSES = 'run-processes';
/** Folders of the run that lie elsewhere, such as in memory. */
export const RUN_FOLDERS = 'run-folders';

export const endWithRun = (pid: number): void => appendFileSync(join(root(), RUN_PROCESSES), `${pid}\n`);
export const removeWithRun = (folder: string): void => appendFileSync(join(root(), RUN_FOLDERS), `${folder}\n`);

/** Returns what `start` told about a server, from the file of this run that came first. */
export async function onceInRun(name: string, start: () => Promise<string>): Promise<string> {
  const [claim, ready] = [join(root(), `${name}-claim`), join(root(), `${name}-ready`)];
  try {
    mkdirSync(claim);
  } catch {
    for (let waited = 0; !existsSync(ready); waited += 100) {
      if (waited > START_MS) throw new Error(`${name} of this run did not start`);
      await sleep(100);
    }
    return readFileSync(ready, 'utf8');
  }
  const told = await start();
  writeFileSync(`${ready}.new`, told);
  renameSync(`${ready}.new`, ready);
  return told;
}
