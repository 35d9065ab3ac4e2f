/** Owns what a resource is (MCP): declared once beside its capability, addressed by a URI, read by an agent like a file. */

import type { AnyTable } from '../../store/table.ts';

/** One resource in a list. */
export interface ResourceItem {
  readonly uri: string;
  readonly name: string;
  readonly mimeType?: string;
  /** Bytes of the content. */
  readonly size?: number;
}

interface ResourcePage {
  readonly items: readonly ResourceItem[];
  /** Where to go on; undefined: that was all. */
  readonly cursor: string | undefined;
}

/** What a resource holds: text, or bytes in base64. */
export type ResourceContent = { readonly mimeType: string } & ({ readonly text: string } | { readonly blob: string });

/** Values of the variables of a template, decoded. */
export type Variables = Readonly<Record<string, string>>;

/** All resources of one template. What one shows is what the tool of that thing shows. */
export interface ResourceKind {
  /** RFC 6570: `{name}` takes a segment, `{+name}` the rest; without a variable it is the only one of its kind. */
  readonly template: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType?: string;
  /** The tables whose rows say what a resource shows, and those that say which resources there are. */
  readonly madeFrom: readonly AnyTable[];
  readonly listedFrom: readonly AnyTable[];
  /** Whose rows those of a resource are (the first part of their keys), where it is not the account. */
  ownerOf?(variables: Variables): string | undefined;
  /** The same for the rows of lists: owners beside the account. */
  listOwners?(accountId: string): readonly string[];
  /** What a resource shows depends on the day as well. */
  readonly changesByDay?: true;
  /** The same text as long as the resource shows the same. Refuses what is not there. */
  mark(accountId: string, variables: Variables): string | Promise<string>;
  /** Refuses a cursor that it did not give. */
  list(accountId: string, cursor: string | undefined, limit: number): ResourcePage | Promise<ResourcePage>;
  /** Refuses what is not there. */
  read(accountId: string, variables: Variables): ResourceContent | Promise<ResourceContent>;
  /** Values of a variable that begin with `value`; `others` are the variables that are known already. */
  complete?(
    accountId: string,
    variable: string,
    value: string,
    others: Variables,
  ): readonly string[] | Promise<readonly string[]>;
}

/** Variables of a template, in order. */
export function variablesOf(template: string): string[] {
  return [...template.matchAll(/\{\+?([a-z]+)\}/g)].map(([, name = '']) => name);
}

/** The values with which a template gives a URI; undefined: it does not. */
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

/** Values that begin with `value`, in any case. */
export function beginningWith(values: readonly string[], value: string): string[] {
  const wanted = value.toLowerCase();
  return [...new Set(values)].filter((one) => one.toLowerCase().startsWith(wanted));
}
