/** Finds the vault of a call, and creates, renames, deletes and lists vaults. */
import { randomBytes } from 'node:crypto';
import type { ActorRegistry } from '../../actors/registry.ts';
import { Remembered } from '../../cache/lru.ts';
import { invalidField } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import type { Batch } from '../../store/group-commit.ts';
import type { Store } from '../../store/store.ts';
import type { Reader } from '../../store/table.ts';
import { protectedCheck } from '../log/paths.ts';
import { SyncReader } from '../log/reader.ts';
import { deletedVaults, primaries, type VaultHead, type VaultRecord, vaultOwners, vaults } from '../log/records.ts';
import { type CreatedVault, checkVaultName, decideVault, findVaultByName, newVault, type Vault } from './decision.ts';

export interface VaultsOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly now: () => number;
}

export type { Vault } from './decision.ts';

export interface VaultState extends Vault {
  readonly head: VaultHead;
}

/** Cache revision of compiled globs: no write makes them outdated. */
const ALWAYS = 0;

/** The check of vaults without a list of their own. */
const DEFAULT_CHECK = protectedCheck(null);
export const PRIMARY_NAME = 'primary';
export const VAULT_ID = /^v_[0-9a-f]{16}$/;

export class Vaults {
  readonly #options: VaultsOptions;
  readonly #reader: SyncReader;
  /** Ids of primary vaults by account. An entry is valid until its vault is deleted. */
  readonly #primaries = new Map<string, string>();
  /** Deleted vaults known to this process: calls still in progress for them are refused. An id is never reused. */
  readonly #deleted = new Set<string>();
  /** Compiled lists of protected paths. */
  readonly #checks = new Remembered<(folded: string) => boolean>(limits.globsRemembered);

  constructor(options: VaultsOptions) {
    this.#options = options;
    this.#reader = new SyncReader(options.store);
  }

  /** Returns the given id, or the primary vault's, created on first use. Throws Refusal `invalid_fields` if unknown. */
  async idOf(accountId: string, vaultId: string | undefined): Promise<string> {
    if (vaultId === undefined) return this.#knownPrimary(accountId) ?? (await this.#primaryOf(accountId));
    // A vault of another account gets the same error as an unknown one.
    if (VAULT_ID.test(vaultId) && this.#reader.vault(accountId, vaultId) !== undefined) return vaultId;
    throw unknownVault(this.#withName(this.#options.store, accountId, vaultId));
  }

  /** Returns the vault with a name, ignoring case. Throws Refusal `invalid_fields` (`name`) when there is none. */
  named(accountId: string, name: string): Vault {
    const found = this.#withName(this.#options.store, accountId, name);
    if (found === undefined)
      throw invalidField('name', 'this account has no vault with this name; vault_list lists them');
    return found;
  }

  #withName(reader: Pick<Store, 'range'>, accountId: string, name: string): Vault | undefined {
    return findVaultByName(this.#vaultsOf(reader, accountId), name);
  }

  /** Returns the record of a vault found by `idOf`. Throws Refusal `invalid_fields` when it does not exist. */
  record(accountId: string, vaultId: string): VaultRecord {
    const record = this.#reader.vault(accountId, vaultId);
    if (record === undefined) throw unknownVault();
    return record;
  }

  /** True when a vault protects this folded path from changes without a base. */
  isProtected(reader: SyncReader, accountId: string, vaultId: string, folded: string): boolean {
    const record = reader.vault(accountId, vaultId);
    if (record === undefined) throw unknownVault();
    return this.protectionOf(record)(folded);
  }

  /** Returns a check of folded paths against the protected paths of a vault. Each list is compiled once. */
  protectionOf({ protected_paths: globs }: VaultRecord): (folded: string) => boolean {
    if (globs === null) return DEFAULT_CHECK;
    const name = JSON.stringify(globs);
    const known = this.#checks.get(name, ALWAYS);
    if (known !== undefined) return known;
    const check = protectedCheck(globs);
    this.#checks.set(name, ALWAYS, check, 1 + globs.length);
    return check;
  }

  /** Returns all vaults of an account, oldest first. */
  list(accountId: string): VaultState[] {
    return this.#vaultsOf(this.#options.store, accountId).map((vault) => ({
      ...vault,
      head: this.#reader.head(vault.id),
    }));
  }

  /**
   * Creates a vault, or returns the existing one with this name, after replacing its protected paths if given.
   * `protectedPaths`: undefined keeps the current list, null is the default list.
   */
  create(accountId: string, name: string, protectedPaths: readonly string[] | null | undefined): Promise<CreatedVault> {
    const { actors, now } = this.#options;
    return actors.account(accountId).once(['vault created', name, protectedPaths], (batch): CreatedVault => {
      const decided = decideVault(this.#vaultsOf(batch, accountId), name, protectedPaths, now());
      if (decided.status === 'created') return { ...decided, id: put(batch, accountId, decided.record) };
      if (decided.status === 'updated') batch.put(vaults, [accountId, decided.id], decided.record);
      return decided;
    });
  }

  /** Renames a vault. Throws Refusal `invalid_fields` for an unknown vault, or (`name`) for another vault's name. */
  rename(accountId: string, vaultId: string, name: string): Promise<Vault & { readonly formerName: string }> {
    return this.#options.actors.account(accountId).once(['vault renamed', vaultId, name], (batch) => {
      const before = this.#kept(batch, accountId, vaultId);
      checkVaultName(this.#vaultsOf(batch, accountId), vaultId, name);
      const record = { ...before, name };
      if (name !== before.name) batch.put(vaults, [accountId, vaultId], record);
      return { id: vaultId, record, formerName: before.name };
    });
  }

  /**
   * Permanently deletes a vault: from this commit on it cannot be reached and does not count towards any quota. Its
   * rows are removed later (history/vault-removal.ts). Throws Refusal `invalid_fields` for an unknown vault, or
   * (`confirm`) when `confirm` is not its name.
   */
  async delete(accountId: string, vaultId: string, confirm: string): Promise<VaultState> {
    const { actors, now } = this.#options;
    try {
      return await actors.account(accountId).once(['vault deleted', vaultId], (batch): VaultState => {
        const state = this.#confirmed(batch, accountId, vaultId, confirm);
        const { record } = state;
        batch.remove(vaults, [accountId, vaultId]);
        batch.remove(vaultOwners, [vaultId]);
        if (record.is_primary) batch.remove(primaries, [accountId]);
        batch.put(deletedVaults, [vaultId], { deleted_at: new Date(now()).toISOString() });
        this.#deleted.add(vaultId);
        return state;
      });
    } catch (error) {
      this.#deleted.delete(vaultId);
      throw error;
    }
  }

  /** Picks up vaults deleted elsewhere, such as with their account: calls still in progress for them are refused. */
  noteDeleted(): void {
    for (const [vaultId] of this.#options.store.keys(deletedVaults)) this.#deleted.add(vaultId);
  }

  /** Throws Refusal `invalid_fields` when a vault was deleted after the call had looked it up. */
  checkKept(vaultId: string): void {
    if (this.#deleted.has(vaultId)) throw unknownVault();
  }

  /** Returns the vault that `delete` would delete. Throws the same refusals. */
  toDelete(accountId: string, vaultId: string, confirm: string): VaultState {
    return this.#confirmed(this.#options.store, accountId, vaultId, confirm);
  }

  #confirmed(reader: Reader, accountId: string, vaultId: string, confirm: string): VaultState {
    const record = this.#kept(reader, accountId, vaultId);
    if (confirm !== record.name) {
      throw invalidField('confirm', `confirm must be the name of the vault, exactly: ${record.name}`);
    }
    return { id: vaultId, record, head: new SyncReader(reader).head(vaultId) };
  }

  #kept(reader: Reader, accountId: string, vaultId: string): VaultRecord {
    const record = VAULT_ID.test(vaultId) ? reader.get(vaults, [accountId, vaultId]) : undefined;
    if (record === undefined) throw unknownVault(this.#withName(reader, accountId, vaultId));
    return record;
  }

  #knownPrimary(accountId: string): string | undefined {
    const id = this.#primaries.get(accountId);
    return id === undefined || this.#deleted.has(id) ? undefined : id;
  }

  async #primaryOf(accountId: string): Promise<string> {
    const stored = this.#reader.primaryOf(accountId);
    const isKept = stored !== undefined && !this.#deleted.has(stored);
    const id = isKept ? stored : await this.#makePrimary(accountId);
    // A forgotten entry only costs another read.
    if (this.#primaries.size >= limits.primariesRemembered) this.#primaries.clear();
    this.#primaries.set(accountId, id);
    return id;
  }

  #makePrimary(accountId: string): Promise<string> {
    const { actors, now } = this.#options;
    return actors.account(accountId).ask((batch): string => {
      const made = batch.get(primaries, [accountId]);
      if (made !== undefined) return made.vault_id;
      const named = this.#withName(batch, accountId, PRIMARY_NAME);
      if (named === undefined) {
        const id = put(batch, accountId, newVault(PRIMARY_NAME, true, null, now()));
        batch.put(primaries, [accountId], { vault_id: id });
        return id;
      }
      batch.put(vaults, [accountId, named.id], { ...named.record, is_primary: true });
      batch.put(primaries, [accountId], { vault_id: named.id });
      return named.id;
    });
  }

  #vaultsOf(reader: Pick<Store, 'range'>, accountId: string): Vault[] {
    return reader
      .range(vaults, { prefix: [accountId] })
      .map(({ key, value }) => ({ id: key[1], record: value }))
      .sort((a, b) => (a.record.created_at < b.record.created_at ? -1 : 1));
  }
}

function put(batch: Batch, accountId: string, record: VaultRecord): string {
  const id = `v_${randomBytes(8).toString('hex')}`;
  batch.put(vaults, [accountId, id], record);
  batch.put(vaultOwners, [id], { account_id: accountId });
  return id;
}

/** @param named the vault whose name was given as an id */
function unknownVault(named?: Vault) {
  const hint = named === undefined ? 'vault_list names them' : `this is the name of ${named.id}; send that id`;
  return invalidField('vault_id', `this account has no vault with this vault_id; ${hint}`);
}

/** Deletes all vaults of an account, within the decision that deletes the account. Their rows are removed later. */
export function releaseVaults(batch: Batch, accountId: string, deletedAt: string): void {
  for (const [, vaultId] of batch.keys(vaults, [accountId])) {
    batch.remove(vaults, [accountId, vaultId]);
    batch.remove(vaultOwners, [vaultId]);
    batch.put(deletedVaults, [vaultId], { deleted_at: deletedAt });
  }
  batch.remove(primaries, [accountId]);
}
