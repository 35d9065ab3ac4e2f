/** Evaluates conditional and range requests against one strong ETag (RFC 9110, sections 13 and 14). Pure. */

export type RangeAnswer =
  | { readonly kind: 'whole' }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'part'; readonly start: number; readonly end: number }
  | { readonly kind: 'unsatisfiable' };

export interface RangeRequest {
  readonly ifNoneMatch: string | undefined;
  readonly ifRange: string | undefined;
  readonly range: string | undefined;
  /** Includes the quotes. */
  readonly etag: string;
  readonly bytesTotal: number;
}

/** Decides the answer to a GET. `end` is exclusive. Several ranges, or another unit, get the whole content. */
export function answerRange(request: RangeRequest): RangeAnswer {
  if (request.ifNoneMatch !== undefined && matchesAny(request.ifNoneMatch, request.etag)) return { kind: 'unchanged' };
  if (request.range === undefined) return { kind: 'whole' };
  // If-Range accepts one strong validator. A date or another tag does not match, so the whole content is sent.
  if (request.ifRange !== undefined && request.ifRange.trim() !== request.etag) return { kind: 'whole' };
  return readRange(request.range, request.bytesTotal);
}

/** If-None-Match compares weakly. */
function matchesAny(header: string, etag: string): boolean {
  if (header.trim() === '*') return true;
  return header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}

function readRange(header: string, bytesTotal: number): RangeAnswer {
  const match = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/i.exec(header);
  const [first = '', last = ''] = match?.slice(1) ?? [];
  if (match === null || (first === '' && last === '')) return { kind: 'whole' };
  if (first === '') {
    const suffix = Math.min(Number(last), bytesTotal);
    if (suffix === 0) return { kind: 'unsatisfiable' };
    return { kind: 'part', start: bytesTotal - suffix, end: bytesTotal };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return { kind: 'whole' };
  if (start >= bytesTotal) return { kind: 'unsatisfiable' };
  return { kind: 'part', start, end: last === '' ? bytesTotal : Math.min(Number(last) + 1, bytesTotal) };
}
