/** Issues and checks access tokens: opaque, short-lived, bound to an account, stored as keyed hashes. */
import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { ActorRegistry } from '../actors/registry.ts';
import { noteAct } from '../audit/note.ts';
import type { Source } from '../audit/records.ts';
import { KnownCredentials } from '../cache/credentials.ts';
import { Refusal } from '../common/fault.ts';
import type { Principal } from '../common/principal.ts';
import { limits } from '../limits/service.ts';
import type { Batch } from '../store/group-commit.ts';
import type { Sealer } from '../store/sealing/seal.ts';
import type { Store } from '../store/store.ts';
import { hasEnded } from '../time/truth.ts';
import { accessTokens, tokenExpiries } from './records.ts';

const PREFIX = 'cat_';
const RANDOM_BYTES = 32;
const CHECKSUM_CHARS = 6;
const SHAPE = /^cat_[A-Za-z0-9_-]{49}$/;

export interface NewAccessToken {
  readonly access_token: string;
  readonly token_type: 'Bearer';
  readonly expires_in: number;
}

interface KnownToken {
  readonly principal: Principal;
  readonly expiresMs: number;
}

export interface TokenSummary {
  readonly token_id: string;
  /** The sign-in whose end also ends this token; null: created by the operator or on the settings page. */
  readonly sign_in_id: string | null;
  readonly read_only: boolean;
  readonly expires_at: string;
}

export interface AccessTokensOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly sealer: Sealer;
  readonly now: () => number;
}

export class AccessTokens {
  readonly #options: AccessTokensOptions;
  readonly #known: KnownCredentials<KnownToken>;

  constructor(options: AccessTokensOptions) {
    this.#options = options;
    this.#known = new KnownCredentials(options.store, [accessTokens]);
  }

  /** Creates a token of an account; it is returned only here. */
  async mint(accountId: string, source: Source, { readOnly = false } = {}): Promise<NewAccessToken> {
    return await this.#options.actors.account(accountId).ask((batch) => {
      noteAct(batch, accountId, { atMs: this.#options.now(), act: 'token_created', source });
      return this.add(batch, accountId, undefined, readOnly);
    });
  }

  /**
   * Within a decision: creates a token. `signIn` is the sign-in whose end also ends the token; `readOnly` makes it
   * read-only. Removes expired tokens of the account and, above the maximum, those that expire first.
   */
  add(batch: Batch, accountId: string, signIn?: string, readOnly = false): NewAccessToken {
    const token = withChecksum(PREFIX + randomBytes(RANDOM_BYTES).toString('base64url'));
    const hash = this.#hash(token);
    const nowMs = this.#options.now();
    const expiresMs = nowMs + limits.accessTokenSeconds * 1000;
    const earlier = batch.range(tokenExpiries, { prefix: [accountId] });
    const surplus = earlier.length + 1 - limits.accessTokensLiveMax;
    for (const [index, { key }] of earlier.entries()) {
      if (index < surplus || hasTokenEnded(key[1], nowMs)) removeToken(batch, key);
    }
    batch.put(accessTokens, [hash], {
      account_id: accountId,
      expires_ms: expiresMs,
      ...(signIn === undefined ? {} : { sign_in: signIn }),
      ...(readOnly ? { read_only: true } : {}),
    });
    batch.put(tokenExpiries, [accountId, expiresMs, hash], {});
    return { access_token: token, token_type: 'Bearer', expires_in: limits.accessTokenSeconds };
  }

  /** Within a decision: ends every token of a sign-in. */
  endSignIn(batch: Batch, accountId: string, signIn: string): void {
    for (const { key } of batch.range(tokenExpiries, { prefix: [accountId] })) {
      if (batch.get(accessTokens, [key[2]])?.sign_in === signIn) removeToken(batch, key);
    }
  }

  /** Lists the valid tokens of an account, without their values, the first to expire first. */
  list(accountId: string): TokenSummary[] {
    const { store, now } = this.#options;
    return store.range(tokenExpiries, { prefix: [accountId] }).flatMap(({ key: [, expiresMs, hash] }) => {
      if (hasTokenEnded(expiresMs, now())) return [];
      const { sign_in: signIn = null, read_only: readOnly = false } = store.get(accessTokens, [hash]) ?? {};
      const expiresAt = new Date(expiresMs).toISOString();
      return [{ token_id: tokenId(hash), sign_in_id: signIn, read_only: readOnly, expires_at: expiresAt }];
    });
  }

  /** Revokes a token of an account by its id. Throws Refusal `not_found`. */
  async endNamed(accountId: string, id: string, source: Source): Promise<void> {
    await this.#options.actors.account(accountId).ask((batch) => {
      const found = batch.range(tokenExpiries, { prefix: [accountId] }).find(({ key }) => tokenId(key[2]) === id);
      if (found === undefined)
        throw new Refusal({ kind: 'not_found', what: 'this access token has already expired or was revoked' });
      removeToken(batch, found.key);
      noteAct(batch, accountId, { atMs: this.#options.now(), act: 'token_revoked', source, detail: id });
    });
  }

  /** Revokes a token immediately. An invalid token is not an error. */
  async revoke(token: string): Promise<void> {
    const hash = this.#hash(token);
    const found = this.#options.store.get(accessTokens, [hash]);
    if (found === undefined) return;
    const { account_id: accountId, expires_ms: expiresMs } = found;
    await this.#options.actors.account(accountId).ask((batch) => removeToken(batch, [accountId, expiresMs, hash]));
  }

  /** Returns the principal of a token; undefined: invalid or expired. */
  authenticate(token: string): Principal | undefined {
    const known = this.#known.find(token, () => this.#lookUp(token));
    return known === undefined || hasTokenEnded(known.expiresMs, this.#options.now()) ? undefined : known.principal;
  }

  #lookUp(token: string): KnownToken | undefined {
    // The checksum rejects a mistyped token without a read of the store.
    if (!SHAPE.test(token) || withChecksum(token.slice(0, -CHECKSUM_CHARS)) !== token) return undefined;
    const hash = this.#hash(token);
    const found = this.#options.store.get(accessTokens, [hash]);
    if (found === undefined) return undefined;
    const readOnly = found.read_only === true;
    const signInId = found.sign_in;
    const principal = {
      accountId: found.account_id,
      credentialId: tokenId(hash),
      ...(readOnly ? { readOnly } : {}),
      ...(signInId === undefined ? {} : { signInId }),
    };
    return { principal, expiresMs: found.expires_ms };
  }

  #hash(token: string): string {
    return this.#options.sealer.keyedHash('access-token', token);
  }
}

/** True when a token has expired, or was made by a clock that was wrong. */
export function hasTokenEnded(expiresMs: number, nowMs: number): boolean {
  return hasEnded(expiresMs, nowMs, limits.accessTokenSeconds * 1000);
}

/** Identifies a token in lists and logs; grants no access. */
function tokenId(hash: string): string {
  return `token_${hash.slice(0, 16)}`;
}

function removeToken(batch: Batch, key: [accountId: string, expiresMs: number, hash: string]): void {
  batch.remove(tokenExpiries, key);
  batch.remove(accessTokens, [key[2]]);
}

/** Appends a CRC-32 as six base64url characters: detects typing errors, adds no secrecy. */
function withChecksum(body: string): string {
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(body));
  return body + checksum.toString('base64url');
}
