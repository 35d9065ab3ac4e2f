/**
 * Registers OAuth clients for the operator. Such a client never expires and is never evicted: it is missing from the
 * list of expiries, which is also the list that limits dynamic registrations.
 */
import type { ActorRegistry } from '../../actors/registry.ts';
import { noteHub, OPERATOR } from '../../audit/note.ts';
import type { Source } from '../../audit/records.ts';
import { Refusal } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import type { Store } from '../../store/store.ts';
import { type OAuthClientRecord, oauthClients, signIns } from '../records.ts';
import { oauthRefusal } from '../rules.ts';
import type { SignIns } from '../sign-ins.ts';
import { type ClientMetadata, readClientMetadata } from './client-metadata.ts';
import { isRegistered, newClientId } from './clients.ts';

export interface NewOperatorClient {
  readonly name: string;
  readonly redirects: readonly string[];
}

export interface OperatorClient extends ClientMetadata {
  readonly client_id: string;
  readonly created_at: string;
}

export interface OperatorClientsOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly signIns: SignIns;
  readonly now: () => number;
}

/** Reasons why a sign-in cannot be ended: it, or its whole account, is already gone. */
const GONE: ReadonlySet<string> = new Set(['not_found', 'unauthenticated']);

export class OperatorClients {
  readonly #options: OperatorClientsOptions;

  constructor(options: OperatorClientsOptions) {
    this.#options = options;
  }

  /** Registers a public client. Throws Refusal `invalid_client_metadata` or `invalid_redirect_uri`. */
  async add({ name, redirects }: NewOperatorClient, source: Source = OPERATOR): Promise<OperatorClient> {
    const metadata = readClientMetadata({ client_name: name, redirect_uris: redirects });
    if (metadata.client_name === null)
      throw oauthRefusal('invalid_client_metadata', 'the client needs a name that is not empty');
    const clientId = newClientId();
    const record = { ...metadata, registered_ms: this.#options.now(), expires_ms: null };
    await this.#options.actors.clients().ask((batch) => {
      const count = batch.range(oauthClients, { prefix: [] }).filter(({ value }) => value.expires_ms === null).length;
      if (count >= limits.operatorClientsMax) {
        const detail = `${limits.operatorClientsMax} clients are registered by the operator; remove one first`;
        throw oauthRefusal('invalid_client_metadata', detail);
      }
      batch.put(oauthClients, [clientId], record);
      const detail = `${clientId} ${metadata.client_name}`;
      noteHub(batch, null, { atMs: record.registered_ms, act: 'app_registered', source, detail });
    });
    return summaryOf(clientId, record);
  }

  /** Lists the clients registered by the operator, oldest first. */
  list(): OperatorClient[] {
    return this.#options.store
      .range(oauthClients, { prefix: [] })
      .filter(({ value }) => value.expires_ms === null)
      .toSorted((a, b) => a.value.registered_ms - b.value.registered_ms)
      .map(({ key: [clientId], value }) => summaryOf(clientId, value));
  }

  /**
   * Removes a client, then ends every sign-in made through it. Resolves with the number ended. After an interruption,
   * another call ends the rest. Throws Refusal `not_found` when there is nothing to remove.
   */
  async remove(clientId: string, source: Source = OPERATOR): Promise<number> {
    const wasListed = await this.#options.actors.clients().ask((batch) => {
      const isListed = batch.get(oauthClients, [clientId])?.expires_ms === null;
      if (isListed) {
        batch.remove(oauthClients, [clientId]);
        noteHub(batch, null, { atMs: this.#options.now(), act: 'app_removed', source, detail: clientId });
      }
      return isListed;
    });
    const isOthers = isRegistered(this.#options.store, clientId);
    const ended = isOthers ? 0 : await this.#endSignIns(clientId);
    if (!wasListed && ended === 0) {
      const what = 'no client registered by the operator has this id; `cairn client list` shows the ids';
      throw new Refusal({ kind: 'not_found', what });
    }
    return ended;
  }

  async #endSignIns(clientId: string): Promise<number> {
    const found: { readonly signInId: string; readonly accountId: string }[] = [];
    for (const { key, value } of this.#options.store.entries(signIns, { prefix: [] })) {
      const isOfClient = value.via_browser === true && value.client_id === clientId;
      if (isOfClient) found.push({ signInId: key[0], accountId: value.account_id });
    }
    let ended = 0;
    for (const { signInId, accountId } of found) {
      try {
        await this.#options.signIns.end(accountId, signInId, OPERATOR);
        ended += 1;
      } catch (error) {
        if (!(error instanceof Refusal) || !GONE.has(error.fault.kind)) throw error;
      }
    }
    return ended;
  }
}

function summaryOf(clientId: string, record: OAuthClientRecord): OperatorClient {
  const { client_name, redirect_uris, registered_ms } = record;
  return { client_id: clientId, client_name, redirect_uris, created_at: new Date(registered_ms).toISOString() };
}
