/** cairn verify: reads the data file beside the service, or without it, and reports what is wrong. */

import { jsonLine } from '../../client/shown.ts';
import type { IntegrityReport } from '../../compose/verify.ts';
import { readConfig } from '../../config.ts';
import { noteDone } from '../../ops/marks.ts';
import { masterKeyOf, openSealer } from '../../store/sealing/own-key.ts';
import type { Command, Options } from '../command.ts';
import { print, table } from '../output.ts';
import { openForReading } from './read-only.ts';

export const verifyCommand: Command = {
  name: 'verify',
  summary: 're-hash every blob, check every index; reads beside the service',
  examples: ['cairn verify', 'CAIRN_DATA=/srv/cairn cairn verify --json'],
  run: verify,
};

async function verify(options: Options): Promise<number> {
  const config = readConfig();
  const { checkIntegrity } = await import('../../compose/verify.ts');
  const store = await openForReading(config);
  try {
    const sealer = openSealer(store, masterKeyOf(config.dataFolder, config.masterKey, store));
    const report = checkIntegrity(store, sealer);
    noteDone(config.dataFolder, 'verify', report.problems.length, Date.now());
    if (options.json) print(jsonLine(report));
    else printReport(report);
    return report.ok ? 0 : 1;
  } finally {
    await store.close();
  }
}

function printReport(report: IntegrityReport): void {
  const { problems, ok, ...counts } = report;
  print(table(Object.entries(counts).map(([name, value]) => [name.replaceAll('_', ' '), String(value)])));
  print('');
  for (const problem of problems) print(`damaged: ${problem}`);
  print(ok ? 'verified: every blob hashes right and every index agrees' : `${problems.length} problems found`);
}
