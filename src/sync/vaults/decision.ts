/** Decides which vault a name means, and what creating or renaming one does. Pure. */
import { invalidField } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import type { VaultRecord } from '../log/records.ts';

export interface Vault {
  readonly id: string;
  readonly record: VaultRecord;
}

export interface CreatedVault extends Vault {
  readonly status: 'created' | 'existing' | 'updated';
}

/** What creating a vault does. A created one gets its id when it is written. */
type VaultDecision =
  | (Vault & { readonly status: 'existing' | 'updated' })
  | { readonly status: 'created'; readonly record: VaultRecord };

/**
 * Returns the existing vault with a name, after replacing its protected paths if given, or a new one. `protectedPaths`:
 * undefined keeps the current list, null is the default list. Throws Refusal `invalid_fields` (`name`) at the limit.
 */
export function decideVault(
  existing: readonly Vault[],
  name: string,
  protectedPaths: readonly string[] | null | undefined,
  nowMs: number,
): VaultDecision {
  const same = findVaultByName(existing, name);
  if (same === undefined) {
    if (existing.length >= limits.vaultsMax) {
      throw invalidField('name', `this account has ${limits.vaultsMax} vaults, which is the limit; delete one first`);
    }
    return { record: newVault(name, false, protectedPaths ?? null, nowMs), status: 'created' };
  }
  if (protectedPaths === undefined || sameList(protectedPaths, same.record.protected_paths)) {
    return { ...same, status: 'existing' };
  }
  return { id: same.id, record: { ...same.record, protected_paths: protectedPaths }, status: 'updated' };
}

/** Throws Refusal `invalid_fields` (`name`) when another vault than `vaultId` has this name. */
export function checkVaultName(existing: readonly Vault[], vaultId: string, name: string): void {
  const others = existing.filter(({ id }) => id !== vaultId);
  const same = findVaultByName(others, name);
  if (same !== undefined) throw invalidField('name', `a vault named ${same.record.name} exists; choose another name`);
}

/** Returns the vault with a name, ignoring case; undefined: none. */
export function findVaultByName(existing: readonly Vault[], name: string): Vault | undefined {
  const folded = foldVaultName(name);
  return existing.find(({ record }) => foldVaultName(record.name) === folded);
}

/** The record of a vault made at `nowMs`. */
export function newVault(
  name: string,
  isPrimary: boolean,
  protectedPaths: readonly string[] | null,
  nowMs: number,
): VaultRecord {
  return { name, is_primary: isPrimary, created_at: new Date(nowMs).toISOString(), protected_paths: protectedPaths };
}

export function foldVaultName(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

function sameList(a: readonly string[] | null, b: readonly string[] | null): boolean {
  if (a === null || b === null) return a === b;
  return a.length === b.length && a.every((glob, index) => glob === b[index]);
}
