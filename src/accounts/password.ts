/** Checks the password rules, and hashes passwords off the main thread (argon2id, RFC 9106). */
import { invalidField } from '../common/fault.ts';
import type { Caller } from '../common/shares.ts';
import { limits } from '../limits/service.ts';
import type { Pool } from '../pool/pool.ts';

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

export class Passwords {
  readonly #pool: Pool;
  readonly #rule: PasswordRule;
  /** Hash of a random password, verified for an unknown email so that it takes as long as a known one. */
  #decoy: Promise<string> | undefined;

  constructor(pool: Pool, rule: PasswordRule) {
    this.#pool = pool;
    this.#rule = rule;
    // If the pool cannot hash, the first sign-in reports it.
    this.#decoyHash().catch(() => undefined);
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
    return await this.#hash(password, breachedPasswords, caller);
  }

  async #hash(password: string, breachedFile: string | undefined, caller: Caller | undefined): Promise<string> {
    const hashed = await this.#pool.run('hashPassword', { password, breachedFile }, caller);
    if (hashed.ok) return hashed.hash;
    throw invalidField('password', REFUSED[hashed.why]);
  }

  /** True when the password matches the hash. Without a hash it takes as long and resolves with false. */
  async verify(hash: string | undefined, password: string, caller?: Caller): Promise<boolean> {
    if (Buffer.byteLength(password) > limits.passwordBytesMax) return false;
    const input = { hash: hash ?? (await this.#decoyHash()), password };
    const matches = await this.#pool.run('verifyPassword', input, caller);
    return matches && hash !== undefined;
  }

  /** Computed once; computed again when its worker thread died. */
  #decoyHash(): Promise<string> {
    this.#decoy ??= this.#hash(crypto.randomUUID(), undefined, undefined).catch((error: unknown) => {
      this.#decoy = undefined;
      throw error;
    });
    return this.#decoy;
  }
}
