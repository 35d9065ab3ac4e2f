/** cairn webhooks: where a hub posts the events of an account. */
import { readClientSettings } from '../../client/settings.ts';
import { shownLine } from '../../client/shown.ts';
import { Credentials } from '../../client/sign-in/credentials.ts';
import { type CreatedWebhook, type ListedWebhook, WebhookClient } from '../../client/webhooks.ts';
import { type Command, type Options, takes } from '../command.ts';
import { printResult } from '../output.ts';
import { SERVER } from './documents/tool-call.ts';

export const webhookCommands: readonly Command[] = [
  {
    name: 'webhooks',
    summary: 'list the addresses that events are posted to, and what became of the last ones',
    options: [SERVER],
    examples: ['cairn webhooks'],
    run: list,
  },
  {
    name: 'webhooks add',
    summary: 'post each event from now on to an address, signed with a new secret',
    operands: ['URL'],
    options: [takes('kinds', 'KIND,…'), SERVER],
    explains: { kinds: 'only these: task, doc, handoff, paper, file, backup' },
    examples: ['cairn webhooks add https://n8n.example.org/webhook/cairn --kinds task,file'],
    run: add,
  },
  {
    name: 'webhooks rotate',
    summary: 'make a new secret; the old one also signs for a day',
    operands: ['ID'],
    options: [SERVER],
    examples: ['cairn webhooks rotate wh_0f1e2d3c4b5a6978'],
    run: rotate,
  },
  {
    name: 'webhooks enable',
    summary: 'turn on a webhook that was turned off; it continues where it stopped',
    operands: ['ID'],
    options: [SERVER],
    examples: ['cairn webhooks enable wh_0f1e2d3c4b5a6978'],
    run: enable,
  },
  {
    name: 'webhooks remove',
    summary: 'send nothing more to an address',
    operands: ['ID'],
    options: [SERVER],
    examples: ['cairn webhooks remove wh_0f1e2d3c4b5a6978'],
    run: remove,
  },
];

function clientOf(options: Options): WebhookClient {
  const credentials = new Credentials(readClientSettings(), options.optional('server'));
  return new WebhookClient(credentials.server, credentials.keyAuthorization());
}

async function list(options: Options): Promise<number> {
  const webhooks = await clientOf(options).list();
  return printResult(options, { webhooks }, () =>
    webhooks.length === 0
      ? 'There is no webhook; make one with `cairn webhooks add URL`.'
      : webhooks.map(linesOf).join('\n'),
  );
}

function linesOf({ id, url, kinds, ...webhook }: ListedWebhook): string {
  return [
    `${id}  ${shownLine(url)}  ${kinds === null ? 'all' : kinds.join(',')}`,
    `  ${stateOf(webhook)}`,
    ...webhook.deliveries.flatMap(missedLine),
  ].join('\n');
}

function missedLine({ missed, at, error }: ListedWebhook['deliveries'][number]): string[] {
  if (missed === undefined || missed === null) return [];
  const told = error === null ? 'it was told' : 'it is not told yet';
  return [
    `  missed: ${missed} changes that are no longer kept (${at}; ${told}); let the receiver read the current state`,
  ];
}

function stateOf(webhook: Omit<ListedWebhook, 'id' | 'url' | 'kinds'>): string {
  const [last] = webhook.deliveries;
  if (!webhook.enabled) return `off: ${shownLine(webhook.disabled_because ?? '')}`;
  if (webhook.failed_tries > 0)
    return `not taken: ${shownLine(last?.error ?? '')}; next try ${webhook.next_try_at ?? 'now'}`;
  return last === undefined ? 'nothing sent yet' : `last delivered ${last.at}`;
}

async function add(options: Options): Promise<number> {
  const kinds = options
    .optional('kinds')
    ?.split(',')
    .map((kind) => kind.trim());
  const made = await clientOf(options).create(options.operand() ?? '', kinds);
  return printResult(options, made, () => secretLines(made));
}

async function rotate(options: Options): Promise<number> {
  const made = await clientOf(options).rotate(options.operand() ?? '');
  return printResult(options, made, () => secretLines(made));
}

function secretLines({ id, secret }: CreatedWebhook): string {
  return `${id}\n${secret}\nKeep this secret now: it signs the messages, and is not shown again.`;
}

async function enable(options: Options): Promise<number> {
  const webhook = await clientOf(options).enable(options.operand() ?? '');
  return printResult(options, webhook, () => `${webhook.id} is on. It continues where it stopped.`);
}

async function remove(options: Options): Promise<number> {
  const id = options.operand() ?? '';
  await clientOf(options).remove(id);
  return printResult(options, { removed: id }, () => `Removed ${id}. Nothing more is sent to it.`);
}
