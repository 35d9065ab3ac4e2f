/** Refuses common passwords, and hashes and verifies the others with argon2id at OWASP's minimum (19 MiB, 2 passes, 1 lane), the library's default. */
import { hashSync, verifySync } from '@node-rs/argon2';
import { isCommonPassword } from '../src/accounts/sign-in/common-passwords.ts';
import type { PasswordInput, PasswordVerifyInput } from '../src/pool/jobs.ts';

/** Returns undefined for a common password. The list is loaded here, because loading it takes a while. */
export async function hashPassword({ password }: PasswordInput): Promise<string | undefined> {
  return (await isCommonPassword(password)) ? undefined : hashSync(password);
}

export function verifyPassword({ hash, password }: PasswordVerifyInput): boolean {
  return verifySync(hash, password);
}
