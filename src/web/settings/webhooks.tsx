/** The part of the settings page for webhooks: where events are posted, what became of them, and how to change that. */
import type { VNode } from 'preact';
import type { WebhookDelivery } from '../../events/webhooks/records.ts';
import { newWebhook } from '../../events/webhooks/routes.ts';
import { shownAddress, type Webhook } from '../../events/webhooks/service.ts';
import { readFields } from '../../fields/read.ts';
import type { Route } from '../../http/route/route.ts';
import { THING_KINDS } from '../../ids/thing.ts';
import { limits } from '../../limits/service.ts';
import type { Capabilities } from '../capabilities.ts';
import { Field, FormErrors, type Problem } from '../fields.tsx';
import type { MemberVisit, Pages, View } from '../pages.ts';
import { problemOf } from '../problem.ts';
import { Confirm, Empty, Form, Given, Moment, SubmitButton } from '../ui.tsx';

interface WebhooksProps {
  readonly visit: MemberVisit;
  readonly capabilities: Pick<Capabilities, 'webhooks'>;
  readonly problem?: Problem | undefined;
}

const PATH = '/settings';
const FORM = 'webhook';

/** Kinds of events as people call them. */
const KIND_NAMES: Readonly<Record<(typeof THING_KINDS)[number], string>> = {
  task: 'Tasks',
  doc: 'Dev docs',
  handoff: 'Handoffs',
  paper: 'Papers',
  file: 'Files',
  backup: 'Backups',
};

export function WebhookList({ visit, capabilities, problem }: WebhooksProps): VNode {
  const webhooks = capabilities.webhooks.list(visit.accountId);
  return (
    <section class="panel" aria-labelledby="webhooks">
      <h2 id="webhooks">Webhooks</h2>
      <p class="lead">
        Each change is posted to these addresses, signed, and sent again until it is taken. See{' '}
        <a href="/help/events">Events</a>.
      </p>
      {webhooks.length === 0 ? (
        <Empty title="No webhook yet">
          <p>Add the address of an automation, such as a webhook of n8n.</p>
        </Empty>
      ) : (
        <ul class="rows">
          {webhooks.map((webhook) => (
            <WebhookItem key={webhook.id} webhook={webhook} visit={visit} />
          ))}
        </ul>
      )}
      <Form csrf={visit.csrf} action={`${PATH}/webhooks`} class="stack">
        <FormErrors form={FORM} problem={problem} shown={['url']} />
        <Field form={FORM} name="url" label="Address of a new webhook" problem={problem} />
        <fieldset>
          <legend>Only these changes (none chosen: all)</legend>
          {THING_KINDS.map((kind) => (
            <label key={kind} class="check">
              <input type="checkbox" name="kinds" value={kind} /> {KIND_NAMES[kind]}
            </label>
          ))}
        </fieldset>
        <SubmitButton>Add webhook</SubmitButton>
      </Form>
    </section>
  );
}

function WebhookItem({ webhook, visit }: { readonly webhook: Webhook; readonly visit: MemberVisit }): VNode {
  const { id, url, kinds, disabled } = webhook;
  const action = `${PATH}/webhooks/${id}`;
  const host = shownAddress(url);
  return (
    <li class="row">
      <div class="row-main">
        <strong>
          <Given>{host}</Given>
        </strong>
        <p class="meta">
          {kinds === null ? 'all changes' : kinds.map((kind) => KIND_NAMES[kind].toLowerCase()).join(', ')} · since{' '}
          <Moment at={new Date(webhook.created_ms).toISOString()} zone={visit.zone} />
        </p>
        <p class="meta">
          <StateOf webhook={webhook} visit={visit} />
        </p>
        {webhook.deliveries.length === 0 ? null : (
          <details class="more">
            <summary>
              Last deliveries<span class="sr-only"> to {host}</span>
            </summary>
            <ul>
              {webhook.deliveries.map((delivery) => (
                <li key={`${delivery.message} ${delivery.at_ms}`}>
                  <Moment at={new Date(delivery.at_ms).toISOString()} zone={visit.zone} />: {toldOf(delivery)} ·{' '}
                  {delivery.error ?? 'delivered'}
                </li>
              ))}
            </ul>
          </details>
        )}
      </div>
      {disabled === null ? null : (
        <Form csrf={visit.csrf} action={`${action}/enable`} class="">
          <SubmitButton look="small">
            Turn on<span class="sr-only"> the webhook of {host}</span>
          </SubmitButton>
        </Form>
      )}
      <Form csrf={visit.csrf} action={`${action}/secret`} class="">
        <SubmitButton look="small">
          New secret<span class="sr-only"> for {host}</span>
        </SubmitButton>
      </Form>
      <Confirm label="Remove…" of={host}>
        <p>Nothing more is sent to this address. This cannot be undone.</p>
        <Form csrf={visit.csrf} action={`${action}/remove`}>
          <SubmitButton look="danger">Remove this webhook</SubmitButton>
        </Form>
      </Confirm>
    </li>
  );
}

function toldOf({ kind, act, missed = 0 }: WebhookDelivery): string {
  return kind === 'events'
    ? `${missed} changes missed, because they are no longer kept`
    : `${KIND_NAMES[kind].toLowerCase()}, ${act}`;
}

function StateOf({ webhook, visit }: { readonly webhook: Webhook; readonly visit: MemberVisit }): VNode {
  const { disabled, tries, next_ms: nextMs, deliveries } = webhook;
  const [last] = deliveries;
  if (disabled !== null) return <>turned off: {disabled}</>;
  if (tries > 0) {
    return (
      <>
        not taken yet: {last?.error} · tried {tries} times, again{' '}
        <Moment at={new Date(nextMs).toISOString()} zone={visit.zone} />
      </>
    );
  }
  if (last === undefined) return <>nothing sent yet</>;
  return (
    <>
      last delivered <Moment at={new Date(last.at_ms).toISOString()} zone={visit.zone} />
    </>
  );
}

interface WebhookFormOptions extends Pick<Capabilities, 'webhooks'> {
  readonly pages: Pages;
  readonly view: (visit: MemberVisit, problem?: Problem) => View;
}

/** For forms that show a secret, or send the data of the account somewhere. */
const FRESH = { fresh: true };

export function webhookForms({ pages, webhooks, view }: WebhookFormOptions): Route[] {
  const idOf = (visit: MemberVisit) => visit.request.params['id'] ?? '';
  const showing = (secret: string) => [{ label: 'Signing secret', value: secret }];
  return [
    pages.memberForm(
      `${PATH}/webhooks`,
      async (visit, form) => {
        const url = (form.get('url') ?? '').trim();
        const wanted = THING_KINDS.filter((kind) => form.getAll('kinds').includes(kind));
        const kinds = wanted.length === 0 ? null : wanted;
        const tried = await problemOf(FORM, { url }, () =>
          webhooks.create(visit.accountId, readFields(newWebhook, { url, kinds }), visit.source),
        );
        if (!tried.ok) return pages.show(visit, view(visit, tried.problem));
        return pages.go(visit, PATH, {
          text: 'Webhook added. Copy its secret now: it is not shown again.',
          secrets: showing(tried.value.secret),
        });
      },
      FRESH,
    ),
    pages.memberForm(
      `${PATH}/webhooks/:id/secret`,
      async (visit) => {
        const { secret } = await webhooks.rotate(visit.accountId, idOf(visit), visit.source);
        return pages.go(visit, PATH, {
          text: `New secret. Copy it now: it is not shown again. Messages are also signed with the old one for ${limits.webhookFormerSecretHours} hours.`,
          secrets: showing(secret),
        });
      },
      FRESH,
    ),
    pages.memberForm(
      `${PATH}/webhooks/:id/enable`,
      async (visit) => {
        await webhooks.change(visit.accountId, idOf(visit), { enabled: true }, visit.source);
        return pages.go(visit, PATH, { text: 'The webhook is on. It continues where it stopped.' });
      },
      FRESH,
    ),
    pages.memberForm(`${PATH}/webhooks/:id/remove`, async (visit) => {
      await webhooks.remove(visit.accountId, idOf(visit), visit.source);
      return pages.go(visit, PATH, { text: 'The webhook is removed.' });
    }),
  ];
}
