/** Hashes and verifies passwords with argon2id at OWASP's minimum (19 MiB, 2 passes, 1 lane), the library's default. */
import { hashSync, verifySync } from '@node-rs/argon2';
import type { PasswordInput, PasswordVerifyInput } from '../src/pool/jobs.ts';

export function hashPassword({ password }: PasswordInput): string {
  return hashSync(password);
}

export function verifyPassword({ hash, password }: PasswordVerifyInput): boolean {
  return verifySync(hash, password);
}
