/** Matches and formats URIs by templates (RFC 6570): `{name}` is a segment, `{+name}` the rest. Pure. */

/** Values of the variables of a template, decoded. */
export type Variables = Readonly<Record<string, string>>;

/** Variables of a template, in order. */
export function variablesOf(template: string): string[] {
  return [...template.matchAll(/\{\+?([a-z]+)\}/g)].map(([, name = '']) => name);
}

/** The variables of a URI that matches a template; undefined when it does not match. */
export function matchTemplate(template: string, uri: string): Variables | undefined {
  const pattern = template
    .replace(/[.*?^$()[\]|\\]/g, '\\$&')
    .replace(/\{\+[a-z]+\}/g, '(.+)')
    .replace(/\{[a-z]+\}/g, '([^/]+)');
  const found = new RegExp(`^${pattern}$`, 'u').exec(uri);
  if (found === null) return undefined;
  try {
    return Object.fromEntries(
      variablesOf(template).map((name, index) => [name, decodeURIComponent(found[index + 1] ?? '')]),
    );
  } catch {
    return undefined;
  }
}

/** URIs of one sort, and what one of them names. */
export interface UriForm<P> {
  readonly templates: readonly string[];
  /** Undefined: the URI has the form, and names nothing of this sort. */
  readonly placeOf: (variables: Variables) => P | undefined;
}

/** What a URI names by the first of the forms that it has; undefined when it has none. */
export function placeOfUri<P>(forms: Iterable<UriForm<P>>, uri: string): P | undefined {
  for (const { templates, placeOf } of forms) {
    for (const template of templates) {
      const variables = matchTemplate(template, uri);
      const place = variables && placeOf(variables);
      if (place !== undefined) return place;
    }
  }
  return undefined;
}

/** A record number in a URI or a key; undefined when the text is none. */
export function numberOf(text: string | undefined): number | undefined {
  const id = /^[1-9][0-9]{0,15}$/.test(text ?? '') ? Number(text) : Number.NaN;
  return Number.isSafeInteger(id) ? id : undefined;
}
