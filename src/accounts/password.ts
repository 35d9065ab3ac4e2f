/** Checks the password rules, and hashes passwords off the main thread (argon2id, RFC 9106). */
import { randomBytes } from 'node:crypto';
import { invalidField } from '../common/fault.ts';
import type { Caller } from '../common/shares.ts';
import { limits } from '../limits/service.ts';
import type { Pool } from '../pool/pool.ts';
import { PASSWORD_COST } from './password-cost.ts';

const REFUSED = {
  common: 'this is one of the most common passwords; choose another',
  breached: 'this password is in a list of passwords from data breaches, where attackers try it first; choose another',
} as const;

/** What the operator asks of new passwords. */
export interface PasswordRule {
  readonly passwordBytesMin: number;
  /** A file of breached passwords, which are refused; undefined: none. */
  readonly breachedPasswords: string | undefined;
}

const SALT_BYTES = 16;

/** A hash that no password has, so that verifying one for an unknown email takes as long as for a known one. */
export function decoyHash(): string {
  const { memoryCost, timeCost, parallelism, outputLen } = PASSWORD_COST;
  const [salt, hash] = [SALT_BYTES, outputLen].map((bytes) => randomBytes(bytes).toString('base64').replace(/=+$/, ''));
  return `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$${salt}$${hash}`;
}

export class Passwords {
  readonly #pool: Pool;
  readonly #rule: PasswordRule;
  readonly #decoy = decoyHash();

  constructor(pool: Pool, rule: PasswordRule) {
    this.#pool = pool;
    this.#rule = rule;
  }

  /** Resolves with the encoded hash (parameters, salt). Throws Refusal for a password too short, too long, common or breached. */
  async hash(password: string, caller?: Caller): Promise<string> {
    const bytes = Buffer.byteLength(password);
    const { passwordBytesMin, breachedPasswords } = this.#rule;
    if (bytes < passwordBytesMin || bytes > limits.passwordBytesMax) {
      throw invalidField(
        'password',
        `password must have ${passwordBytesMin} to ${limits.passwordBytesMax} bytes, this one has ${bytes}`,
      );
    }
    const hashed = await this.#pool.run('hashPassword', { password, breachedFile: breachedPasswords }, caller);
    if (hashed.ok) return hashed.hash;
    throw invalidField('password', REFUSED[hashed.why]);
  }

  /** True when the password matches the hash. Without a hash it takes as long and resolves with false. */
  async verify(hash: string | undefined, password: string, caller?: Caller): Promise<boolean> {
    if (Buffer.byteLength(password) > limits.passwordBytesMax) return false;
    const matches = await this.#pool.run('verifyPassword', { hash: hash ?? this.#decoy, password }, caller);
    return matches && hash !== undefined;
  }
}
