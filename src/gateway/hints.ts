/**
 * Hints in `_meta` of a listed tool, for clients that read them: Claude Code (2.1.91 and later). Others ignore unknown
 * members, as the protocol asks, and models see none of them.
 */
export interface ClientHints {
  /**
   * Words that people use for what the tool does. A client that loads tools when they are needed finds them by these,
   * instead of the description.
   */
  readonly search?: string;
  /** Never deferred: a session begins with this tool. */
  readonly alwaysLoad?: true;
  /** Characters of its longest result, when that is more than clients show by default (50,000). */
  readonly resultCharsMax?: number;
}

/** The members of `_meta`. */
export function metaOf({ search, alwaysLoad, resultCharsMax }: ClientHints): Record<string, unknown> {
  return {
    ...(search === undefined ? {} : { 'anthropic/searchHint': search }),
    ...(alwaysLoad === undefined ? {} : { 'anthropic/alwaysLoad': alwaysLoad }),
    ...(resultCharsMax === undefined ? {} : { 'anthropic/maxResultSizeChars': resultCharsMax }),
  };
}
