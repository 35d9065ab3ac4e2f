/** Decides which copies of earlier saves make room for another one, where they may not all be kept. */

export interface HeldSave {
  readonly path: string;
  readonly bytes: number;
}

export interface SavesRoom {
  /** Bytes of all copies together, at most. */
  readonly all: number;
  /** Of them, bytes of copies that are not small, at most. */
  readonly large: number;
  /** The bytes of the largest copy that counts as small. */
  readonly small: number;
}

/**
 * Returns the names of the copies to give up, so that a copy of `next` fits; undefined: nothing makes room for it. `held`: the
 * copies by name, oldest first. The first and the last copy of each file stay. Of those between, the largest go first, and a
 * small one only for another small one.
 */
export function madeRoomFor(
  next: HeldSave,
  held: ReadonlyMap<string, HeldSave>,
  room: SavesRoom,
): readonly string[] | undefined {
  const isLarge = ({ bytes }: HeldSave) => bytes > room.small;
  const sum = (those: readonly HeldSave[]) => those.reduce((bytes, one) => bytes + one.bytes, 0);
  const all = [...held.values(), next];
  let [over, overLarge] = [sum(all) - room.all, isLarge(next) ? sum(all.filter(isLarge)) - room.large : 0];
  if (over <= 0 && overLarge <= 0) return [];
  const between = betweenOf(next.path, held)
    .filter(([, one]) => isLarge(one) || !isLarge(next))
    .sort(([, one], [, other]) => other.bytes - one.bytes);
  const given: string[] = [];
  for (const [name, { bytes }] of between) {
    if (over <= 0 && overLarge <= 0) break;
    given.push(name);
    over -= bytes;
    overLarge -= bytes;
  }
  return over <= 0 && overLarge <= 0 ? given : undefined;
}

/** The copies that are neither the first of their file nor the last one, once `added` has another copy. */
function betweenOf(added: string, held: ReadonlyMap<string, HeldSave>): [string, HeldSave][] {
  const [first, last] = [new Map<string, string>(), new Map<string, string>()];
  for (const [name, { path }] of held) {
    if (!first.has(path)) first.set(path, name);
    if (path !== added) last.set(path, name);
  }
  return [...held].filter(([name, { path }]) => first.get(path) !== name && last.get(path) !== name);
}
