/** Opens the importer: on the parts of the service, or standalone when no service runs. */

import type { Log } from '../common/log.ts';
import type { Config } from '../config.ts';
import type { ImportDoor } from '../control/importer.ts';
import { MirrorCredentials } from '../mirror/credentials.ts';
import type { MirrorImportTools } from '../mirror/portable.ts';
import { Staging } from '../mirror/upload/staging.ts';
import { Pool } from '../pool/pool.ts';
import type { Sealer } from '../store/sealing/seal.ts';
import { PieceStaging } from '../sync/contents/staging.ts';
import type { Sync } from '../sync/service.ts';
import { AccountImporter, type ImportDestination } from './import.ts';

export interface ImportParts {
  readonly config: Pick<Config, 'syncQuotaBytes' | 'historyQuotaBytes'>;
  readonly core: ImportDestination;
  readonly pool: Pool;
  readonly sync: Pick<Sync, 'staging'>;
  readonly log: Log;
}

/** Opens the importer within the service. It stages contents where the service does. */
export function openImporter(
  { config, core, pool, sync, log }: ImportParts,
  mirror: MirrorImportTools,
): AccountImporter {
  const vaults = {
    pool,
    staging: sync.staging,
    quotas: { files: config.syncQuotaBytes, history: config.historyQuotaBytes },
  };
  return new AccountImporter({ core, mirror, vaults, log, now: Date.now });
}

/** A core without a service. */
export interface ImportCore extends ImportDestination {
  readonly sealer: Sealer;
  readonly imports: ImportDoor;
}

/**
 * Opens the importer of a core that nothing else uses, and removes what interrupted imports staged. Returns a function
 * that closes it.
 */
export async function openImporterAlone(core: ImportCore, config: Config, log: Log): Promise<() => Promise<void>> {
  const pool = new Pool({ threads: 1 });
  const staging = new Staging(core.store, log);
  const pieces = new PieceStaging({ ...core, log, now: Date.now });
  await staging.sweep();
  await pieces.sweep();
  const credentials = new MirrorCredentials({ ...core, now: Date.now });
  const sync = { staging: pieces };
  core.imports.open(openImporter({ config, core, pool, sync, log }, { staging, credentials }));
  return () => pool.close();
}
