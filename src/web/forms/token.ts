/** Creates and checks the token of forms: it names the browser it was made for and, on a member's page, the account. */
import { timingSafeEqual } from 'node:crypto';

type KeyedHash = (purpose: string, value: string) => string;

/** Hex digits of the account's tag: 128 bits. */
const OWNER_HEX = 32;

/** The token of the forms on one page. It contains the account id unencrypted, on a page shown only to that account. */
export function formToken(keyedHash: KeyedHash, browserId: string, accountId?: string): string {
  const browser = keyedHash('form-token', browserId);
  return accountId === undefined ? browser : `${browser}.${accountId}.${ownerTag(keyedHash, browser, accountId)}`;
}

/** The account a token was made for, in any of its sessions; undefined: this hub made no such token for a member. */
export function ownerOfToken(keyedHash: KeyedHash, token: string): string | undefined {
  const [browser = '', accountId = '', tag = '', ...rest] = token.split('.');
  if (accountId === '' || rest.length > 0) return undefined;
  return isSameToken(tag, ownerTag(keyedHash, browser, accountId)) ? accountId : undefined;
}

/** Compares in constant time. */
export function isSameToken(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function ownerTag(keyedHash: KeyedHash, browser: string, accountId: string): string {
  return keyedHash('form-owner', `${browser} ${accountId}`).slice(0, OWNER_HEX);
}
