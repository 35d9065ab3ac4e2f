/** Puts large values of commits beside the log before the record that names them, several at a time. */
import { FairPlaces } from '../../common/fair/fair-places.ts';
import { limits } from '../../limits/service.ts';
import type { RowPart } from '../rows.ts';

/** A row with a large value. */
export interface LargeRowName {
  readonly table: string;
  readonly key: Uint8Array;
}

export interface PartsAheadOptions {
  /** Keeps bytes beside the log. */
  readonly putPart: (bytes: Uint8Array) => Promise<RowPart>;
  /** A copy of the stored bytes of a row; undefined: a later commit has removed it. */
  readonly bytesOf: (table: string, key: Uint8Array) => Uint8Array | undefined;
}

export class PartsAhead {
  readonly #options: PartsAheadOptions;
  /** By the number of the commit, then by row. */
  readonly #parts = new Map<number, Map<string, RowPart>>();
  readonly #places = new FairPlaces(limits.logPartsAtOnce);

  constructor(options: PartsAheadOptions) {
    this.#options = options;
  }

  /** Resolves when the log has these values of a commit. Reads each only when it is sent. */
  async put(commit: number, rows: readonly LargeRowName[]): Promise<void> {
    const parts = new Map<string, RowPart>();
    this.#parts.set(commit, parts);
    await Promise.all(
      rows.map(({ table, key }) =>
        // One caller for all commits, so values are sent in order.
        this.#places.run('', async () => {
          const bytes = this.#options.bytesOf(table, key);
          if (bytes !== undefined) parts.set(nameOf(table, key), await this.#options.putPart(bytes));
        }),
      ),
    );
  }

  /** The part that has a value of a commit. */
  find(commit: number, table: string, key: Uint8Array): RowPart | undefined {
    return this.#parts.get(commit)?.get(nameOf(table, key));
  }

  /** Forgets a commit that the log has. */
  forget(commit: number): void {
    this.#parts.delete(commit);
  }
}

const nameOf = (table: string, key: Uint8Array): string => `${table} ${Buffer.from(key).toString('latin1')}`;
