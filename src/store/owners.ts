/**
 * Checks which writer may write which rows. Each table declares the writers of its rows, and the store checks every
 * decision against it. Writing another owner's row is a programming error: the whole decision is discarded.
 */

/** Kinds of writers. Each decision is made as one of them. */
export type WriterKind =
  /** The actor of an account; its id is the account's. */
  | 'account'
  /** The actor of a vault; its id is the vault's. */
  | 'vault'
  /** The actor that creates accounts: an email is unique across all accounts. */
  | 'directory'
  /** The actor of device codes, which belong to no account before a person approves one. */
  | 'devices'
  /** The actor of self-registered clients, which belong to no account. */
  | 'clients'
  /** Staged bytes, not yet adopted by a row. */
  | 'staging'
  /** The service itself: metadata of the data file, and imports in progress. */
  | 'hub'
  /** The removal of orphaned rows. It may remove rows of every table, and put none. */
  | 'sweep'
  /** The upgrade of an older data file, and the change of the master key. It may write every row. */
  | 'upgrade';

export interface Writer {
  readonly kind: WriterKind;
  /** Empty when the kind has only one writer. */
  readonly id: string;
}

/**
 * Which rows of a table a kind of writer may write: rows with its id at this part of the key, rows with its id in this
 * member, only new rows, or all rows.
 */
type Owned = number | { readonly member: string } | 'new' | 'any';

export type Owners = { readonly [kind in WriterKind]?: Owned };

/** The writer for the service's own rows. */
export const HUB: Writer = { kind: 'hub', id: '' };
export const STAGING: Writer = { kind: 'staging', id: '' };
export const SWEEP: Writer = { kind: 'sweep', id: '' };
export const UPGRADE: Writer = { kind: 'upgrade', id: '' };

/** True when the key of a row alone tells that a writer may write it. */
export function isOwnKey(writer: Writer, { owners }: { readonly owners: Owners }, key: readonly unknown[]): boolean {
  const owned = owners[writer.kind];
  return typeof owned === 'number' && key[owned] === writer.id;
}

/**
 * Throws when a writer may not put this value (undefined: remove the row) under this key.
 * `stored` reads the row. It is called only when the row contains its owner, or when only new rows may be written.
 */
export function checkOwner(
  writer: Writer,
  table: { readonly name: string; readonly owners: Owners },
  key: readonly unknown[],
  value: unknown,
  stored: () => unknown,
): void {
  const owned = table.owners[writer.kind];
  if (owned === 'any' || writer.kind === 'upgrade' || isOwnKey(writer, table, key)) return;
  const isOwn =
    owned === undefined
      ? writer.kind === 'sweep' && value === undefined
      : typeof owned !== 'number' && isOwnRow(writer, owned, stored(), value);
  if (!isOwn) throw new Error(`${writer.kind} writes a row of ${table.name} that it does not own`);
}

function isOwnRow(writer: Writer, owned: Exclude<Owned, number>, before: unknown, value: unknown): boolean {
  if (typeof owned === 'string') return before === undefined;
  const ownerOf = (row: unknown) => (row as Record<string, unknown>)[owned.member];
  return [before, value].every((row) => row === undefined || ownerOf(row) === writer.id);
}
