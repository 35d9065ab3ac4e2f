/**
 * Issues and redeems authorization codes (RFC 6749, section 4.1): created when a person authorizes a client, exchanged
 * once within a minute. They are kept in memory: after a restart the person authorizes again. A used code is
 * remembered until it would have expired; using it again ends the resulting sign-in (section 4.1.2).
 */
import { hash, randomBytes } from 'node:crypto';
import type { ActorRegistry } from '../../actors/registry.ts';
import type { RemoteSource } from '../../audit/records.ts';
import { Refusal } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import { isRegistered, type OAuthClient } from '../clients/clients.ts';
import { oauthRefusal } from '../rules.ts';
import type { SignIns, TokenAnswer } from '../sign-ins.ts';
import { isProved, isVerifier } from './pkce.ts';
import type { AuthorizationRequest } from './request.ts';

const PREFIX = 'cac_';
const CODE_BYTES = 32;

/** Parameters of a code exchange. */
export interface CodeExchange {
  readonly code: string;
  readonly clientId: string;
  readonly redirectUri: string | undefined;
  readonly verifier: string | undefined;
  readonly resource: string | undefined;
}

interface PendingCode {
  readonly accountId: string;
  readonly request: AuthorizationRequest;
  readonly clientName: string | null;
  /** Browser of the person who authorized it. */
  readonly source: RemoteSource;
  readonly expiresMs: number;
  /** The resulting sign-in; a promise while the exchange runs. */
  used: Promise<string | undefined> | undefined;
}

export interface AuthorizationCodesOptions {
  readonly actors: ActorRegistry;
  readonly signIns: SignIns;
  readonly now: () => number;
}

export class AuthorizationCodes {
  readonly #options: AuthorizationCodesOptions;
  /** By the hash of the code, oldest first. */
  readonly #codes = new Map<string, PendingCode>();

  constructor(options: AuthorizationCodesOptions) {
    this.#options = options;
  }

  /** Creates a code, as authorized by the account's owner. Throws Refusal `overloaded` when too many are pending. */
  make(accountId: string, client: OAuthClient, request: AuthorizationRequest, source: RemoteSource): string {
    this.#sweep();
    const ofAccount = [...this.#codes.values()].filter((code) => code.accountId === accountId).length;
    if (this.#codes.size >= limits.authorizationCodesMax || ofAccount >= limits.authorizationCodesPerAccountMax) {
      const what = 'too many sign-ins are under way';
      throw new Refusal({ kind: 'overloaded', what, retryAfterSeconds: limits.authorizationCodeSeconds });
    }
    const code = PREFIX + randomBytes(CODE_BYTES).toString('base64url');
    const expiresMs = this.#options.now() + limits.authorizationCodeSeconds * 1000;
    const pending = { accountId, request, clientName: client.client_name, source, expiresMs, used: undefined };
    this.#codes.set(digest(code), pending);
    return code;
  }

  /** Exchanges a code for tokens, once. Throws Refusal `invalid_grant`, `invalid_target` or `invalid_request`. */
  async redeem(exchange: CodeExchange): Promise<TokenAnswer> {
    this.#sweep();
    const pending = this.#codes.get(digest(exchange.code));
    if (pending === undefined) throw invalidGrant('this code is unknown or has expired; start the sign-in again');
    if (pending.used !== undefined) {
      await this.#endReplayed(pending);
      throw invalidGrant('this code was used before, so its sign-in has ended; start the sign-in again');
    }
    checkExchange(pending.request, exchange);
    const started = this.#start(pending);
    pending.used = started.then(
      ({ signInId }) => signInId,
      () => undefined,
    );
    return (await started).answer;
  }

  async #start({ accountId, request, clientName, source: { address } }: PendingCode) {
    const { actors, signIns } = this.#options;
    const { clientId: client_id, scope } = request;
    const device = { client_id, device_name: clientName, scope, via_browser: true, address };
    return await actors.account(accountId).ask((batch) => {
      if (!isRegistered(batch, client_id)) throw invalidGrant('this client_id was removed; register the client again');
      return signIns.begin(batch, accountId, device);
    });
  }

  async #endReplayed({ used, accountId, source }: PendingCode): Promise<void> {
    const signInId = await used;
    if (signInId === undefined) return;
    try {
      await this.#options.signIns.end(accountId, signInId, { ...source, by: 'stranger' });
    } catch (error) {
      // The sign-in has already ended.
      if (!(error instanceof Refusal) || error.fault.kind !== 'not_found') throw error;
    }
  }

  #sweep(): void {
    const nowMs = this.#options.now();
    for (const [key, { expiresMs }] of this.#codes) {
      if (expiresMs > nowMs) return;
      this.#codes.delete(key);
    }
  }
}

/** Checks client, redirect URI, PKCE verifier and resource. A failure proves no theft, so the code stays valid. */
function checkExchange(request: AuthorizationRequest, exchange: CodeExchange): void {
  const { clientId, redirectUri, verifier, resource } = exchange;
  if (clientId !== request.clientId) throw invalidGrant('this code was issued to another client_id');
  const mustRepeat = request.namesRedirect || redirectUri !== undefined;
  if (mustRepeat && redirectUri !== request.redirectUri) {
    throw invalidGrant('redirect_uri must equal the one of the authorization request');
  }
  if (verifier === undefined || !isVerifier(verifier)) {
    throw oauthRefusal('invalid_request', 'code_verifier is required: 43 to 128 characters of A-Z a-z 0-9 - . _ ~');
  }
  if (!isProved(request.challenge, verifier)) throw invalidGrant('code_verifier does not match code_challenge');
  if (resource !== undefined && request.resource !== null && resource !== request.resource) {
    throw oauthRefusal('invalid_target', 'resource must equal the authorized one');
  }
}

function invalidGrant(detail: string): Refusal {
  return oauthRefusal('invalid_grant', detail);
}

function digest(code: string): string {
  return hash('sha256', code, 'base64url');
}
