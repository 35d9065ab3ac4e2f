/** Opens the webhooks of accounts: what they are, and what sends to them. */
import type { Log } from '../../common/log.ts';
import type { Config } from '../../config.ts';
import type { AccountEvents } from '../../events/account-events.ts';
import { WebhookSender } from '../../events/webhooks/sender.ts';
import { Webhooks } from '../../events/webhooks/service.ts';
import type { Mail } from '../../mail/mailer.ts';
import type { Core } from '../core.ts';

export interface WebhookParts {
  readonly webhooks: Webhooks;
  readonly webhookSender: WebhookSender;
}

interface WebhookNeeds {
  readonly core: Core;
  readonly config: Pick<Config, 'webhooks'>;
  readonly events: AccountEvents;
  readonly mail: Mail | undefined;
  readonly log: Log;
}

export function openWebhooks({ core, config, events, mail, log }: WebhookNeeds): WebhookParts {
  const reach = config.webhooks === 'off' ? undefined : config.webhooks;
  const options = { ...core, events, reach, now: Date.now };
  const webhooks = new Webhooks(options);
  const webhookSender = new WebhookSender({
    ...options,
    webhooks,
    log,
    isOpen: (accountId) => core.standings.isOpen(accountId),
    tell(accountId, { url, reason }) {
      mail?.send({
        to: core.accounts.describe(accountId).email,
        subject: 'A webhook of your Cairn account is turned off',
        text: `Cairn has stopped sending to ${url}: ${reason}.\n\nCorrect the address, then turn the webhook on again under Settings, or with: cairn webhooks enable. It continues where it stopped.\n`,
      });
    },
  });
  return { webhooks, webhookSender };
}
