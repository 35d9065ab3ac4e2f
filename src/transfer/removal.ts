/**
 * Owns how the rows of deleted accounts go: in the background, a bounded number with each commit, so that other work gets
 * between. Which rows are an account's follows from the owners that the tables declare, so no table can be forgotten. An
 * account is listed as deleted until the last of its rows is gone; a stop or a crash only puts the rest off.
 */
import { accounts, emails } from '../accounts/records.ts';
import { removals } from '../accounts/standing/records.ts';
import type { Log } from '../common/log.ts';
import { Rounds } from '../common/rounds.ts';
import type { Sweep } from '../common/sweep.ts';
import { blobs, chunks } from '../mirror/records.ts';
import { deviceExpiries, deviceGrants, deviceUserCodes } from '../oauth/records.ts';
import { SWEEP } from '../store/owners.ts';
import { removeRows, removeRowsOf, removeRowsWhere } from '../store/remove-rows.ts';
import type { Store } from '../store/store.ts';
import type { AnyTable } from '../store/table.ts';

export interface AccountRemovalOptions {
  readonly store: Store;
  /** Every table of the data file. */
  readonly tables: readonly AnyTable[];
  /** Removes the rows of deleted vaults. */
  readonly removeVaults: () => Promise<unknown>;
  readonly log: Log;
}

/** What says that an account was deleted goes last, and what it is known by just before. */
const LAST: readonly AnyTable[] = [accounts, removals];

export class AccountRemoval {
  /** For the timer. */
  readonly sweep: Sweep = { what: 'deleted accounts', byAge: false, run: () => this.run() };
  readonly #options: AccountRemovalOptions;
  readonly #rounds: Rounds;
  #removeVaults: () => Promise<unknown>;

  constructor(options: AccountRemovalOptions) {
    this.#options = options;
    this.#rounds = new Rounds({
      round: () => this.#round(),
      onFailure: (error) =>
        options.log.warn({ err: error }, 'a deleted account was not removed; the next round tries again'),
    });
    this.#removeVaults = options.removeVaults;
  }

  /** From now on vaults are removed this way: the service knows which of their bytes are being read. */
  useVaults(removeVaults: () => Promise<unknown>): void {
    this.#removeVaults = removeVaults;
  }

  /** Starts a round in the background. */
  begin(): void {
    this.#rounds.begin();
  }

  /** A round over all deleted accounts, after those that run. Resolves with how many are gone for good. */
  run(): Promise<number> {
    return this.#rounds.run();
  }

  /** Stops; resolves when nothing is being removed any more. The next start goes on. */
  async close(): Promise<void> {
    await this.#rounds.close();
  }

  async #round(): Promise<number> {
    const { store } = this.#options;
    let gone = 0;
    for (const [accountId] of Array.from(store.keys(removals))) {
      await this.#remove(accountId);
      if (this.#rounds.isStopped) return gone;
      await store.write(SWEEP, (batch) => batch.remove(removals, [accountId]));
      this.#options.log.info({ account_id: accountId }, 'a deleted account is removed with all its data');
      gone += 1;
    }
    return gone;
  }

  async #remove(accountId: string): Promise<void> {
    const { store, tables } = this.#options;
    await this.#freeEmail(accountId);
    await this.#removeBlobs(accountId);
    // Twice: a vault is forgotten by a round that finds nothing of it.
    await this.#removeVaults();
    await this.#removeVaults();
    await this.#removeGrants(accountId);
    for (const table of tables) {
      if (this.#rounds.isStopped) return;
      if (!LAST.includes(table)) await removeOwned(store, table, accountId);
    }
    await removeRows(store, accounts, [accountId]);
  }

  /** The email is free again; it may have been taken by another account since. */
  async #freeEmail(accountId: string): Promise<void> {
    await this.#options.store.write(SWEEP, (batch) => {
      const email = batch.get(accounts, [accountId])?.email;
      if (email === undefined || batch.get(emails, [email])?.account_id !== accountId) return;
      batch.remove(emails, [email]);
    });
  }

  /** The bytes of each blob go with its row, so that none are left when this is cut off. */
  async #removeBlobs(accountId: string): Promise<void> {
    const { store } = this.#options;
    for (;;) {
      const [blob] = store.range(blobs, { prefix: [accountId], limit: 1 });
      if (blob === undefined || this.#rounds.isStopped) return;
      await store.write(SWEEP, (batch) => {
        for (const key of batch.keys(chunks, [blob.value.storage_id])) batch.remove(chunks, key);
        batch.remove(blobs, blob.key);
      });
    }
  }

  /** Devices that it let in and that have not come back for their tokens. */
  async #removeGrants(accountId: string): Promise<void> {
    await this.#options.store.write(SWEEP, (batch) => {
      for (const { key, value } of batch.range(deviceGrants, { prefix: [] })) {
        if (value.account_id !== accountId) continue;
        batch.remove(deviceGrants, key);
        batch.remove(deviceUserCodes, [value.user_hash]);
        batch.remove(deviceExpiries, [value.expires_ms, key[0]]);
      }
    });
  }
}

async function removeOwned(store: Store, table: AnyTable, accountId: string): Promise<void> {
  const owned = table.owners.account;
  if (owned === 0) await removeRows(store, table, [accountId]);
  else if (typeof owned === 'number') await removeRowsOf(store, table, accountId);
  else if (typeof owned === 'object') {
    await removeRowsWhere(store, table, (row) => (row as Record<string, unknown>)[owned.member] === accountId);
  }
}
