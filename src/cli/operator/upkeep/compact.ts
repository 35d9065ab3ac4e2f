/** cairn compact: returns the free space in the data file to the disk. */
import type { Command, Options } from '../../command.ts';
import { printError, printResult, table } from '../../output.ts';
import { operatorConfig } from '../settings.ts';

const TOLD_MS = 1000;

export const compactCommand: Command = {
  name: 'compact',
  summary: 'return free space of the data file to the disk; if the service runs, the next start uses the new file',
  examples: ['cairn compact', 'CAIRN_DATA=/srv/cairn cairn compact --json'],
  run,
};

async function run(options: Options): Promise<number> {
  const { compact } = await import('../../../ops/compact/compact.ts');
  let told = Date.now();
  const done = await compact(operatorConfig(), (bytes, total) => {
    if (Date.now() - told < TOLD_MS) return;
    told = Date.now();
    printError(`${Math.floor((100 * bytes) / total)}%`);
  });
  const sizes = table([
    ['bytes before', String(done.bytes_before)],
    ['bytes after', String(done.bytes_after)],
  ]);
  const next = done.swapped
    ? 'compacted'
    : 'The new file is ready. Restart the service: it adds what was written since, and uses the new file.';
  return printResult(options, done, () => `${sizes}\n\n${next}`);
}
