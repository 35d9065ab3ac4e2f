/**
 * Says who may write which rows. Each table declares the writers of its rows, and the store holds every decision against
 * that: a decision that writes a row of another owner is a fault of the program, and nothing of it is kept.
 */

/** What a decision is taken as. */
export type WriterKind =
  /** The actor of an account; its id is the account's. */
  | 'account'
  /** The actor of a vault; its id is the vault's. */
  | 'vault'
  /** The actor that makes accounts: emails are unique over all of them. */
  | 'directory'
  /** The actor of device codes, which belong to no account before a person approves one. */
  | 'devices'
  /** The actor of clients that registered themselves, which belong to no account. */
  | 'clients'
  /** Bytes that belong to nothing yet. */
  | 'staging'
  /** The service itself: what a data file knows about itself, and which imports are under way. */
  | 'hub'
  /** The removal of rows that belong to nothing. It may remove rows of every table, and put none. */
  | 'sweep'
  /** The upgrade of an older data file, and the change of the master key. It may write every row. */
  | 'upgrade';

export interface Writer {
  readonly kind: WriterKind;
  /** Empty where there is one writer of the kind. */
  readonly id: string;
}

/**
 * Which rows of a table a kind of writer may write: those that hold its id at this part of the key, those that hold it in
 * this member of the row, those that are not there yet, or all of them.
 */
type Owned = number | { readonly member: string } | 'new' | 'any';

export type Owners = { readonly [kind in WriterKind]?: Owned };

/** The service itself. */
export const HUB: Writer = { kind: 'hub', id: '' };
export const STAGING: Writer = { kind: 'staging', id: '' };
export const SWEEP: Writer = { kind: 'sweep', id: '' };
export const UPGRADE: Writer = { kind: 'upgrade', id: '' };

/**
 * Throws when a writer may not put this value (undefined: remove the row) under this key.
 * `stored` reads the row; it is called only where the owner stands in it, or where only new rows may be written.
 */
export function checkOwner(
  writer: Writer,
  table: { readonly name: string; readonly owners: Owners },
  key: readonly unknown[],
  value: unknown,
  stored: () => unknown,
): void {
  const owned = table.owners[writer.kind];
  if (owned === 'any' || writer.kind === 'upgrade') return;
  const isOwn =
    owned === undefined
      ? writer.kind === 'sweep' && value === undefined
      : typeof owned === 'number'
        ? key[owned] === writer.id
        : isOwnRow(writer, owned, stored(), value);
  if (!isOwn) throw new Error(`${writer.kind} writes a row of ${table.name} that it does not own`);
}

function isOwnRow(writer: Writer, owned: Exclude<Owned, number>, before: unknown, value: unknown): boolean {
  if (typeof owned === 'string') return before === undefined;
  const ownerOf = (row: unknown) => (row as Record<string, unknown>)[owned.member];
  return [before, value].every((row) => row === undefined || ownerOf(row) === writer.id);
}
