/** Opens the accounts: their data, credentials, status, quotas, and removal. */
import { accounts } from '../accounts/records.ts';
import { Accounts } from '../accounts/service.ts';
import { BrowserSessions } from '../accounts/sessions.ts';
import { Invitations } from '../accounts/sign-up/invitations.ts';
import { AccountDirectory } from '../accounts/standing/directory.ts';
import { Standings } from '../accounts/standing/standings.ts';
import { AccessTokens } from '../accounts/tokens.ts';
import { ActivityLog } from '../activity/log.ts';
import type { ActorRegistry } from '../actors/registry.ts';
import { AuditLog } from '../audit/log.ts';
import type { Log } from '../common/log.ts';
import type { Config } from '../config.ts';
import { DiskReserve } from '../quotas/disk-reserve.ts';
import { Quotas } from '../quotas/quotas.ts';
import type { Sealer } from '../store/sealing/seal.ts';
import type { Store } from '../store/store.ts';
import type { AnyTable } from '../store/table.ts';
import { VaultRemoval } from '../sync/history/vault-removal.ts';
import type { FileRoom } from '../sync/log/file-room.ts';
import { SyncReader } from '../sync/log/reader.ts';
import type { Sync } from '../sync/service.ts';
import { releaseVaults } from '../sync/vaults/vaults.ts';
import { AccountRemoval } from '../transfer/removal.ts';
import type { Doors } from './listeners.ts';

export interface Members {
  readonly accounts: Accounts;
  readonly tokens: AccessTokens;
  readonly sessions: BrowserSessions;
  readonly invitations: Invitations;
  readonly activity: ActivityLog;
  readonly audit: AuditLog;
  /** Status of accounts: open, disabled, deleted, operator. */
  readonly standings: Standings;
  /** Decides when only marked accounts can write. */
  readonly disk: DiskReserve;
  /** Decides how much an account may still write. */
  readonly quotas: Quotas;
  /** The operator's list of the accounts. */
  readonly directory: AccountDirectory;
  /** Removes the rows of deleted accounts. */
  readonly removal: AccountRemoval;
}

interface MembersBase {
  readonly store: Store;
  /** Every table of the data file. */
  readonly tables: readonly AnyTable[];
  readonly actors: ActorRegistry;
  readonly sealer: Sealer;
  readonly log: Log;
  readonly now: () => number;
}

export function openMembers(base: MembersBase, config: Config): Members {
  const { store } = base;
  const standings = new Standings({ ...base, release: releaseVaults });
  const disk = new DiskReserve({ usable: (enough) => store.usable(enough), elapsed: () => performance.now() });
  // Writes at once can use up the disk between two looks.
  store.onNoRoom(() => disk.look());
  const quotas = openQuotas(config, disk, standings);
  return {
    accounts: new Accounts({ ...base, standings }),
    tokens: new AccessTokens(base),
    sessions: new BrowserSessions(base),
    invitations: new Invitations(base),
    activity: new ActivityLog(store),
    audit: new AuditLog({
      ...base,
      isAccount: (reader, id) => reader.get(accounts, [id]) !== undefined,
      emailOf: (id) => store.get(accounts, [id])?.email,
    }),
    standings,
    disk,
    quotas,
    directory: openDirectory(store, standings, quotas),
    removal: openRemoval(base),
  };
}

/** The quota functions needed by file sync. */
export function fileRoomOf(quotas: Quotas): FileRoom {
  return {
    quotasOf: (accountId) => ({ files: quotas.of(accountId, 'files'), history: quotas.of(accountId, 'history') }),
    checkReserve: (accountId) => quotas.checkReserve(accountId),
    noteRefused: (kind) => quotas.noteRefused(kind),
  };
}

/** Ends the work of an account when it is disabled or deleted. The service's vault removal spares packs being read. */
export function endWithAccounts({ standings, removal }: Members, sync: Sync, doors: Pick<Doors, 'cut'>): void {
  removal.useVaults(() => sync.removal.run());
  standings.onShut((accountId) => {
    // One turn later, so that a person deleting their own account gets the answer first.
    setImmediate(() => doors.cut(accountId));
    if (!standings.isDeleted(accountId)) return;
    sync.vaults.noteDeleted();
    removal.begin();
  });
}

function openQuotas(config: Config, disk: DiskReserve, standings: Standings): Quotas {
  return new Quotas({
    defaults: {
      blobs: config.mirrorQuotaBytes,
      files: config.syncQuotaBytes,
      history: config.historyQuotaBytes,
      documents: config.documentQuotaBytes,
    },
    ownOf: (accountId) => standings.of(accountId).quotas,
    isMarked: (accountId) => standings.isMarked(accountId),
    isDiskNearlyFull: () => disk.isReached(),
  });
}

function openDirectory(store: Store, standings: Standings, quotas: Quotas): AccountDirectory {
  const files = new SyncReader(store);
  const fileUse = (accountId: string) => {
    const use = files.useOf(accountId);
    // Two current files that share chunks count twice there, and once as stored.
    return { ...use, history: Math.max(0, use.history) };
  };
  return new AccountDirectory({ store, standings, quotas, fileUse });
}

/** Without a service nobody reads the packs of a vault, so the next start may free them. */
function openRemoval({ store, tables, log }: MembersBase): AccountRemoval {
  const vaults = new VaultRemoval({ store, log, retirePacks: () => undefined });
  return new AccountRemoval({ store, tables, removeVaults: () => vaults.run(), log });
}
