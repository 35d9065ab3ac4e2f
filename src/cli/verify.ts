/** cairn verify: reads the data file beside the service, or without it, and reports what is wrong. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { verifyAccounts } from '../accounts/verify.ts';
import { readConfig } from '../config.ts';
import { allTables } from '../core.ts';
import { verifyMirror } from '../mirror/verify.ts';
import { StartError } from '../start-error.ts';
import { CheckedReader } from '../store/checked-reader.ts';
import { isMasterKey } from '../store/key-check.ts';
import { loadMasterKey } from '../store/master-key.ts';
import { createSealer } from '../store/seal.ts';
import { DATA_FILE, Store } from '../store/store.ts';
import { verifyTasks } from '../tasks/verify.ts';
import { readOptions } from './options.ts';
import { print, table } from './output.ts';

export async function verifyCommand(argv: readonly string[]): Promise<number> {
  const options = readOptions(argv, []);
  const config = readConfig();
  if (!existsSync(join(config.dataFolder, DATA_FILE))) {
    throw new StartError('CAIRN_DATA names a folder without a data file; there is nothing to verify.');
  }
  const sealer = createSealer(loadMasterKey(config.dataFolder, config.masterKey));
  const store = new Store({ folder: config.dataFolder, tables: allTables, readOnly: true });
  try {
    const keyProblems = isMasterKey(store, sealer) ? [] : ['the data was written under another master key'];
    const reader = new CheckedReader(store);
    const accounts = verifyAccounts(reader);
    const mirror = verifyMirror(reader, sealer);
    const tasks = verifyTasks(reader);
    const problems = [...keyProblems, ...reader.problems, ...accounts.problems, ...mirror.problems, ...tasks.problems];
    const report = {
      ok: problems.length === 0,
      accounts: accounts.accounts,
      keys: accounts.keys,
      mirror_credentials: mirror.credentials,
      blobs: mirror.blobs,
      blob_bytes: mirror.bytes,
      staged_uploads: mirror.staged,
      tasks: tasks.tasks,
      categories: tasks.categories,
      problems,
    };
    if (options.json) print(JSON.stringify(report));
    else printReport(report);
    return report.ok ? 0 : 1;
  } finally {
    await store.close();
  }
}

function printReport(report: { readonly problems: readonly string[]; readonly ok: boolean }): void {
  const { problems, ok, ...counts } = report;
  print(table(Object.entries(counts).map(([name, value]) => [name.replaceAll('_', ' '), String(value)])));
  print('');
  for (const problem of problems) print(`damaged: ${problem}`);
  print(ok ? 'verified: every blob hashes right and every index agrees' : `${problems.length} problems found`);
}
