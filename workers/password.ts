/** Refuses common and breached passwords, and hashes and verifies the others with argon2id. */
import { hashSync, verifySync } from '@node-rs/argon2';
import { PASSWORD_COST } from '../src/accounts/password-cost.ts';
import { isBreached } from '../src/accounts/sign-in/breached-passwords.ts';
import { isCommonPassword } from '../src/accounts/sign-in/common-passwords.ts';
import type { HashedPassword, NewPasswordInput, PasswordVerifyInput } from '../src/pool/jobs.ts';

/** The list of common passwords is loaded here, because loading it takes a while. */
export async function hashPassword({ password, breachedFile }: NewPasswordInput): Promise<HashedPassword> {
  if (await isCommonPassword(password)) return { ok: false, why: 'common' };
  if (breachedFile !== undefined && isBreached(breachedFile, password)) return { ok: false, why: 'breached' };
  return { ok: true, hash: hashSync(password, PASSWORD_COST) };
}

export function verifyPassword({ hash, password }: PasswordVerifyInput): boolean {
  return verifySync(hash, password);
}
