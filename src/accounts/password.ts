/** Checks the password rules, and hashes passwords off the main thread (argon2id, RFC 9106). */
import { invalidField } from '../common/fault.ts';
import type { Caller } from '../common/shares.ts';
import { limits } from '../limits/service.ts';
import type { Pool } from '../pool/pool.ts';

export class Passwords {
  readonly #pool: Pool;
  /** Hash of a random password, verified for an unknown email so that it takes as long as a known one. */
  #decoy: Promise<string> | undefined;

  constructor(pool: Pool) {
    this.#pool = pool;
    // If the pool cannot hash, the first sign-in reports it.
    this.#decoyHash().catch(() => undefined);
  }

  /** Resolves with the encoded hash (parameters, salt). Throws Refusal for a password too short, too long or common. */
  async hash(password: string, caller?: Caller): Promise<string> {
    const bytes = Buffer.byteLength(password);
    if (bytes < limits.passwordBytesMin || bytes > limits.passwordBytesMax) {
      throw invalidField(
        'password',
        `password must have ${limits.passwordBytesMin} to ${limits.passwordBytesMax} bytes, this one has ${bytes}`,
      );
    }
    const hash = await this.#pool.run('hashPassword', { password }, caller);
    if (hash === undefined) {
      throw invalidField('password', 'this is one of the most common passwords; choose another');
    }
    return hash;
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
    this.#decoy ??= this.hash(crypto.randomUUID()).catch((error: unknown) => {
      this.#decoy = undefined;
      throw error;
    });
    return this.#decoy;
  }
}
