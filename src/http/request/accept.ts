/** Decides how an Accept header rates one media type (RFC 9110, section 12.5.1). Pure. */

/** Named explicitly; covered by a range or by a missing header; or not acceptable. */
export type Acceptance = 'named' | 'allowed' | 'refused';

/** `type` is lower case, without parameters. Parsed leniently: invalid media ranges are ignored. */
export function acceptance(header: string | undefined, type: string): Acceptance {
  if (header === undefined || header.trim() === '') return 'allowed';
  // Fast path: most headers contain neither the type nor a range covering it.
  if (!header.includes('*') && !header.toLowerCase().includes(type)) return 'refused';
  const weights = new Map(header.split(',').map(readRange));
  const own = weights.get(type);
  if (own !== undefined) return own > 0 ? 'named' : 'refused';
  // The more specific range takes precedence.
  const range = weights.get(type.replace(/\/.*$/, '/*')) ?? weights.get('*/*') ?? 0;
  return range > 0 ? 'allowed' : 'refused';
}

function readRange(text: string): [range: string, weight: number] {
  const [range = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const weight = parameters.map((parameter) => /^q\s*=\s*([01](\.\d{0,3})?)$/.exec(parameter)?.[1]).find(Boolean);
  return [range, weight === undefined ? 1 : Number(weight)];
}
