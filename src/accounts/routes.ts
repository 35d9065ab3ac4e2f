/** Serves the REST routes of an account: which account a credential belongs to, its time zone, and its deletion. */
import type { z } from 'zod';
import { readFields } from '../fields/read.ts';
import { json } from '../http/reply/reply.ts';
import type { Authenticator, Route } from '../http/route/route.ts';
import { limits } from '../limits/service.ts';
import { type accountView, leaveFields } from './fields.ts';
import { accountOperations } from './openapi.ts';
import type { Accounts } from './service.ts';
import type { Leaving } from './standing/leaving.ts';
import type { TimeZones } from './time-zones.ts';
import { zoneChange } from './zone-tool.ts';

export interface AccountRoutesOptions {
  readonly accounts: Accounts;
  readonly leaving: Leaving;
  readonly timeZones: TimeZones;
  /** Accepts account keys, MCP keys and access tokens. */
  readonly access: Authenticator;
}

export function accountRoutes({ accounts, leaving, timeZones, access }: AccountRoutesOptions): Route[] {
  const shown = (accountId: string): z.output<typeof accountView> => ({
    ...accounts.describe(accountId),
    timezone: timeZones.chosen(accountId),
  });
  return [
    {
      method: 'GET',
      path: '/api/account',
      access,
      body: { kind: 'none' },
      doc: accountOperations.get,
      handle: (_request, { accountId }) => json(200, shown(accountId)),
    },
    {
      method: 'PATCH',
      path: '/api/account',
      access,
      body: { kind: 'json', bytesMax: limits.jsonBodyBytesMax },
      doc: accountOperations.change,
      async handle({ document }, { accountId }) {
        await timeZones.set(accountId, readFields(zoneChange, document).timezone);
        return json(200, shown(accountId));
      },
    },
    {
      method: 'DELETE',
      path: '/api/account',
      access,
      body: { kind: 'json', bytesMax: limits.jsonBodyBytesMax },
      doc: accountOperations.delete,
      async handle({ document, address }, { accountId }) {
        const { password } = readFields(leaveFields, document);
        await leaving.leave({ accountId, password, address });
        return json(200, { status: 'deleted' });
      },
    },
  ];
}
