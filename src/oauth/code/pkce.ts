/** Checks proof keys for code exchange (PKCE, RFC 7636), method S256 only. Pure. */
import { hash, timingSafeEqual } from 'node:crypto';

const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

/** True for text in the form of an S256 challenge. */
export function isChallenge(text: string): boolean {
  return CHALLENGE.test(text);
}

/** True for text in the form required by section 4.1. */
export function isVerifier(text: string): boolean {
  return VERIFIER.test(text);
}

/** True when the challenge was derived from this verifier; compared in constant time. */
export function isProved(challenge: string, verifier: string): boolean {
  const made = Buffer.from(hash('sha256', verifier, 'base64url'));
  const expected = Buffer.from(challenge);
  return made.length === expected.length && timingSafeEqual(made, expected);
}
