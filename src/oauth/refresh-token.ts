/**
 * Owns the form of refresh tokens: `crt_` and 72 base64url characters of sign-in id (12 bytes), secret (32) and tag (10).
 * The tag is keyed: it tells a token that this hub once issued from one that was made up, so that no list of used tokens
 * has to be kept to see a replay. The secret of each next token is derived from the token before it and a nonce (HMAC-
 * SHA256 under the master key): a lost answer can be given again although only hashes are stored, and whoever has the
 * data file and the master key, but no token, can derive none.
 */
import { timingSafeEqual } from 'node:crypto';
import type { Sealer } from '../store/sealing/seal.ts';

const PREFIX = 'crt_';
const ID_BYTES = 12;
const SECRET_BYTES = 32;
const TAG_BYTES = 10;
const SHAPE = /^crt_[A-Za-z0-9_-]{72}$/;

export const signInIdBytes = ID_BYTES;

/** A first token of a sign-in, from a fresh secret of 32 bytes. */
export function firstRefreshToken(sealer: Sealer, signInId: string, random: (bytes: number) => Uint8Array): string {
  return makeToken(sealer, signInId, random(SECRET_BYTES));
}

/** The token behind `token`: the same each time for one nonce. */
export function nextRefreshToken(sealer: Sealer, signInId: string, token: string, nonce: string): string {
  return makeToken(sealer, signInId, Buffer.from(sealer.keyedHash(`refresh-next ${nonce}`, token), 'hex'));
}

/** The sign-in of a token that this hub issued at some time; undefined: it issued no such token. */
export function signInOfToken(sealer: Sealer, token: string): string | undefined {
  if (!SHAPE.test(token)) return undefined;
  const bytes = Buffer.from(token.slice(PREFIX.length), 'base64url');
  const body = bytes.subarray(0, ID_BYTES + SECRET_BYTES);
  if (!timingSafeEqual(bytes.subarray(body.length), tagOf(sealer, body))) return undefined;
  return body.subarray(0, ID_BYTES).toString('hex');
}

/** What a token is kept as. */
export function refreshTokenHash(sealer: Sealer, token: string): string {
  return sealer.keyedHash('refresh-token', token);
}

function makeToken(sealer: Sealer, signInId: string, secret: Uint8Array): string {
  const body = Buffer.concat([Buffer.from(signInId, 'hex'), secret]);
  return PREFIX + Buffer.concat([body, tagOf(sealer, body)]).toString('base64url');
}

function tagOf(sealer: Sealer, body: Uint8Array): Buffer {
  return Buffer.from(sealer.keyedHash('refresh-tag', Buffer.from(body).toString('hex')), 'hex').subarray(0, TAG_BYTES);
}
