/** Defines resources (MCP): declared by capabilities, addressed by URI, read by agents like files. */

import type { Variables } from '../../ids/uri.ts';
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
  /** Start of the next page; undefined after the last. */
  readonly cursor: string | undefined;
}

/** Content of a resource: text, or bytes in base64. */
export type ResourceContent = { readonly mimeType: string } & ({ readonly text: string } | { readonly blob: string });

/** All resources of one template. A resource has the same content as the tool that reads the same thing. */
export interface ResourceKind {
  /** RFC 6570: `{name}` matches a segment, `{+name}` the rest. Without a variable there is only one resource. */
  readonly template: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType?: string;
  /** `madeFrom`: tables with the contents of resources. `listedFrom`: tables with the list of resources. */
  readonly madeFrom: readonly AnyTable[];
  readonly listedFrom: readonly AnyTable[];
  /** The owner of a resource's rows (the first part of their keys), when it is not the account. */
  ownerOf?(variables: Variables): string | undefined;
  /** Owners of rows of the list, in addition to the account. */
  listOwners?(accountId: string): readonly string[];
  /** Today in the account, when the content depends on it. */
  todayOf?(accountId: string): string;
  /** A text that is the same while the content is the same. Throws a Refusal when the resource does not exist. */
  mark(accountId: string, variables: Variables): string | Promise<string>;
  /** A page of resources. Throws a Refusal for an invalid cursor. */
  list(accountId: string, cursor: string | undefined, limit: number): ResourcePage | Promise<ResourcePage>;
  /** The content of a resource. Throws a Refusal when it does not exist. */
  read(accountId: string, variables: Variables): ResourceContent | Promise<ResourceContent>;
  /** Values of a variable that begin with `value`; `others` are the variables already known. */
  complete?(
    accountId: string,
    variable: string,
    value: string,
    others: Variables,
  ): readonly string[] | Promise<readonly string[]>;
}

/** Values that begin with `value`, ignoring case and removing duplicates. */
export function beginningWith(values: readonly string[], value: string): string[] {
  const wanted = value.toLowerCase();
  return [...new Set(values)].filter((one) => one.toLowerCase().startsWith(wanted));
}
