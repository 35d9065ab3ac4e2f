/** Declares the REST operations that find and read whatever an account keeps. */
import { operation } from '../http/route/operation.ts';
import type { Authenticator, Route } from '../http/route/route.ts';
import type { Things } from '../ids/things.ts';
import { FETCHED_EXAMPLE, fetched, fetchedSchema, fetchInput } from './fetched.ts';
import { type Find, FOUND_EXAMPLE, foundSchema, searchFields, searchPage } from './found.ts';

export interface SearchRoutesOptions {
  readonly things: Things;
  readonly find: Find;
  readonly access: Authenticator;
  /** URL of the hub for a Host header. */
  readonly baseUrl: (host: string) => string;
}

export function foundRoutes({ things, find, access, baseUrl }: SearchRoutesOptions): Route[] {
  return [
    operation({
      method: 'GET',
      path: '/api/search',
      operationId: 'searchThings',
      tag: 'search',
      summary: 'Finds tasks, documents, vault files and backups by words, the best first',
      access,
      query: searchFields,
      answer: {
        description: 'A page of results',
        schema: foundSchema.meta({ title: 'FoundThings' }),
        example: FOUND_EXAMPLE,
      },
      handle: ({ query, request }, { accountId }) =>
        searchPage(find, accountId, query, baseUrl(request.header('host') ?? '')),
    }),
    operation({
      method: 'GET',
      path: '/api/fetch',
      operationId: 'fetchThing',
      tag: 'search',
      summary: 'Reads a task, document or vault file by its id',
      access,
      query: fetchInput,
      answer: { description: 'It, whole', schema: fetchedSchema.meta({ title: 'Fetched' }), example: FETCHED_EXAMPLE },
      handle: ({ query, request }, { accountId }) =>
        fetched(things.open(accountId, query.id), baseUrl(request.header('host') ?? '')),
    }),
  ];
}
