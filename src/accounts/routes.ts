/** The REST rows of an account: whose a credential is. */
import { json } from '../http/reply/reply.ts';
import type { Authenticator, Route } from '../http/route/route.ts';
import { accountOperations } from './openapi.ts';
import type { Accounts } from './service.ts';

export interface AccountRoutesOptions {
  readonly accounts: Accounts;
  /** Takes account keys, MCP keys and access tokens. */
  readonly access: Authenticator;
}

export function accountRoutes({ accounts, access }: AccountRoutesOptions): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/account',
      access,
      body: { kind: 'none' },
      doc: accountOperations.get,
      handle: (_request, { accountId }) => json(200, accounts.describe(accountId)),
    },
  ];
}
