/** True for an object with named fields, such as `JSON.parse` returns: not null, not an array. Pure. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
