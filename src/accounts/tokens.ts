/** Owns access tokens: opaque, short-lived, kept as keyed hashes. Minted for an account, opened until they expire. */
import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { ActorRegistry } from '../actors/registry.ts';
import { limits } from '../limits.ts';
import type { Session } from '../session.ts';
import type { Sealer } from '../store/seal.ts';
import type { Store } from '../store/store.ts';
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

export interface AccessTokensOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly sealer: Sealer;
  readonly now: () => number;
}

export class AccessTokens {
  readonly #options: AccessTokensOptions;

  constructor(options: AccessTokensOptions) {
    this.#options = options;
  }

  /** Mints a token of an account; it is returned here and never again. Expired ones of the account go on the way. */
  async mint(accountId: string): Promise<NewAccessToken> {
    const { actors, now } = this.#options;
    const token = withChecksum(PREFIX + randomBytes(RANDOM_BYTES).toString('base64url'));
    const hash = this.#hash(token);
    const expiresMs = now() + limits.accessTokenSeconds * 1000;
    await actors.actor(accountId).ask((batch) => {
      for (const { key } of batch.range(tokenExpiries, { prefix: [accountId] })) {
        const [, expiredMs, expiredHash] = key;
        if (expiredMs > now()) break;
        batch.remove(tokenExpiries, key);
        batch.remove(accessTokens, [expiredHash]);
      }
      batch.put(accessTokens, [hash], { account_id: accountId, expires_ms: expiresMs });
      batch.put(tokenExpiries, [accountId, expiresMs, hash], {});
    });
    return { access_token: token, token_type: 'Bearer', expires_in: limits.accessTokenSeconds };
  }

  /** The session that a token opens; undefined: none, or no longer. */
  authenticate(token: string): Session | undefined {
    // A mistyped token is told from its checksum, without a look at the store.
    if (!SHAPE.test(token) || withChecksum(token.slice(0, -CHECKSUM_CHARS)) !== token) return undefined;
    const hash = this.#hash(token);
    const found = this.#options.store.get(accessTokens, [hash]);
    if (found === undefined || found.expires_ms <= this.#options.now()) return undefined;
    return { accountId: found.account_id, credentialId: `token_${hash.slice(0, 16)}` };
  }

  #hash(token: string): string {
    return this.#options.sealer.keyedHash('access-token', token);
  }
}

/** CRC-32 as six base64url characters: for slips of hand, not for secrecy. */
function withChecksum(body: string): string {
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(body));
  return body + checksum.toString('base64url');
}
