/** Returns the value of a key, which is made, and stays in the map, when there is none. */
export function memo<K, V extends object | string>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** A map, made without a new function for each call of `memo`. */
export const newMap = <K, V>(): Map<K, V> => new Map();
