/**
 * Caches what credentials grant, so that the same credential is not verified and looked up for each request. The table
 * of a kind of credentials is the source of truth: when one of its rows changes, everything is looked up again.
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

  /** `tables`: every table that a look-up reads. */
  constructor(store: Pick<Store, 'revision'>, tables: readonly AnyTable[]) {
    this.#store = store;
    this.#tables = tables;
  }

  /**
   * Returns what a credential grants, from the cache or else by `lookUp`. Stored by a digest; the secret itself is not
   * stored.
   */
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
