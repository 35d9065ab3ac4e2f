/**
 * Finds OAuth clients by client_id, and registers them dynamically (RFC 7591). A registration is its client_id and
 * stores nothing. Stored are the operator's clients, which never expire, and registrations made by earlier versions.
 */
import { randomBytes } from 'node:crypto';
import type { ActorRegistry } from '../../actors/registry.ts';
import { Remembered } from '../../cache/lru.ts';
import { type Caller, Shares } from '../../common/shares.ts';
import { limits } from '../../limits/service.ts';
import type { Sealer } from '../../store/sealing/seal.ts';
import type { Store } from '../../store/store.ts';
import type { Reader } from '../../store/table.ts';
import { oauthClientExpiries, oauthClients } from '../records.ts';
import { oauthRefusal } from '../rules.ts';
import { type ClientMetadata, checkFlows, readClientMetadata } from './client-metadata.ts';
import { fetchClientDocument, isDocumentAddress } from './document.ts';
import { isSealedClient, openClient, sealClient } from './sealed-client.ts';

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
  readonly sealer: Pick<Sealer, 'sealHandle' | 'openHandle'>;
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
  register(document: unknown): OAuthClient {
    const metadata = readClientMetadata(document);
    checkFlows(document as Readonly<Record<string, unknown>>);
    const clientId = sealClient(this.#options.sealer, metadata);
    return Object.assign(metadata, { client_id: clientId, host: null, by_operator: false });
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
    const sealed = openClient(this.#options.sealer, clientId);
    if (sealed !== undefined) return { ...sealed, client_id: clientId, host: null, by_operator: false };
    const record = isSealedClient(clientId) ? undefined : this.#options.store.get(oauthClients, [clientId]);
    const expiresMs = record?.expires_ms ?? null;
    if (record === undefined || (expiresMs !== null && expiresMs <= this.#options.now())) {
      throw oauthRefusal('invalid_client', 'this client_id is unknown or its registration has expired; register again');
    }
    const { client_name, redirect_uris } = record;
    return { client_id: clientId, client_name, redirect_uris, host: null, by_operator: expiresMs === null };
  }

  /** Records a sign-in through a stored registration: it then stays as long as an unused sign-in. */
  async noteUsed(clientId: string): Promise<void> {
    if (isDocumentAddress(clientId) || isSealedClient(clientId)) return;
    await this.#options.actors.clients().ask((batch) => {
      const record = batch.get(oauthClients, [clientId]);
      if (record === undefined || record.expires_ms === null) return;
      const nowMs = this.#options.now();
      for (const { key } of batch.range(oauthClientExpiries, { prefix: [] })) {
        if (key[0] > nowMs) break;
        batch.remove(oauthClientExpiries, key);
        batch.remove(oauthClients, [key[1]]);
      }
      if (record.expires_ms <= nowMs) return;
      const expiresMs = nowMs + limits.refreshTokenSeconds * 1000;
      batch.remove(oauthClientExpiries, [record.expires_ms, clientId]);
      batch.put(oauthClients, [clientId], { ...record, expires_ms: expiresMs });
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
}

/** Returns a random client_id for a stored registration. */
export function newClientId(): string {
  return `ccl_${randomBytes(CLIENT_ID_BYTES).toString('hex')}`;
}

/** True while a client has its registration. A metadata document, and metadata in the client_id, need none. */
export function isRegistered(reader: Pick<Reader, 'get'>, clientId: string): boolean {
  return isDocumentAddress(clientId) || isSealedClient(clientId) || reader.get(oauthClients, [clientId]) !== undefined;
}
