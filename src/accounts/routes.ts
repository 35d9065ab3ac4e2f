/** Declares the REST operations of an account: which account a credential belongs to, its time zone, its deletion. */
import { z } from 'zod';
import { objectSchema } from '../http/route/doc.ts';
import { operation } from '../http/route/operation.ts';
import type { Authenticator, Route } from '../http/route/route.ts';
import { limits } from '../limits/service.ts';
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

const accountView = z.object({
  account_id: z.string(),
  email: z.string(),
  name: z.string().nullable(),
  created_at: z.iso.datetime(),
  timezone: z.string().nullable().describe("IANA name; null: the hub's default"),
});

const ACCOUNT = {
  account_id: 'acc_0123456789abcdef01234567',
  email: 'you@example.org',
  name: null,
  created_at: '2026-11-20T20:18:57.123Z',
  timezone: null,
};

const theAccount = { description: 'The account', schema: accountView.meta({ title: 'Account' }) };

export function accountRoutes({ accounts, leaving, timeZones, access }: AccountRoutesOptions): Route[] {
  const all = { path: '/api/account', tag: 'account', access } as const;
  const shown = (accountId: string) => ({ ...accounts.describe(accountId), timezone: timeZones.chosen(accountId) });
  return [
    operation({
      ...all,
      method: 'GET',
      operationId: 'getAccount',
      summary: 'Account of the credential',
      answer: { ...theAccount, example: ACCOUNT },
      handle: (_call, { accountId }) => shown(accountId),
    }),
    operation({
      ...all,
      method: 'PATCH',
      operationId: 'updateAccount',
      summary: 'Sets the time zone of the account',
      body: zoneChange.meta({ title: 'AccountChange' }),
      example: { timezone: 'Asia/Seoul' },
      answer: { ...theAccount, example: { ...ACCOUNT, timezone: 'Asia/Seoul' } },
      async handle({ body }, { accountId }) {
        await timeZones.set(accountId, body.timezone);
        return shown(accountId);
      },
    }),
    operation({
      ...all,
      method: 'DELETE',
      operationId: 'deleteAccount',
      summary: 'Permanently delete the account with everything in it',
      description: 'Requires the password. Only the operator of the hub can delete an account that has no password.',
      body: z.strictObject({ password: z.string().min(1).max(limits.passwordBytesMax) }),
      example: { password: 'correct horse battery' },
      answer: {
        description: 'The account is no longer accessible; its data is removed in the background',
        schema: objectSchema({ status: { const: 'deleted' } }),
        example: { status: 'deleted' },
      },
      async handle({ body: { password }, request: { address } }, { accountId }) {
        await leaving.leave({ accountId, password, address });
        return { status: 'deleted' };
      },
    }),
  ];
}
