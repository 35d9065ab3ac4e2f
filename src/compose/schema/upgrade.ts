/** Upgrades an older data file to the schema of this version: checks it, makes a backup, then migrates it in pieces. */
import { existsSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Log } from '../../common/log.ts';
import { StartError } from '../../common/start-error.ts';
import { version } from '../../common/version.ts';
import { limits } from '../../limits/service.ts';
import { makeCopy } from '../../store/copies/copy.ts';
import { BrokenFile } from '../../store/data-file/check.ts';
import { DATA_FILE } from '../../store/data-file/names.ts';
import { freeBytes } from '../../store/failure.ts';
import type { RecordLog } from '../../store/logged/committer.ts';
import { isUnwritten, type Migration, migrate, migratingTo, schemaOf, writerOf } from '../../store/meta/schema.ts';
import { isMasterKey, WRONG_KEY } from '../../store/sealing/key-check.ts';
import { openSealer } from '../../store/sealing/own-key.ts';
import { Store } from '../../store/store.ts';
import type { AnyTable, Reader } from '../../store/table.ts';
import { migrations, SCHEMA } from './steps.ts';

/** How the names of its backups begin. */
const BACKUP_NAME = 'before-schema-';

export interface UpgradeOptions {
  readonly dataFolder: string;
  readonly mapBytes: number;
  /** False: refuse an older file. */
  readonly mayUpgrade: boolean;
  /** True when a backup is made before any change. */
  readonly upgradeBackup: boolean;
  readonly tables: readonly AnyTable[];
  readonly masterKey: Uint8Array;
  readonly log: Log;
  readonly now: () => number;
  /** Of a member that owns its log: the other members get the upgrade from it. */
  readonly recordLog?: RecordLog | undefined;
}

/** Throws StartError when the data file is of a later version. */
export function refuseNewer(store: Reader): void {
  const at = Math.max(schemaOf(store), migratingTo(store) ?? 0);
  if (at <= SCHEMA) return;
  const writer = writerOf(store);
  throw new StartError(
    `the data file has schema ${at}${writer === undefined ? '' : ` (written by cairn ${writer})`}, ` +
      `and this version of cairn, ${version}, reads up to ${SCHEMA}; ` +
      'start the later version again, or restore the backup that its upgrade made (before-schema-…) into an empty folder.',
  );
}

/** Like `refuseNewer`, but also refuses an older file, for read-only commands. */
export function refuseOtherSchema(store: Store): void {
  refuseNewer(store);
  const at = schemaOf(store);
  if (at === SCHEMA) return;
  // The row with the schema number may be the damaged one.
  const [damage] = store.damagedPages();
  if (damage !== undefined) {
    throw new BrokenFile(
      `the data file is damaged (${damage}); keep it, and restore a backup into an empty folder (\`cairn restore\`).`,
    );
  }
  throw new StartError(
    `the data file has schema ${at}, and this version of cairn reads ${SCHEMA}; start \`cairn serve\`, which upgrades it after a backup.`,
  );
}

/**
 * Upgrades the data file of a folder owned by this process. Does nothing when its schema is current.
 * @throws StartError when the file is of a later version, does not pass the check, or there is no room for the backup
 */
export async function upgrade(options: UpgradeOptions): Promise<void> {
  const { dataFolder: folder, mapBytes, tables, log } = options;
  if (!existsSync(join(folder, DATA_FILE))) return;
  const old = new Store({ folder, tables, mapBytes, readOnly: true });
  let from: number;
  try {
    // The file of a member that has only read an empty log.
    if (isUnwritten(old)) return;
    from = schemaOf(old);
    refuseNewer(old);
    if (from === SCHEMA) return;
    if (!options.mayUpgrade) refuseOtherSchema(old);
    await prepare(old, options);
  } finally {
    await old.close();
  }
  const steps = migrations.filter(({ to }) => to > from);
  const store = new Store({ folder, tables: withTablesOf(steps, tables), mapBytes, log: options.recordLog });
  try {
    await migrate(store, steps, tellProgress(log, options.now));
  } finally {
    await store.close();
  }
  log.info({ from, to: SCHEMA }, 'the data file is upgraded');
}

async function prepare(old: Store, { dataFolder, mapBytes, tables, masterKey, log, now, ...options }: UpgradeOptions) {
  const from = schemaOf(old);
  // Explicit check of the master key: a file with another key is not touched.
  if (!isMasterKey(old, openSealer(old, masterKey))) throw new StartError(WRONG_KEY);
  log.info({ from, to: SCHEMA }, 'the data file is older than this version; checking it');
  const steps = migrations.filter(({ to }) => to > from);
  const problems = [...old.damagedPages(), ...steps.flatMap((step) => step.check(old))];
  if (problems.length > 0) {
    throw new StartError(
      `the data file cannot be upgraded (${problems.length} problems, the first: ${problems[0]}); ` +
        'nothing was changed; repair it with the version that wrote it, or restore a backup.',
    );
  }
  // An interrupted migration already has its backup: the file is now between two schemas.
  if (migratingTo(old) !== undefined || !options.upgradeBackup) return;
  const folder = join(
    dataFolder,
    `${BACKUP_NAME}${from + 1}-${new Date(now()).toISOString().replaceAll(/[-:.]/g, '')}`,
  );
  const bytes = statSync(join(dataFolder, DATA_FILE)).size;
  if (freeBytes(dataFolder) < bytes + limits.diskFreeBytesMin) {
    throw new StartError(
      `the upgrade of the data file makes a backup first, and the disk has no room for its ${bytes} bytes; free some space, ` +
        'or make a backup elsewhere with the version that wrote it and set CAIRN_UPGRADE_BACKUP=off.',
    );
  }
  const noMore = () => ({});
  await makeCopy({
    copyTo: (path) => old.copyTo(path),
    bytes,
    salvages: false,
    tables,
    folder,
    check: noMore,
    masterKey: undefined,
    mapBytes,
    now,
    // The data folder is locked.
    isLeft: (copy) => basename(copy).startsWith(BACKUP_NAME),
  });
  log.info({ backup: folder }, 'a backup was made; the version that wrote the data restores it');
}

function withTablesOf(steps: readonly Migration[], tables: readonly AnyTable[]): readonly AnyTable[] {
  const all = new Map([...steps.flatMap((step) => step.tables), ...tables].map((table) => [table.name, table]));
  return [...all.values()];
}

/** Logs a migration when it begins and then every few seconds. */
function tellProgress(log: Log, now: () => number): (step: Migration, pieces: number) => void {
  let toldMs = 0;
  return ({ to, what }, pieces) => {
    if (pieces > 1 && now() - toldMs < limits.migrationToldMs) return;
    toldMs = now();
    log.info({ to, what, commits: pieces }, 'upgrading the data file');
  };
}
