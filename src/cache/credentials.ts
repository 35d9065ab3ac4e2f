/**
 * Owns what credentials were found to open, so that the same one is not hashed and looked up for each request. The table of
 * a kind of credentials is the truth: when a row of it changes, all that was found in it is looked up anew.
 */
import { hash } from 'node:crypto';
import { limits } from '../limits/service.ts';
import type { Store } from '../store/store.ts';
import type { AnyTable } from '../store/table.ts';
import { Remembered } from './lru.ts';

export class KnownCredentials<Found> {
  readonly #store: Pick<Store, 'revision'>;
  readonly #tables: readonly AnyTable[];
  readonly #found = new Remembered<Found>(limits.credentialsRememberedMax);

  /** `tables`: all that a look-up reads. */
  constructor(store: Pick<Store, 'revision'>, tables: readonly AnyTable[]) {
    this.#store = store;
    this.#tables = tables;
  }

  /** What a presented credential opens, by `lookUp` unless it is known. Kept by a digest: a secret itself is not. */
  find(presented: string, lookUp: () => Found | undefined): Found | undefined {
    const revision = this.#store.revision(this.#tables);
    if (revision === undefined) return lookUp();
    const digest = hash('sha256', presented, 'base64');
    const known = this.#found.get(digest, revision);
    if (known !== undefined) return known;
    const found = lookUp();
    if (found !== undefined) this.#found.set(digest, revision, found, 1);
    return found;
  }
}
