/**
 * Encodes and checks refresh tokens: `crt_` and 72 base64url characters of sign-in id (12 bytes), secret (32) and tag
 * (10). The tag is keyed: it distinguishes a token issued by this hub from an invented one, so replays are detected
 * without a list of used tokens. The secret of each next token is derived from the token before it and a nonce
 * (HMAC-SHA256 under the master key): a lost response can be repeated although only hashes are stored. The data file
 * and the master key alone, without a token, are not enough to derive one.
 */
import { timingSafeEqual } from 'node:crypto';
import type { Sealer } from '../store/sealing/seal.ts';

const PREFIX = 'crt_';
const ID_BYTES = 12;
const SECRET_BYTES = 32;
const TAG_BYTES = 10;
const SHAPE = /^crt_[A-Za-z0-9_-]{72}$/;

export const signInIdBytes = ID_BYTES;

/** Returns the first token of a sign-in, from a random secret of 32 bytes. */
export function firstRefreshToken(sealer: Sealer, signInId: string, random: (bytes: number) => Uint8Array): string {
  return makeToken(sealer, signInId, random(SECRET_BYTES));
}

/** Returns the token that follows `token`: always the same for one nonce. */
export function nextRefreshToken(sealer: Sealer, signInId: string, token: string, nonce: string): string {
  return makeToken(sealer, signInId, Buffer.from(sealer.keyedHash(`refresh-next ${nonce}`, token), 'hex'));
}

/** Returns the sign-in id of a token issued by this hub at any time; undefined: not issued here. */
export function signInOfToken(sealer: Sealer, token: string): string | undefined {
  if (!SHAPE.test(token)) return undefined;
  const bytes = Buffer.from(token.slice(PREFIX.length), 'base64url');
  const body = bytes.subarray(0, ID_BYTES + SECRET_BYTES);
  if (!timingSafeEqual(bytes.subarray(body.length), tagOf(sealer, body))) return undefined;
  return body.subarray(0, ID_BYTES).toString('hex');
}

/** Returns the stored form of a token. */
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
