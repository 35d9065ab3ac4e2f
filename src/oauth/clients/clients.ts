/**
 * Finds OAuth clients by client_id, and registers them dynamically (RFC 7591). A registration without a sign-in
 * expires within a day, and the oldest unused one is evicted for the next, so strangers cannot fill the table. The
 * operator's clients have no expiry: they are not counted and never evicted.
 */
import { randomBytes } from 'node:crypto';
import type { ActorRegistry } from '../../actors/registry.ts';
import { Remembered } from '../../cache/lru.ts';
import { Refusal } from '../../common/fault.ts';
import { type Caller, Shares } from '../../common/shares.ts';
import { limits } from '../../limits/service.ts';
import type { Batch } from '../../store/group-commit.ts';
import type { Store } from '../../store/store.ts';
import type { Reader } from '../../store/table.ts';
import { oauthClientExpiries, oauthClients } from '../records.ts';
import { oauthRefusal } from '../rules.ts';
import { type ClientMetadata, checkFlows, readClientMetadata } from './client-metadata.ts';
import { fetchClientDocument, isDocumentAddress } from './document.ts';

const CLIENT_ID_BYTES = 16;

export interface OAuthClient extends ClientMetadata {
  readonly client_id: string;
  /** Host serving the client's metadata document; null: the client is registered. */
  readonly host: string | null;
  /** True: registered by the operator; false with `host` null: registered dynamically, without any verification. */
  readonly by_operator: boolean;
}

export interface OAuthClientsOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly now: () => number;
  /** Addresses from which metadata documents may be fetched: public, also private, or none. */
  readonly documents: 'public' | 'private' | 'off';
}

interface Fetched {
  readonly metadata: ClientMetadata;
  readonly fetchedMs: number;
}

export class OAuthClients {
  readonly #options: OAuthClientsOptions;
  readonly #documents = new Remembered<Fetched>(limits.clientDocumentsRemembered);
  readonly #fetching = new Map<string, Promise<ClientMetadata>>();
  /** Shares of running fetches: a document may take seconds to arrive. */
  readonly #fetches = new Shares({
    max: limits.clientDocumentFetchesMax,
    what: 'too many client metadata documents are being fetched',
    retryAfterSeconds: limits.retryAfterSeconds,
  });

  constructor(options: OAuthClientsOptions) {
    this.#options = options;
  }

  /** Registers a public client. Throws Refusal `invalid_client_metadata` or `invalid_redirect_uri`. */
  async register(document: unknown): Promise<OAuthClient> {
    const metadata = readClientMetadata(document);
    checkFlows(document as Readonly<Record<string, unknown>>);
    const clientId = newClientId();
    const nowMs = this.#options.now();
    await this.#options.actors.clients().ask((batch) => {
      this.#makeRoom(batch, nowMs);
      const expiresMs = nowMs + limits.clientUnusedMs;
      batch.put(oauthClients, [clientId], { ...metadata, registered_ms: nowMs, expires_ms: expiresMs });
      batch.put(oauthClientExpiries, [expiresMs, clientId], {});
    });
    return { ...metadata, client_id: clientId, host: null, by_operator: false };
  }

  /**
   * Finds a client. Throws Refusal `invalid_client` when it is unknown or its document is unusable, and `overloaded`
   * when the caller's share of the fetches is used up.
   */
  async find(clientId: string, caller: Caller): Promise<OAuthClient> {
    if (isDocumentAddress(clientId)) {
      if (this.#options.documents === 'off') {
        throw oauthRefusal(
          'invalid_client',
          'this hub fetches no client metadata documents; register the client instead',
        );
      }
      const metadata = await this.#document(clientId, caller);
      return { ...metadata, client_id: clientId, host: new URL(clientId).host, by_operator: false };
    }
    const record = this.#options.store.get(oauthClients, [clientId]);
    const expiresMs = record?.expires_ms ?? null;
    if (record === undefined || (expiresMs !== null && expiresMs <= this.#options.now())) {
      throw oauthRefusal('invalid_client', 'this client_id is unknown or its registration has expired; register again');
    }
    const { client_name, redirect_uris } = record;
    return { client_id: clientId, client_name, redirect_uris, host: null, by_operator: expiresMs === null };
  }

  /** Records a sign-in of an account through a registration: it then stays as long as an unused sign-in. */
  async noteUsed(clientId: string, accountId: string): Promise<void> {
    if (isDocumentAddress(clientId)) return;
    await this.#options.actors.clients().ask((batch) => {
      const record = batch.get(oauthClients, [clientId]);
      if (record === undefined || record.expires_ms === null) return;
      const expiresMs = this.#options.now() + limits.refreshTokenSeconds * 1000;
      batch.remove(oauthClientExpiries, [record.expires_ms, clientId]);
      batch.put(oauthClients, [clientId], { used_by: accountId, ...record, expires_ms: expiresMs, used: true });
      batch.put(oauthClientExpiries, [expiresMs, clientId], {});
    });
  }

  /** Fetches one document per client at a time; a recently read document is cached. */
  async #document(clientId: string, caller: Caller): Promise<ClientMetadata> {
    const known = this.#documents.get(clientId, 0);
    if (known !== undefined && this.#options.now() - known.fetchedMs < limits.clientDocumentFreshMs) {
      return known.metadata;
    }
    const running = this.#fetching.get(clientId);
    if (running !== undefined) return await running;
    const release = this.#fetches.take(caller);
    const fetching = fetchClientDocument(clientId, { allowPrivate: this.#options.documents === 'private' });
    this.#fetching.set(clientId, fetching);
    try {
      const metadata = await fetching;
      this.#documents.set(clientId, 0, { metadata, fetchedMs: this.#options.now() }, 1);
      return metadata;
    } finally {
      this.#fetching.delete(clientId);
      release();
    }
  }

  /**
   * Removes expired registrations and, above the maximum, the unused registration that expires first. If all are used,
   * the account with the most loses the one that it authorized longest ago, so that no account keeps out the others.
   */
  #makeRoom(batch: Batch, nowMs: number): void {
    const rows = batch.range(oauthClientExpiries, { prefix: [] });
    const used = new Map<string, OAuthClientExpiry[]>();
    let surplus = rows.length + 1 - limits.clientRegistrationsMax;
    for (const { key } of rows) {
      const [expiresMs, clientId] = key;
      const record = batch.get(oauthClients, [clientId]);
      if (expiresMs <= nowMs || (surplus > 0 && record?.used !== true)) {
        removeRegistration(batch, key);
        surplus -= 1;
      } else if (record?.used === true) {
        const holder = record.used_by ?? '';
        used.set(holder, [...(used.get(holder) ?? []), key]);
      }
    }
    if (surplus <= 0) return;
    const [most = []] = [...used.values()].toSorted((a, b) => b.length - a.length);
    const [oldest, ...others] = most;
    if (oldest === undefined || others.length === 0) {
      const what = 'too many clients are registered';
      throw new Refusal({ kind: 'overloaded', what, retryAfterSeconds: limits.retryAfterSeconds });
    }
    removeRegistration(batch, oldest);
  }
}

/** Returns a random client_id for a registration. */
export function newClientId(): string {
  return `ccl_${randomBytes(CLIENT_ID_BYTES).toString('hex')}`;
}

/** True while a client has its registration; a client with a metadata document needs none. */
export function isRegistered(reader: Pick<Reader, 'get'>, clientId: string): boolean {
  return isDocumentAddress(clientId) || reader.get(oauthClients, [clientId]) !== undefined;
}

type OAuthClientExpiry = [expiresMs: number, clientId: string];

function removeRegistration(batch: Batch, key: OAuthClientExpiry): void {
  batch.remove(oauthClientExpiries, key);
  batch.remove(oauthClients, [key[1]]);
}
