/** Creates accounts and keys, and authenticates keys. Every write goes through the account's actor. */
import { randomBytes } from 'node:crypto';
import type { ActorRegistry } from '../actors/registry.ts';
import { noteAct } from '../audit/note.ts';
import type { AuditedAct, Source } from '../audit/records.ts';
import { KnownCredentials } from '../cache/credentials.ts';
import { invalidField, Refusal } from '../common/fault.ts';
import type { Log } from '../common/log.ts';
import type { Principal } from '../common/principal.ts';
import type { Batch } from '../store/group-commit.ts';
import type { Sealer } from '../store/sealing/seal.ts';
import type { Store } from '../store/store.ts';
import type { Reader } from '../store/table.ts';
import {
  type AccountRecord,
  accounts,
  emails,
  type KeyKind,
  type KeyRecord,
  keyHashes,
  keys,
  type LiveKey,
  rowOfEmail,
} from './records.ts';
import { checkKeyLimit, checkName, kindOfKey, makeKey, normalizeEmail } from './rules.ts';
import { KeyUses } from './sign-in/key-uses.ts';
import type { Beginning, Standings } from './standing/standings.ts';

export interface NewAccount {
  readonly account_id: string;
  readonly email: string;
  readonly account_key: string;
  readonly mcp_key: string;
}

export interface AccountSummary {
  readonly account_id: string;
  readonly email: string;
  readonly name: string | null;
  readonly created_at: string;
}

export interface NewAccountInput {
  readonly email: string;
  readonly name?: string | undefined;
  /** Absent: the account has no password sign-in. */
  readonly passwordHash?: string;
  /** True when the account becomes the operator's if it is the first of the hub. */
  readonly mayLead?: boolean;
}

/** Access rights of a key. */
export interface KeyAccess {
  readonly readOnly?: boolean;
}

export interface NewKey {
  readonly key_id: string;
  readonly name: string;
  readonly mcp_key: string;
}

export interface KeySummary {
  readonly key_id: string;
  readonly kind: KeyKind;
  readonly name: string;
  readonly created_at: string;
  readonly last_used_at: string | null;
  readonly revoked_at: string | null;
  readonly read_only: boolean;
}

export function newAccountId(): string {
  return `acc_${randomBytes(12).toString('hex')}`;
}

export interface AccountsOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly sealer: Sealer;
  readonly standings: Standings;
  readonly log: Log;
  readonly now: () => number;
}

export class Accounts {
  readonly #options: AccountsOptions;
  readonly #uses: KeyUses;
  readonly #known: KnownCredentials<LiveKey>;

  constructor(options: AccountsOptions) {
    this.#options = options;
    this.#uses = new KeyUses(options);
    this.#known = new KnownCredentials(options.store, [keyHashes]);
  }

  /** Creates an account with an account key and a first MCP key, returned only here. `more` runs in that decision. */
  async create(input: NewAccountInput, source: Source, more?: (batch: Batch) => void): Promise<NewAccount> {
    const email = normalizeEmail(input.email);
    const name = input.name === undefined ? null : checkName('name', input.name);
    const record = { email, name, password_hash: input.passwordHash ?? null, created_at: this.#timestamp() };
    const accountId = newAccountId();
    const noted = (batch: Batch) => {
      this.#note(batch, accountId, source, 'account_created');
      more?.(batch);
    };
    return await this.put(accountId, record, noted, input);
  }

  /**
   * Writes an account with new keys and runs `more` in the same decision. Throws Refusal for an email already in use.
   * `how`: how it begins.
   */
  put(
    accountId: string,
    record: AccountRecord,
    more: (batch: Batch) => void,
    how: Beginning = {},
  ): Promise<NewAccount> {
    const accountKey = makeKey('account', randomBytes);
    const mcpKey = makeKey('mcp', randomBytes);
    const { email } = record;
    return this.#options.actors.directory().ask((batch): NewAccount => {
      this.refuseTaken(batch, email);
      this.#options.standings.begin(batch, accountId, how);
      batch.put(accounts, [accountId], record);
      batch.put(emails, [email], { account_id: accountId });
      this.#putKey(batch, accountId, 'account', 'account key', accountKey);
      this.#putKey(batch, accountId, 'mcp', 'first key', mcpKey);
      more(batch);
      return { account_id: accountId, email, account_key: accountKey, mcp_key: mcpKey };
    });
  }

  /** Throws Refusal for an email already in use. */
  refuseTaken(reader: Pick<Reader, 'get'>, email: string): void {
    if (rowOfEmail(reader, email) !== undefined) throw invalidField('email', 'this email already has an account');
  }

  /** Returns the summary of an account. Throws Refusal `not_found`. */
  describe(accountId: string): AccountSummary {
    const found = this.#options.store.get(accounts, [accountId]);
    if (found === undefined) throw new Refusal({ kind: 'not_found', what: 'account not found' });
    return { account_id: accountId, email: found.email, name: found.name, created_at: found.created_at };
  }

  /** Returns the account id of an email. Throws Refusal `not_found`. */
  idOfEmail(email: string): string {
    const found = rowOfEmail(this.#options.store, normalizeEmail(email));
    if (found === undefined || this.#options.standings.isDeleted(found.account_id)) {
      throw new Refusal({ kind: 'not_found', what: 'no account has this email' });
    }
    return found.account_id;
  }

  /** Returns the account id and password hash for a sign-in; undefined: unknown email. */
  signIn(email: string): { readonly accountId: string; readonly passwordHash: string | undefined } | undefined {
    const found = rowOfEmail(this.#options.store, normalizeEmail(email));
    const account = found && this.#options.store.get(accounts, [found.account_id]);
    return found && { accountId: found.account_id, passwordHash: account?.password_hash ?? undefined };
  }

  /** Creates another MCP key; it is returned only here. Throws Refusal `key_limit`. */
  async createKey(accountId: string, givenName: string, source: Source, access: KeyAccess = {}): Promise<NewKey> {
    return await this.#options.actors
      .account(accountId)
      .ask((batch) => this.addKey(batch, accountId, givenName, source, access));
  }

  /** Within a decision: creates another MCP key. Throws Refusal `key_limit`. */
  addKey(batch: Batch, accountId: string, givenName: string, source: Source, access: KeyAccess = {}): NewKey {
    const name = checkName('name', givenName);
    const mcpKey = makeKey('mcp', randomBytes);
    this.checkKeyRoom(batch, accountId);
    this.#note(batch, accountId, source, 'key_created', name);
    return { key_id: this.#putKey(batch, accountId, 'mcp', name, mcpKey, access), name, mcp_key: mcpKey };
  }

  /** Throws Refusal `key_limit` when the account already has the maximum of keys. */
  checkKeyRoom(reader: Reader, accountId: string): void {
    checkKeyLimit(reader.range(keys, { prefix: [accountId] }).map((entry) => entry.value));
  }

  /** Revokes the presented MCP key. An invalid key is not an error. */
  async revokePresentedKey(mcpKey: string, source: Source): Promise<void> {
    const found = this.#options.store.get(keyHashes, [this.#hash('mcp', mcpKey)]);
    if (found === undefined) return;
    await this.revokeKey(found.account_id, found.key_id, source).catch((error: unknown) => {
      // Another request revoked it first.
      if (!(error instanceof Refusal && error.fault.kind === 'not_found')) throw error;
    });
  }

  /** Lists all keys of an account, including revoked ones, without their values. */
  listKeys(accountId: string): KeySummary[] {
    return this.#options.store.range(keys, { prefix: [accountId] }).map(({ key: [, keyId], value }) => ({
      key_id: keyId,
      kind: value.kind,
      name: value.name,
      created_at: value.created_at,
      last_used_at: value.last_used_at,
      revoked_at: value.revoked_at,
      read_only: value.read_only === true,
    }));
  }

  /** Revokes a key immediately. Throws Refusal `not_found` when the account has no such valid key. */
  async revokeKey(accountId: string, keyId: string, source: Source): Promise<void> {
    await this.#options.actors.account(accountId).ask((batch) => {
      if (!this.endKey(batch, accountId, keyId, source)) {
        throw new Refusal({ kind: 'not_found', what: 'this account has no active key with this id' });
      }
    });
  }

  /** Within a decision: revokes a key. Returns false when the account has no such valid key. */
  endKey(batch: Batch, accountId: string, keyId: string, source: Source): boolean {
    const key = batch.get(keys, [accountId, keyId]);
    if (key === undefined || key.revoked_at !== null) return false;
    batch.put(keys, [accountId, keyId], { ...key, revoked_at: this.#timestamp() });
    batch.remove(keyHashes, [key.hash]);
    this.#note(batch, accountId, source, 'key_revoked', key.name);
    return true;
  }

  /** Replaces the account key in one commit. The new key is returned only here; the old one no longer works. */
  async rollAccountKey(accountId: string, source: Source): Promise<string> {
    const value = makeKey('account', randomBytes);
    await this.#options.actors.account(accountId).ask((batch) => {
      for (const { key, value: old } of batch.range(keys, { prefix: [accountId] })) {
        if (old.kind !== 'account' || old.revoked_at !== null) continue;
        batch.put(keys, key, { ...old, revoked_at: this.#timestamp() });
        batch.remove(keyHashes, [old.hash]);
      }
      this.#putKey(batch, accountId, 'account', 'account key', value);
      this.#note(batch, accountId, source, 'account_key_replaced');
    });
    return value;
  }

  /** Returns the principal of an account key or MCP key; undefined: not a valid key. */
  authenticate(presented: string): Principal | undefined {
    const found = this.#known.find(presented, () => {
      const kind = kindOfKey(presented);
      return kind && this.#options.store.get(keyHashes, [this.#hash(kind, presented)]);
    });
    if (found === undefined) return undefined;
    this.#uses.note(found.account_id, found.key_id);
    const principal = { accountId: found.account_id, credentialId: found.key_id };
    return found.read_only === true ? { ...principal, readOnly: true } : principal;
  }

  /** Returns the name of the key of a principal; undefined: authenticated without a key. */
  keyName({ accountId, credentialId }: Principal): string | undefined {
    return this.#options.store.get(keys, [accountId, credentialId])?.name;
  }

  #putKey(
    batch: Batch,
    accountId: string,
    kind: KeyKind,
    name: string,
    value: string,
    { readOnly = false }: KeyAccess = {},
  ): string {
    const keyId = `key_${randomBytes(8).toString('hex')}`;
    const record: KeyRecord = {
      kind,
      name,
      hash: this.#hash(kind, value),
      created_at: this.#timestamp(),
      last_used_at: null,
      revoked_at: null,
      ...(readOnly ? { read_only: true } : {}),
    };
    batch.put(keys, [accountId, keyId], record);
    const live = { account_id: accountId, key_id: keyId, ...(readOnly ? { read_only: true } : {}) };
    batch.put(keyHashes, [record.hash], live);
    return keyId;
  }

  #note(batch: Batch, accountId: string, source: Source, act: AuditedAct, detail?: string): void {
    noteAct(batch, accountId, { atMs: this.#options.now(), act, source, detail });
  }

  #hash(kind: KeyKind, value: string): string {
    return this.#options.sealer.keyedHash(`${kind}-key`, value);
  }

  #timestamp(): string {
    return new Date(this.#options.now()).toISOString();
  }
}
