/** Answers `resources/*`, `prompts/*` and `completion/complete`. Read-only. */
import { type Fault, Refusal } from '../../common/fault.ts';
import type { Principal } from '../../common/principal.ts';
import { matchTemplate, type Variables, variablesOf } from '../../ids/uri.ts';
import { limits } from '../../limits/service.ts';
import { INVALID_PARAMS, RESOURCE_NOT_FOUND, rpcError } from '../codes.ts';
import type { Dialect } from '../dialect.ts';
import type { RpcError } from '../envelope.ts';
import type { PromptItem, PromptKind } from './prompt.ts';
import type { ResourceItem, ResourceKind } from './resource.ts';

export interface OffersOptions {
  readonly resources: readonly ResourceKind[];
  readonly prompts: readonly PromptKind[];
}

/** An answer: the members of the result, and whether they are the same for every account. */
export type Offered =
  | { readonly ok: true; readonly value: object; readonly cache: 'public' | 'private' | undefined }
  | { readonly ok: false; readonly error: RpcError; readonly status: 200 | 401 };

type Params = Readonly<Record<string, unknown>>;

export const OFFER_METHODS: readonly string[] = [
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'prompts/list',
  'prompts/get',
  'completion/complete',
];

export class Offers {
  readonly #resources: readonly ResourceKind[];
  readonly #prompts: readonly PromptKind[];
  readonly #templates: readonly object[];

  constructor({ resources, prompts }: OffersOptions) {
    this.#resources = resources;
    this.#prompts = prompts;
    this.#templates = resources
      .filter(({ template }) => variablesOf(template).length > 0)
      .map(({ template, name, title, description, mimeType }) => ({
        uriTemplate: template,
        name,
        title,
        description,
        ...(mimeType === undefined ? {} : { mimeType }),
      }));
  }

  /** Answers a method. Without a credential lists are empty, so a client can connect and sign up; the rest is a 401. */
  async answer(method: string, params: Params, principal: Principal | undefined, dialect: Dialect): Promise<Offered> {
    if (method === 'resources/templates/list') return given({ resourceTemplates: this.#templates }, 'public');
    try {
      if (principal === undefined) return anonymous(method);
      return await this.#answer(method, params, principal.accountId, dialect);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { ok: false, error: rpcError(error.fault), status: error.fault.kind === 'unauthenticated' ? 401 : 200 };
    }
  }

  async #answer(method: string, params: Params, accountId: string, dialect: Dialect): Promise<Offered> {
    switch (method) {
      case 'resources/list':
        return await this.#listResources(accountId, params['cursor']);
      case 'resources/read':
        return await this.#read(accountId, params['uri'], dialect);
      case 'prompts/list':
        return await this.#listPrompts(accountId, params['cursor']);
      case 'prompts/get':
        return await this.#prompt(accountId, params['name'], params['arguments']);
      default:
        return await this.#complete(accountId, params);
    }
  }

  /** Lists one kind after another, so that a page reads only the resources it returns. */
  async #listResources(accountId: string, asked: unknown): Promise<Offered> {
    const from = asked === undefined || asked === null ? { kind: 0, inner: undefined } : readCursor(asked);
    if (from === undefined || from.kind >= this.#resources.length) return wrongCursor();
    const resources: ResourceItem[] = [];
    let { kind, inner } = from;
    while (kind < this.#resources.length && resources.length < limits.resourcesPage) {
      const page = await this.#resources[kind]?.list(accountId, inner, limits.resourcesPage - resources.length);
      resources.push(...(page?.items ?? []));
      inner = page?.cursor;
      if (inner === undefined) kind += 1;
    }
    const isLast = kind >= this.#resources.length;
    return given({ resources, ...(isLast ? {} : { nextCursor: formatCursor(kind, inner) }) }, 'private');
  }

  async #read(accountId: string, uri: unknown, dialect: Dialect): Promise<Offered> {
    if (typeof uri !== 'string') return wrong('uri', 'uri is required: one of resources/list, or made of a template');
    const unknown = (): Offered => ({ ok: false, error: noResource(uri, dialect), status: 200 });
    for (const kind of this.#resources) {
      const variables = matchTemplate(kind.template, uri);
      if (variables === undefined) continue;
      try {
        return given({ contents: [{ uri, ...(await kind.read(accountId, variables)) }] }, 'private');
      } catch (error) {
        if (error instanceof Refusal && isAbsent(error.fault)) return unknown();
        throw error;
      }
    }
    return unknown();
  }

  async #listPrompts(accountId: string, cursor: unknown): Promise<Offered> {
    if (cursor !== undefined && cursor !== null) return wrongCursor();
    return given({ prompts: (await this.#allPrompts(accountId)).map(({ item }) => item) }, 'private');
  }

  async #prompt(accountId: string, name: unknown, args: unknown): Promise<Offered> {
    const found = (await this.#allPrompts(accountId)).find(({ item }) => item.name === name);
    if (found === undefined) return wrong('name', 'name is no prompt of this account; see prompts/list');
    const values = stringsOf(args);
    const missing = found.item.arguments.find((one) => one.required && (values[one.name] ?? '') === '');
    if (missing !== undefined) return wrong(missing.name, `the argument ${missing.name} is required`);
    const text = await found.kind.text(accountId, found.item.name, values);
    const messages = [{ role: 'user', content: { type: 'text', text } }];
    return given({ description: found.item.description, messages }, undefined);
  }

  async #allPrompts(accountId: string): Promise<{ readonly kind: PromptKind; readonly item: PromptItem }[]> {
    const lists = await Promise.all(
      this.#prompts.map(async (kind) => (await kind.list(accountId)).map((item) => ({ kind, item }))),
    );
    return lists.flat();
  }

  async #complete(accountId: string, { ref, argument, context }: Params): Promise<Offered> {
    const { type, uri, name } = stringsOf(ref);
    const { name: variable, value = '' } = stringsOf(argument);
    if (variable === undefined) return wrong('argument', 'argument needs the name of what to complete, and its value');
    const others = stringsOf((context as Params | undefined)?.['arguments']);
    if (type === 'ref/resource') {
      const kind = this.#resources.find(({ template }) => template === uri);
      if (kind === undefined) return wrong('ref', 'ref.uri is no template of resources/templates/list');
      return completion((await kind.complete?.(accountId, variable, value, others)) ?? []);
    }
    if (type !== 'ref/prompt') return wrong('ref', 'ref.type must be ref/resource or ref/prompt');
    const found = (await this.#allPrompts(accountId)).find(({ item }) => item.name === name);
    if (found === undefined) return wrong('ref', 'ref.name is no prompt of this account; see prompts/list');
    return completion(found.kind.complete?.(accountId, variable, value, others) ?? []);
  }
}

function anonymous(method: string): Offered {
  if (method === 'resources/list') return given({ resources: [] }, 'private');
  if (method === 'prompts/list') return given({ prompts: [] }, 'private');
  throw needsKey(method);
}

function given(value: object, cache: 'public' | 'private' | undefined): Offered {
  return { ok: true, value, cache };
}

function wrong(field: string, message: string): Offered {
  return { ok: false, error: { code: INVALID_PARAMS, message, data: { field } }, status: 200 };
}

function wrongCursor(): Offered {
  return wrong('cursor', 'cursor must come from an earlier answer of this list; omit it for the first page');
}

/** The error for an unknown resource: invalid params in revision 2026-07-28, a separate code in earlier revisions. */
export function noResource(given: unknown, dialect: Dialect): RpcError {
  const uri = String(given).slice(0, limits.resourceUriShownMax);
  const code = dialect === 'modern' ? INVALID_PARAMS : RESOURCE_NOT_FOUND;
  return { code, message: `there is no resource ${uri}; see resources/list`, data: { uri } };
}

/** The Refusal `unauthenticated` for a method that needs an account. */
export function needsKey(method: string): Refusal {
  const detail = `${method} needs a key: send Authorization: McpKey <MCP key>`;
  return new Refusal({ kind: 'unauthenticated', scheme: 'McpKey', detail });
}

function isAbsent({ kind }: Fault): boolean {
  return kind === 'not_found' || kind === 'path_not_found' || kind === 'invalid_fields';
}

function completion(values: readonly string[]): Offered {
  const shown = values.slice(0, limits.completionsMax);
  return given(
    { completion: { values: shown, total: values.length, hasMore: shown.length < values.length } },
    undefined,
  );
}

function stringsOf(value: unknown): Variables {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

function formatCursor(kind: number, inner: string | undefined): string {
  return Buffer.from(JSON.stringify([kind, inner ?? null])).toString('base64url');
}

function readCursor(cursor: unknown): { readonly kind: number; readonly inner: string | undefined } | undefined {
  if (typeof cursor !== 'string' || cursor.length > limits.listCursorCharsMax) return undefined;
  try {
    const [kind, inner] = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')) as unknown[];
    if (!Number.isInteger(kind) || (kind as number) < 0) return undefined;
    if (inner !== null && typeof inner !== 'string') return undefined;
    return { kind: kind as number, inner: inner ?? undefined };
  } catch {
    return undefined;
  }
}
