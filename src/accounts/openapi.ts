/** What the routes of accounts say of themselves. */
import { jsonContent, objectSchema, type RouteDoc } from '../http/route/doc.ts';

const account = {
  title: 'Account',
  ...objectSchema({
    account_id: { type: 'string' },
    email: { type: 'string' },
    name: { type: ['string', 'null'] },
    created_at: { type: 'string', format: 'date-time' },
  }),
};

export const accountOperations = {
  get: {
    operationId: 'getAccount',
    tag: 'account',
    summary: 'Whose the credential is',
    security: ['McpKey', 'AccessToken'],
    answers: {
      200: {
        description: 'The account',
        content: jsonContent(account, {
          account_id: 'acc_0123456789abcdef01234567',
          email: 'you@example.org',
          name: null,
          created_at: '2026-11-20T20:18:57.123Z',
        }),
      },
    },
  },
} as const satisfies Record<string, RouteDoc>;
