/** Damages single rows of a data file as a rotten bit does: one bit of one stored value becomes another, in any table. */
import { allTables } from '../../src/compose/tables.ts';
import { checkIntegrity, type IntegrityReport } from '../../src/compose/verify.ts';
import { bytesCodec } from '../../src/store/codec.ts';
import { UPGRADE } from '../../src/store/owners.ts';
import { loadMasterKey } from '../../src/store/sealing/master-key.ts';
import { openSealer } from '../../src/store/sealing/own-key.ts';
import { Store } from '../../src/store/store.ts';
import { type AnyTable, defineUnsummedTable, type Key } from '../../src/store/table.ts';

interface RowFlip {
  readonly table: string;
  readonly key: Key;
  readonly bit: number;
}

export type Flipped = RowFlip & { readonly undo: () => Promise<void> };

export class RowFlips {
  readonly store: Store;
  readonly #sealer: ReturnType<typeof openSealer>;
  /** The tables that have rows, as bytes. */
  readonly #tables: readonly { readonly raw: AnyTable; readonly keys: readonly Key[] }[];

  /** `dataFolder`: of a hub that has been stopped. */
  constructor(dataFolder: string) {
    this.store = new Store({ folder: dataFolder, tables: allTables });
    this.#sealer = openSealer(this.store, loadMasterKey(dataFolder, undefined));
    this.#tables = allTables
      .map(({ name, owners }) => defineUnsummedTable(name, bytesCodec, owners))
      .map((raw) => ({ raw, keys: [...this.store.keys(raw)] }))
      .filter(({ keys }) => keys.length > 0);
  }

  get tableNames(): readonly string[] {
    return this.#tables.map(({ raw }) => raw.name);
  }

  verify(): IntegrityReport {
    return checkIntegrity(this.store, this.#sealer, []);
  }

  /**
   * One row of each table after another, under a key of which one part is of another kind: so a flipped bit leaves the byte
   * that tells the kind. `look` sees each and then it is as before.
   */
  async misplaceEach(look: (where: string) => void): Promise<void> {
    for (const { raw, keys } of this.#tables) {
      const key = keys.at(-1) as Key;
      const bytes = Uint8Array.from(this.store.get(raw, key) as Uint8Array);
      for (const at of key.keys()) {
        for (const kind of [Symbol.for('x'), null]) {
          const wrong = key.with(at, kind as unknown as string);
          await this.store.write(UPGRADE, (batch) => {
            batch.remove(raw, key);
            batch.put(raw, wrong, bytes);
          });
          look(`${raw.name} ${at} ${String(kind)}`);
          await this.store.write(UPGRADE, (batch) => {
            batch.remove(raw, wrong);
            batch.put(raw, key, bytes);
          });
        }
      }
    }
  }

  /**
   * Each table is as likely as another, then each of its rows, then each bit `from` … `to`. Undefined for an empty row.
   * `table`: in this one.
   */
  async flip(
    random: () => number,
    { table, from = 0, to }: { readonly table?: string; readonly from?: number; readonly to?: number } = {},
  ): Promise<Flipped | undefined> {
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
    const { raw, keys } = pick(this.#tables.filter(({ raw: { name } }) => table === undefined || name === table));
    const key = pick(keys);
    const before = Uint8Array.from(this.store.get(raw, key) as Uint8Array);
    if (before.length === 0) return undefined;
    const bit = from + Math.floor(random() * ((to ?? before.length * 8) - from));
    const after = Uint8Array.from(before);
    after[bit >> 3] = (after[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    const put = (bytes: Uint8Array) => this.store.write(UPGRADE, (batch) => batch.put(raw, key, bytes));
    await put(after);
    return { table: raw.name, key, bit, undo: () => put(before) };
  }
}
