/**
 * Removes the rows of deleted accounts in the background, a bounded number per commit, so that other writes run in
 * between. The owners declared by the tables decide which rows belong to an account, so no table can be forgotten. An
 * account is listed as deleted until its last row is gone; a stop or a crash only delays the rest.
 */
import { accounts, emails } from '../accounts/records.ts';
import { removals } from '../accounts/standing/records.ts';
import type { Log } from '../common/log.ts';
import { Rounds } from '../common/rounds.ts';
import type { Sweep } from '../common/sweep.ts';
import { blobs, chunks } from '../mirror/records.ts';
import { deviceExpiries, deviceGrants, deviceUserCodes } from '../oauth/records.ts';
import { intact, intactEntries } from '../store/intact.ts';
import { SWEEP } from '../store/owners.ts';
import { removeRows, removeRowsOwnedBy } from '../store/remove-rows.ts';
import type { Store } from '../store/store.ts';
import type { AnyTable } from '../store/table.ts';

export interface AccountRemovalOptions {
  readonly store: Store;
  /** Every table of the data file. */
  readonly tables: readonly AnyTable[];
  readonly removeVaults: () => Promise<unknown>;
  readonly log: Log;
}

/** Tables removed last: the mark of a deleted account (`removals`), and just before it the account's identity. */
const LAST: readonly AnyTable[] = [accounts, removals];

export class AccountRemoval {
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

  /** From now on, removes vaults with this function: the service knows which of their bytes are being read. */
  useVaults(removeVaults: () => Promise<unknown>): void {
    this.#removeVaults = removeVaults;
  }

  /** Starts a round in the background. */
  begin(): void {
    this.#rounds.begin();
  }

  /**
   * Runs a round over all deleted accounts, after any running one. Resolves with the number of accounts permanently
   * removed.
   */
  run(): Promise<number> {
    return this.#rounds.run();
  }

  /** Stops. Resolves when nothing is being removed any more. The next start continues. */
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
    // Twice: a vault is only forgotten by a round that finds no rows of it.
    await this.#removeVaults();
    await this.#removeVaults();
    await this.#removeGrants(accountId);
    for (const table of tables) {
      if (this.#rounds.isStopped) return;
      if (!LAST.includes(table)) await removeRowsOwnedBy(store, table, accountId);
    }
    await removeRows(store, accounts, [accountId]);
  }

  /** Releases the email, unless another account has it by now. */
  async #freeEmail(accountId: string): Promise<void> {
    await this.#options.store.write(SWEEP, (batch) => {
      const email = intact(batch, accounts, [accountId])?.email;
      if (email === undefined || intact(batch, emails, [email])?.account_id !== accountId) return;
      batch.remove(emails, [email]);
    });
  }

  /** Removes the bytes of each blob together with its row, so that an interruption leaves no bytes without a row. */
  async #removeBlobs(accountId: string): Promise<void> {
    const { store } = this.#options;
    for (;;) {
      const [key] = store.keysIn(blobs, { prefix: [accountId], limit: 1 });
      if (key === undefined || this.#rounds.isStopped) return;
      // The bytes of a damaged row stay: their number is not known.
      const blob = intact(store, blobs, key);
      await store.write(SWEEP, (batch) => {
        if (blob !== undefined) for (const chunk of batch.keys(chunks, [blob.storage_id])) batch.remove(chunks, chunk);
        batch.remove(blobs, key);
      });
    }
  }

  /** Removes devices that the account authorized but that have not fetched their tokens yet. */
  async #removeGrants(accountId: string): Promise<void> {
    await this.#options.store.write(SWEEP, (batch) => {
      for (const { key, value } of intactEntries(batch, deviceGrants, { prefix: [] })) {
        if (value.account_id !== accountId) continue;
        batch.remove(deviceGrants, key);
        batch.remove(deviceUserCodes, [value.user_hash]);
        batch.remove(deviceExpiries, [value.expires_ms, key[0]]);
      }
    });
  }
}
