/**
 * Creates and checks the token of forms: it names the browser it was made for and, on a member's page, the account. Each
 * rendered page masks it in another way, so that the lengths of compressed pages tell nothing of it (BREACH), and so that each page
 * has a number of its own.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';

type KeyedHash = (purpose: string, value: string) => string;

/** Hex digits of the browser's name and of the account's tag: 128 bits each. */
const PART_HEX = 32;

/** The token of the forms on one page. It contains the account id unencrypted, on a page shown only to that account. */
export function formToken(keyedHash: KeyedHash, browserId: string, accountId?: string): string {
  const browser = keyedHash('form-token', browserId).slice(0, PART_HEX);
  return accountId === undefined ? browser : `${browser}.${accountId}.${ownerTag(keyedHash, browser, accountId)}`;
}

/** The account a token was made for, in any of its sessions; undefined: this hub made no such token for a member. */
export function ownerOfToken(keyedHash: KeyedHash, token: string): string | undefined {
  const [browser = '', accountId = '', tag = '', ...rest] = token.split('.');
  if (accountId === '' || rest.length > 0) return undefined;
  return isSameToken(tag, ownerTag(keyedHash, browser, accountId)) ? accountId : undefined;
}

/** The field of a form: a random pad, and the token combined with it by XOR. It is different each time. */
export function masked(token: string): string {
  const plain = Buffer.from(token);
  const pad = randomBytes(plain.length);
  return Buffer.concat([pad, xor(plain, pad)]).toString('base64url');
}

/** The token in a field; without meaning if this hub did not make the field. */
export function unmasked(field: string): string {
  const bytes = Buffer.from(field, 'base64url');
  const middle = bytes.length >> 1;
  return bytes.length % 2 === 0 ? xor(bytes.subarray(middle), bytes.subarray(0, middle)).toString() : '';
}

function xor(bytes: Uint8Array, pad: Uint8Array): Buffer {
  return Buffer.from(bytes.map((byte, at) => byte ^ (pad[at] ?? 0)));
}

/** Compares in constant time. */
export function isSameToken(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function ownerTag(keyedHash: KeyedHash, browser: string, accountId: string): string {
  return keyedHash('form-owner', `${browser} ${accountId}`).slice(0, PART_HEX);
}
