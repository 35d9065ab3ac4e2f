/** Holds records by path, and finds names that differ only in case or Unicode form, which the hub treats as one file. */
import { foldCase } from '../../../text/fold-case.ts';
import type { FolderPath } from '../folder/path.ts';

/** Finds names that differ only in spelling. */
export interface Names {
  readonly others: (name: string) => readonly FolderPath[];
}

export type ReadonlyNameMap<T> = ReadonlyMap<FolderPath, T> & Names;

export class NameMap<T> extends Map<FolderPath, T> implements Names {
  /** Names that are not their own folded form, by that form: most names are, and need no second place. */
  readonly #respelled = new Map<string, FolderPath[]>();

  constructor(records: Iterable<readonly [FolderPath, T]> = []) {
    super();
    for (const [path, record] of records) this.set(path, record);
  }

  override set(path: FolderPath, record: T): this {
    if (!this.has(path)) this.#note(path);
    return super.set(path, record);
  }

  override delete(path: FolderPath): boolean {
    if (!super.delete(path)) return false;
    const folded = foldCase(path);
    if (folded === path) return true;
    const rest = this.#respelled.get(folded)?.filter((other) => other !== path) ?? [];
    if (rest.length === 0) this.#respelled.delete(folded);
    else this.#respelled.set(folded, rest);
    return true;
  }

  override clear(): void {
    super.clear();
    this.#respelled.clear();
  }

  /** Names of other records that differ from this one only in spelling. */
  others(name: string): readonly FolderPath[] {
    const folded = foldCase(name);
    const found = (this.#respelled.get(folded) ?? []).filter((other) => other !== name);
    return folded !== name && this.has(folded as FolderPath) ? [folded as FolderPath, ...found] : found;
  }

  #note(path: FolderPath): void {
    const folded = foldCase(path);
    if (folded === path) return;
    const same = this.#respelled.get(folded);
    if (same === undefined) this.#respelled.set(folded, [path]);
    else same.push(path);
  }
}
