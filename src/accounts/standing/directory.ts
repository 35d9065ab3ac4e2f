/** Lists accounts for the operator: state, usage and time of the last use. Read-only. */
import type { QuotaKind } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import type { Quotas } from '../../quotas/quotas.ts';
import { usedBytes } from '../../quotas/usage.ts';
import type { Store } from '../../store/store.ts';
import { accounts, browserSessions, emails, keys, sessionOwners } from '../records.ts';
import type { Standings } from './standings.ts';

export interface AccountView {
  readonly account_id: string;
  readonly email: string;
  readonly name: string | null;
  readonly created_at: string;
  /** Time of the last use of a key or browser session, to a minute; null: never. */
  readonly last_seen_at: string | null;
  readonly disabled_at: string | null;
  readonly operator: boolean;
  readonly keeps_writing: boolean;
  readonly live_keys: number;
  readonly browsers: number;
  readonly used_bytes: Readonly<Record<QuotaKind, number>>;
  readonly quota_bytes: Readonly<Record<QuotaKind, number>>;
  /** Quotas set by the operator for this account. */
  readonly own_quota_bytes: Partial<Record<QuotaKind, number>>;
}

export interface AccountPage {
  readonly accounts: readonly AccountView[];
  /** Cursor: the email after which the next page starts; null: this is the last page. */
  readonly next: string | null;
}

export interface AccountDirectoryOptions {
  readonly store: Store;
  readonly standings: Standings;
  readonly quotas: Quotas;
  /** Bytes used by an account in file sync. */
  readonly fileUse: (accountId: string) => Readonly<Record<'files' | 'history', number>>;
}

export class AccountDirectory {
  readonly #options: AccountDirectoryOptions;

  constructor(options: AccountDirectoryOptions) {
    this.#options = options;
  }

  /** Lists accounts with the prefix `search`, ordered by email, from the first after `after`. */
  page({ after, search = '' }: { readonly after?: string | undefined; readonly search?: string }): AccountPage {
    const { standings } = this.#options;
    const found: AccountView[] = [];
    for (const accountId of this.#matching(search, after)) {
      if (standings.isDeleted(accountId)) continue;
      if (found.length === limits.accountsPage) return { accounts: found, next: found.at(-1)?.email ?? null };
      const view = this.view(accountId);
      if (view !== undefined) found.push(view);
    }
    return { accounts: found, next: null };
  }

  /** Accounts whose email has the prefix `search`, ordered by email; reads no other rows. */
  *#matching(search: string, after: string | undefined): Generator<string> {
    const { store } = this.#options;
    const exact = after === undefined && search !== '' ? store.get(emails, [search]) : undefined;
    if (exact !== undefined) yield exact.account_id;
    const beyond = after !== undefined && after > search ? after : search;
    for (const { key, value } of store.entries(emails, { prefix: [], ...(beyond === '' ? {} : { beyond }) })) {
      if (!key[0].startsWith(search)) return;
      yield value.account_id;
    }
  }

  /** Returns one account; undefined: it does not exist. */
  view(accountId: string): AccountView | undefined {
    const { store, standings, quotas, fileUse } = this.#options;
    const account = store.get(accounts, [accountId]);
    if (account === undefined || standings.isDeleted(accountId)) return undefined;
    const { disabled_at, operator, keeps_writing, quotas: own } = standings.of(accountId);
    const ownKeys = store.range(keys, { prefix: [accountId] }).map(({ value }) => value);
    const sessions = store.range(sessionOwners, { prefix: [accountId] }).flatMap(({ key: [, hash] }) => {
      return store.get(browserSessions, [hash])?.seen_ms ?? [];
    });
    const seen = [
      ...ownKeys.flatMap((key) => key.last_used_at ?? []),
      ...sessions.map((ms) => new Date(ms).toISOString()),
    ];
    return {
      account_id: accountId,
      email: account.email,
      name: account.name,
      created_at: account.created_at,
      last_seen_at: seen.sort().at(-1) ?? null,
      disabled_at,
      operator,
      keeps_writing,
      live_keys: ownKeys.filter((key) => key.revoked_at === null).length,
      browsers: sessions.length,
      used_bytes: {
        blobs: usedBytes(store, accountId, 'blobs'),
        ...fileUse(accountId),
        documents: usedBytes(store, accountId, 'documents'),
      },
      quota_bytes: {
        blobs: quotas.of(accountId, 'blobs'),
        files: quotas.of(accountId, 'files'),
        history: quotas.of(accountId, 'history'),
        documents: quotas.of(accountId, 'documents'),
      },
      own_quota_bytes: own,
    };
  }
}
