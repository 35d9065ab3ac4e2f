/** Describes the account routes for OpenAPI. */
import { jsonSchema } from '../fields/json-schema.ts';
import { jsonContent, objectSchema, type RouteDoc, type Schema } from '../http/route/doc.ts';
import { accountView, leaveFields } from './fields.ts';
import { zoneChange } from './zone-tool.ts';

const account = { title: 'Account', ...jsonSchema(accountView, 'output') };
const change: Schema = { title: 'AccountChange', ...jsonSchema(zoneChange, 'input') };

const ACCOUNT = {
  account_id: 'acc_0123456789abcdef01234567',
  email: 'you@example.org',
  name: null,
  created_at: '2026-11-20T20:18:57.123Z',
  timezone: null,
};

export const accountOperations = {
  get: {
    operationId: 'getAccount',
    tag: 'account',
    summary: 'Account of the credential',
    security: ['McpKey', 'AccessToken'],
    answers: {
      200: {
        description: 'The account',
        content: jsonContent(account, ACCOUNT),
      },
    },
  },
  change: {
    operationId: 'updateAccount',
    tag: 'account',
    summary: 'Sets the time zone of the account',
    security: ['McpKey', 'AccessToken'],
    request: { required: true, ...jsonContent(change, { timezone: 'Asia/Seoul' }) },
    answers: {
      200: { description: 'The account', content: jsonContent(account, { ...ACCOUNT, timezone: 'Asia/Seoul' }) },
    },
    refusals: [422],
  },
  delete: {
    operationId: 'deleteAccount',
    tag: 'account',
    summary: 'Permanently delete the account with everything in it',
    description: 'Requires the password. Only the operator of the hub can delete an account that has no password.',
    security: ['McpKey', 'AccessToken'],
    request: {
      required: true,
      ...jsonContent(jsonSchema(leaveFields, 'input'), { password: 'correct horse battery' }),
    },
    answers: {
      200: {
        description: 'The account is no longer accessible; its data is removed in the background',
        content: jsonContent(objectSchema({ status: { const: 'deleted' } }), { status: 'deleted' }),
      },
    },
    refusals: [422],
  },
} as const satisfies Record<string, RouteDoc>;
