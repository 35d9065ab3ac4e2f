/** Formats what the tools for models answer. Pure. */

/** `12 bytes`, `3.4 KB`, `1.2 MB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** `2026-11-20T20:18:57.123Z` becomes `2026-11-20T20:18Z`, which costs a model less. */
export function minute(instant: string): string {
  return `${instant.slice(0, 16)}Z`;
}
