/**
 * Fetches and caches the public keys of the identity provider: found by discovery (OpenID Connect Discovery 1.0, or
 * RFC 8414), fetched with bounds, kept in memory. Keys are fetched again when they are old or a token refers to an
 * unknown key, but not within the cool-down, whatever tokens are sent.
 */
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { Refusal } from '../../common/fault.ts';
import type { Log } from '../../common/log.ts';
import { version } from '../../common/version.ts';
import { limits } from '../../limits/service.ts';

const DISCOVERY_PATHS = ['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server'];

export interface ProviderKeysOptions {
  readonly issuer: string;
  readonly log: Log;
  readonly now: () => number;
}

export class ProviderKeys {
  readonly #options: ProviderKeysOptions;
  #keys: JWTVerifyGetKey | undefined;
  #fetchedMs = Number.NEGATIVE_INFINITY;
  #triedMs = Number.NEGATIVE_INFINITY;
  #pending: Promise<void> | undefined;
  #revision = 0;

  constructor(options: ProviderKeysOptions) {
    this.#options = options;
  }

  /** Finds the key for a token's header. Throws JWKSNoMatchingKey, and Refusal `overloaded` while there are no keys. */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    const ageMs = this.#options.now() - this.#fetchedMs;
    if (ageMs > limits.idpKeysFreshMs) await this.#renew();
    try {
      return await this.#usable()(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || !(await this.#renew())) throw error;
      return await this.#usable()(header, token);
    }
  };

  /** Changes with the keys; undefined when they must be renewed before the next check. */
  get revision(): number | undefined {
    return this.#options.now() - this.#fetchedMs > limits.idpKeysFreshMs ? undefined : this.#revision;
  }

  /** Fetches the keys before the first token arrives. Never throws. */
  async warm(): Promise<void> {
    await this.#renew();
  }

  /** Keys not renewed for too long are no longer trusted: the provider may have withdrawn them. */
  #usable(): JWTVerifyGetKey {
    const { now } = this.#options;
    if (this.#keys !== undefined && now() - this.#fetchedMs <= limits.idpKeysStaleMs) return this.#keys;
    const waitMs = this.#triedMs + limits.idpKeysCoolDownMs - now();
    throw new Refusal({
      kind: 'overloaded',
      what: 'the keys of the identity provider could not be fetched',
      retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
    });
  }

  /** True after a fetch, possibly started by another caller; false within the cool-down. */
  async #renew(): Promise<boolean> {
    if (this.#pending === undefined) {
      const nowMs = this.#options.now();
      if (nowMs - this.#triedMs < limits.idpKeysCoolDownMs) return false;
      this.#triedMs = nowMs;
      this.#pending = this.#fetch().finally(() => {
        this.#pending = undefined;
      });
    }
    await this.#pending;
    return true;
  }

  async #fetch(): Promise<void> {
    const { issuer, log, now } = this.#options;
    try {
      const keys = await fetchJson(await discoverKeys(issuer));
      // Throws when it is not a key set.
      this.#keys = createLocalJWKSet(keys as JSONWebKeySet);
      this.#fetchedMs = now();
      this.#revision += 1;
    } catch (error) {
      log.warn({ err: error, issuer }, 'the keys of the identity provider could not be fetched');
    }
  }
}

/** Resolves with the key set address from the issuer's metadata. */
async function discoverKeys(issuer: string): Promise<string> {
  let failure: unknown;
  for (const path of DISCOVERY_PATHS) {
    try {
      const metadata = (await fetchJson(issuer.replace(/\/$/, '') + path)) as Readonly<Record<string, unknown>>;
      if (metadata['issuer'] !== issuer) throw new Error('the metadata names another issuer');
      const { jwks_uri: uri } = metadata;
      if (typeof uri !== 'string' || !URL.canParse(uri)) throw new Error('the metadata names no jwks_uri');
      if (!isSafeAddress(uri)) throw new Error('the jwks_uri is neither https nor of this machine');
      return uri;
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

/** True for https, or plain http to this machine, where no other machine can intercept it. */
function isSafeAddress(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' || (protocol === 'http:' && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname));
}

/** Fetches one small document: no redirect, one deadline, bounded size. */
async function fetchJson(address: string): Promise<unknown> {
  const response = await fetch(address, {
    redirect: 'error',
    signal: AbortSignal.timeout(limits.idpFetchMs),
    headers: { Accept: 'application/json', 'User-Agent': `cairn/${version}` },
  });
  if (response.status !== 200 || response.body === null) throw new Error(`${address} answered ${response.status}`);
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body as ReadableStream<Uint8Array>) {
    bytes += part.length;
    if (bytes > limits.idpDocumentBytesMax) throw new Error(`${address} answered with too many bytes`);
    parts.push(part);
  }
  return JSON.parse(Buffer.concat(parts).toString('utf8')) as unknown;
}
