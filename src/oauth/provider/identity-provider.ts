/** Validates tokens of the identity provider: signature, algorithm, issuer, audience, time (RFC 7519, 8725). */
import { hash } from 'node:crypto';
import { decodeJwt, errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose';
import { Remembered } from '../../cache/lru.ts';
import { Refusal } from '../../common/fault.ts';
import type { Log } from '../../common/log.ts';
import { limits } from '../../limits/service.ts';
import type { ProviderKeys } from './keys.ts';

/** Asymmetric algorithms only: with a shared secret or no signature, anyone who checks a token could also forge one. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
const SHAPE = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

export interface IdentityProviderOptions {
  readonly issuer: string;
  /** Required audience of tokens. */
  readonly audience: string;
  readonly keys: ProviderKeys;
  readonly log: Log;
  readonly now: () => number;
}

/** Issuer and subject of a valid token. */
export interface VerifiedIdentity {
  readonly issuer: string;
  readonly subject: string;
  /** The provider's display name of the subject; not verified. */
  readonly label: string | null;
}

/** Identity and expiry of a validated token. */
interface Known {
  readonly identity: VerifiedIdentity;
  readonly expiresMs: number;
}

export class IdentityProvider {
  readonly issuer: string;
  /** Valid tokens by digest, so that a token sent with every request is not verified each time. */
  readonly #known = new Remembered<Known>(limits.credentialsRememberedMax);
  readonly #options: IdentityProviderOptions;

  constructor(options: IdentityProviderOptions) {
    this.issuer = options.issuer;
    this.#options = options;
  }

  /** Fetches the keys before the first token arrives. Never throws. */
  async warm(): Promise<void> {
    await this.#options.keys.warm();
  }

  /** True for a possible token of the provider: a small JWT with its issuer. Proves nothing. */
  isOwn(token: string): boolean {
    return token.length <= limits.idpTokenCharsMax && SHAPE.test(token) && issuerOf(token) === this.issuer;
  }

  /** Returns the identity of an unexpired token already validated under the same keys; undefined: call `verify`. */
  known(token: string): VerifiedIdentity | undefined {
    const { keys, now } = this.#options;
    const { revision } = keys;
    const found = revision === undefined ? undefined : this.#known.get(digestOf(token), revision);
    return found !== undefined && found.expiresMs > now() ? found.identity : undefined;
  }

  /** Resolves with the identity of a token; undefined: invalid. Throws Refusal `overloaded` while there are no keys. */
  async verify(token: string): Promise<VerifiedIdentity | undefined> {
    if (!this.isOwn(token)) return undefined;
    const { issuer, audience, keys, now } = this.#options;
    const options: JWTVerifyOptions = {
      algorithms: ALGORITHMS,
      issuer,
      audience,
      requiredClaims: ['sub', 'exp'],
      clockTolerance: limits.idpClockSkewSeconds,
      currentDate: new Date(now()),
    };
    try {
      const { payload } = await jwtVerify(token, keys.find, options).catch(async (error: unknown) => {
        if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
        return await verifyWithAny(token, error, options);
      });
      const identity = identityOf(issuer, payload);
      if (identity === undefined) this.#refused('sub is not 1 to 255 ASCII characters');
      const { revision } = keys;
      if (identity !== undefined && revision !== undefined) {
        this.#known.set(digestOf(token), revision, { identity, expiresMs: (payload.exp ?? 0) * 1000 }, 1);
      }
      return identity;
    } catch (error) {
      if (error instanceof Refusal) throw error;
      if (error instanceof errors.JOSEError) this.#refused(reasonOf(error));
      else this.#options.log.warn({ err: error }, 'a provider key cannot be used');
      return undefined;
    }
  }

  /** Only the log contains the failed check, since it would help forgers. Nothing of the token is logged. */
  #refused(reason: string): void {
    this.#options.log.info({ issuer: this.issuer, reason }, 'a provider token was refused');
  }
}

/** Returns the failed check, such as `ERR_JWT_CLAIM_VALIDATION_FAILED aud`. */
function reasonOf(error: errors.JOSEError): string {
  const isClaim = error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired;
  return isClaim ? `${error.code} ${error.claim}` : error.code;
}

/** A header without a key id may match several keys; tries each. */
async function verifyWithAny(token: string, fitting: errors.JWKSMultipleMatchingKeys, options: JWTVerifyOptions) {
  for await (const key of fitting) {
    try {
      return await jwtVerify(token, key, options);
    } catch (error) {
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
    }
  }
  throw new errors.JWSSignatureVerificationFailed();
}

function identityOf(issuer: string, payload: JWTPayload): VerifiedIdentity | undefined {
  const { sub: subject } = payload;
  if (typeof subject !== 'string' || !isSubject(subject)) return undefined;
  const names = [payload['email'], payload['preferred_username'], payload['name']];
  const label = names.find((name): name is string => typeof name === 'string' && /^\P{C}{1,254}$/u.test(name));
  return { issuer, subject, label: label ?? null };
}

function digestOf(token: string): string {
  return hash('sha256', token, 'base64');
}

function issuerOf(token: string): string | undefined {
  try {
    return decodeJwt(token).iss;
  } catch {
    // Not a JWT.
    return undefined;
  }
}

/** OpenID Connect Core, 2: at most 255 ASCII characters. */
export function isSubject(subject: string): boolean {
  return subject.length <= limits.idpSubjectCharsMax && /^[\x20-\x7e]+$/.test(subject);
}
