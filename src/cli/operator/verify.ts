/** cairn verify: checks the data file and reports damage, with or without a running service. */

import { jsonLine } from '../../client/shown.ts';
import type { IntegrityReport } from '../../compose/verify.ts';
import type { Config } from '../../config.ts';
import { limits } from '../../limits/service.ts';
import { noteDone } from '../../ops/marks.ts';
import { WRONG_KEY } from '../../store/sealing/key-check.ts';
import { masterKeyOf, openSealer } from '../../store/sealing/own-key.ts';
import type { Command, Options } from '../command.ts';
import { print, table } from '../output.ts';
import { control } from './control.ts';
import { openForReading } from './read-only.ts';
import { operatorConfig } from './settings.ts';

export const verifyCommand: Command = {
  name: 'verify',
  summary: 'check every hash and index, also while the service runs',
  flags: ['quarantine'],
  explains: { quarantine: 'set damaged blobs and files aside, so that pulls and backups go on without them' },
  examples: ['cairn verify', 'cairn verify --quarantine', 'CAIRN_DATA=/srv/cairn cairn verify --json'],
  run: verify,
};

async function verify(options: Options): Promise<number> {
  const config = operatorConfig();
  const found = await examine(config);
  const isSetAside = options.flag('quarantine') && (await setAside(found.damaged)) > 0;
  const report = isSetAside ? await examine(config) : found;
  const { problems, set_aside: aside } = report;
  noteDone(config.dataFolder, 'verify', { at_ms: Date.now(), problems: problems.length, set_aside: aside.length });
  if (options.json) print(jsonLine(report));
  else printReport(report);
  return report.ok ? 0 : 1;
}

async function examine(config: Config): Promise<IntegrityReport> {
  const { checkIntegrity } = await import('../../compose/verify.ts');
  const { withChangedPages } = await import('../../compose/changed-pages.ts');
  const { checkPageSums } = await import('../../store/data-file/page-sums.ts');
  const store = await openForReading(config);
  try {
    const report = checkIntegrity(store, openSealer(store, masterKeyOf(config.dataFolder, config.masterKey, store)));
    if (report.damaged_pages !== undefined) return report;
    const moment = store.snapshot();
    try {
      return withChangedPages(report, checkPageSums(config.dataFolder));
    } finally {
      moment.close();
    }
  } finally {
    await store.close();
  }
}

/**
 * Sets the damaged contents aside, through the service or, when none runs, in this process. Resolves with their number.
 */
async function setAside({ blobs, versions }: IntegrityReport['damaged']): Promise<number> {
  const most = limits.setAsideAtOnceMax;
  let done = 0;
  for (let at = 0; at < Math.max(blobs.length, versions.length); at += most) {
    const request = { blobs: blobs.slice(at, at + most), versions: versions.slice(at, at + most) };
    done += (await control({ command: 'damage.set_aside', ...request })).set_aside;
  }
  return done;
}

function printReport(report: IntegrityReport): void {
  const { problems, ok, set_aside: aside, damaged: _, ...counts } = report;
  print(table(Object.entries(counts).map(([name, value]) => [name.replaceAll('_', ' '), String(value as number)])));
  print('');
  for (const one of aside) print(`set aside: ${one}`);
  for (const problem of problems) print(`damaged: ${problem}`);
  if (!ok) print(`${problems.length} problems found; ${nextStep(report)}`);
  else if (aside.length === 0) print('verified: every hash and every index is correct');
  else print(`verified, except for ${aside.length} damaged contents that are set aside`);
}

/** The repair: damaged contents are set aside and sent again by a client; anything else is restored from a backup. */
function nextStep({ problems, damaged: { blobs, versions } }: IntegrityReport): string {
  // What is sealed cannot be checked with it, and no backup helps.
  if (problems.includes(WRONG_KEY)) return 'run `cairn verify` again with the right master key.';
  const contents = blobs.length + versions.length;
  const aside = '`cairn verify --quarantine` sets damaged contents aside; sending the same bytes again heals them';
  const restore =
    'the service and `cairn backup` keep working; `cairn restore DIR` (into an empty folder) brings back an earlier state';
  if (contents === 0) return `${restore}.`;
  return contents === problems.length ? `${aside}.` : `${aside}; for the others, ${restore}.`;
}
