/** Declares the REST operations of webhooks. */
import { z } from 'zod';
import { auditSourceOf } from '../../audit/note.ts';
import type { PathParameter } from '../../http/route/doc.ts';
import { operation } from '../../http/route/operation.ts';
import type { Authenticator, Route, RouteRequest } from '../../http/route/route.ts';
import { THING_KINDS } from '../../ids/thing.ts';
import { limits } from '../../limits/service.ts';
import type { Webhook, Webhooks, WebhookWithSecret } from './service.ts';

export interface WebhookRoutesOptions {
  readonly webhooks: Webhooks;
  readonly access: Authenticator;
}

const PATH = '/api/webhooks';

const kinds = z
  .array(z.enum(THING_KINDS))
  .min(1)
  .max(THING_KINDS.length)
  .nullable()
  .describe('Only events of these kinds; null: all');
const url = z.string().min(1).max(limits.webhookUrlCharsMax).describe('An https address that takes POSTs');

export const newWebhook = z.strictObject({ url, kinds: kinds.default(null) });
const webhookChange = z.strictObject({
  url: url.optional(),
  kinds: kinds.optional(),
  enabled: z.boolean().optional().describe('true: go on where it stopped'),
});

const deliverySchema = z.object({
  message: z.string().describe('The header webhook-id, the same for each try of an event'),
  type: z.string().describe('kind.act of the event; events.missed: events before the next one are no longer kept'),
  thing: z.string(),
  missed: z.int().positive().nullable().describe('How many, of events.missed'),
  at: z.iso.datetime(),
  status: z.int().nullable().describe('Of the answer; null: there was none'),
  error: z.string().nullable().describe('null: delivered'),
});

const webhookSchema = z.object({
  id: z.string(),
  url: z.string(),
  kinds: z.array(z.enum(THING_KINDS)).nullable(),
  created_at: z.iso.datetime(),
  enabled: z.boolean(),
  disabled_because: z.string().nullable(),
  failed_tries: z.int().nonnegative().describe('Of the next event'),
  next_try_at: z.iso.datetime().nullable().describe('null: at once'),
  deliveries: z.array(deliverySchema).describe(`The last ${limits.webhookDeliveriesKept}, newest first`),
});

const withSecret = webhookSchema.extend({ secret: z.string().describe('Shown only now; it signs each message') });

const EXAMPLE: z.input<typeof webhookSchema> = {
  id: 'wh_0f1e2d3c4b5a6978',
  url: 'https://n8n.example.org/webhook/cairn',
  kinds: ['task', 'file'],
  created_at: '2026-11-26T08:00:00.000Z',
  enabled: true,
  disabled_because: null,
  failed_tries: 0,
  next_try_at: null,
  deliveries: [
    {
      message: 'wh_0f1e2d3c4b5a6978.r.42',
      type: 'task.changed',
      thing: 'cairn://tasks/7',
      missed: null,
      at: '2026-11-26T08:01:02.003Z',
      status: 200,
      error: null,
    },
  ],
};
const SECRET_EXAMPLE = { ...EXAMPLE, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=', deliveries: [] };

const oneWebhook = {
  description: 'The webhook',
  schema: webhookSchema.meta({ title: 'Webhook' }),
  example: EXAMPLE,
};

const params = {
  id: {
    description: 'Id of the webhook',
    schema: { type: 'string' },
    example: EXAMPLE.id,
    read: (segment) => segment,
  } satisfies PathParameter<string>,
};

export function webhookRoutes(options: WebhookRoutesOptions): Route[] {
  return [...listRoutes(options), ...oneRoutes(options)];
}

function listRoutes({ webhooks, access }: WebhookRoutesOptions): Route[] {
  const all = { path: PATH, tag: 'events', access } as const;
  return [
    operation({
      ...all,
      method: 'GET',
      operationId: 'webhooksList',
      summary: 'Lists the webhooks with their last deliveries, oldest first',
      answer: {
        description: 'All of them',
        schema: z.object({ webhooks: z.array(webhookSchema) }).meta({ title: 'Webhooks' }),
        example: { webhooks: [EXAMPLE] },
      },
      handle: (_call, { accountId }) => ({ webhooks: webhooks.list(accountId).map(viewOf) }),
    }),
    operation({
      ...all,
      method: 'POST',
      operationId: 'webhooksCreate',
      summary: 'Creates a webhook: each event from now on is posted to its address, signed',
      description:
        'Messages and signatures have the form of Standard Webhooks. An event is sent again until it is taken.',
      body: newWebhook.meta({ title: 'NewWebhook' }),
      example: { url: EXAMPLE.url, kinds: EXAMPLE.kinds },
      answer: {
        status: 201,
        description: 'Created, with its secret, which is not shown again',
        schema: withSecret.meta({ title: 'WebhookWithSecret' }),
        example: SECRET_EXAMPLE,
      },
      handle: async ({ body, request }, { accountId }) =>
        secretView(await webhooks.create(accountId, body, sourceOf(request))),
    }),
  ];
}

function oneRoutes({ webhooks, access }: WebhookRoutesOptions): Route[] {
  const one = { path: `${PATH}/:id`, tag: 'events', access, params } as const;
  return [
    operation({
      ...one,
      method: 'GET',
      operationId: 'webhooksGet',
      summary: 'One webhook with its last deliveries',
      answer: oneWebhook,
      handle: ({ params: { id } }, { accountId }) => viewOf(webhooks.get(accountId, id)),
    }),
    operation({
      ...one,
      method: 'PATCH',
      operationId: 'webhooksUpdate',
      summary: 'Changes the address or the kinds of a webhook, turns it off, or on again',
      body: webhookChange.meta({ title: 'WebhookChange' }),
      example: { enabled: true },
      answer: oneWebhook,
      handle: async ({ body, params: { id }, request }, { accountId }) =>
        viewOf(await webhooks.change(accountId, id, body, sourceOf(request))),
    }),
    operation({
      ...one,
      path: `${PATH}/:id/secret`,
      method: 'POST',
      operationId: 'webhooksRotateSecret',
      summary: 'Makes a new secret',
      description: `The one before signs as well for ${limits.webhookFormerSecretHours} hours.`,
      answer: {
        description: 'The new secret, which is not shown again',
        schema: withSecret.meta({ title: 'WebhookWithSecret' }),
        example: SECRET_EXAMPLE,
      },
      handle: async ({ params: { id }, request }, { accountId }) =>
        secretView(await webhooks.rotate(accountId, id, sourceOf(request))),
    }),
    operation({
      ...one,
      method: 'DELETE',
      operationId: 'webhooksDelete',
      summary: 'Removes a webhook',
      answer: { status: 204, description: 'Nothing more is sent to it' },
      handle: ({ params: { id }, request }, { accountId }) => webhooks.remove(accountId, id, sourceOf(request)),
    }),
  ];
}

function sourceOf(request: RouteRequest) {
  return auditSourceOf('client', request.address, request.header('user-agent'));
}

function viewOf(webhook: Webhook): z.input<typeof webhookSchema> {
  const { id, url: address, kinds: wanted, created_ms: createdMs, disabled, tries, next_ms: nextMs } = webhook;
  return {
    id,
    url: address,
    kinds: wanted === null ? null : [...wanted],
    created_at: new Date(createdMs).toISOString(),
    enabled: disabled === null,
    disabled_because: disabled,
    failed_tries: tries,
    next_try_at: nextMs === 0 || disabled !== null ? null : new Date(nextMs).toISOString(),
    deliveries: webhook.deliveries.map(({ message, kind, act, thing, missed = null, at_ms: atMs, status, error }) => ({
      message,
      type: `${kind}.${act}`,
      thing,
      missed,
      at: new Date(atMs).toISOString(),
      status,
      error,
    })),
  };
}

function secretView({ webhook, secret }: WebhookWithSecret): z.input<typeof withSecret> {
  return { ...viewOf(webhook), secret };
}
