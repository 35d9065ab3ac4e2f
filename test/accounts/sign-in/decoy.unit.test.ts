/** The hash that is verified for an unknown email. */
import { hashSync, verifySync } from '@node-rs/argon2';
import { expect, test } from 'vitest';
import { decoyHash } from '../../../src/accounts/password.ts';
import { PASSWORD_COST } from '../../../src/accounts/password-cost.ts';

test('[KEY-7] an unknown email is verified against a hash of the form and cost of a real one, which no password has', () => {
  const formOf = (hash: string) => hash.replace(/[^$]+\$[^$]+$/, '').concat(String(hash.length));
  expect(formOf(decoyHash())).toBe(formOf(hashSync('a password', PASSWORD_COST)));
  expect(verifySync(decoyHash(), 'a password')).toBe(false);
  expect(decoyHash()).not.toBe(decoyHash());
});
