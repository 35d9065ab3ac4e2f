/** Creates, lists, changes and removes the webhooks of accounts. */
import { randomBytes } from 'node:crypto';
import type { ActorRegistry } from '../../actors/registry.ts';
import { noteAct } from '../../audit/note.ts';
import type { AuditedAct, Source } from '../../audit/records.ts';
import { invalidField, Refusal } from '../../common/fault.ts';
import type { ThingKindName } from '../../ids/thing.ts';
import { limits } from '../../limits/service.ts';
import type { Batch } from '../../store/group-commit.ts';
import type { Sealer } from '../../store/sealing/seal.ts';
import type { Store } from '../../store/store.ts';
import type { AccountEvents } from '../account-events.ts';
import { secretText } from './plan.ts';
import { addressFault, type WebhookReach } from './post.ts';
import { type WebhookRecord, webhooks } from './records.ts';

export interface WebhooksOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly sealer: Pick<Sealer, 'sealKept' | 'openKept'>;
  readonly events: Pick<AccountEvents, 'positionOf'>;
  /** Undefined: the operator allows none. */
  readonly reach: WebhookReach | undefined;
  readonly now: () => number;
}

export interface Webhook extends WebhookRecord {
  readonly id: string;
}

export interface WebhookWithSecret {
  readonly webhook: Webhook;
  /** Shown only now. */
  readonly secret: string;
}

export interface WebhookChange {
  readonly url?: string | undefined;
  readonly kinds?: readonly ThingKindName[] | null | undefined;
  readonly enabled?: boolean | undefined;
}

const SECRET_BYTES = 32;
const HOUR_MS = 3_600_000;

export class Webhooks {
  readonly #options: WebhooksOptions;
  #changed: (accountId: string, id: string) => void = () => undefined;

  constructor(options: WebhooksOptions) {
    this.#options = options;
  }

  /** Calls `changed` after each change. */
  onChange(changed: (accountId: string, id: string) => void): void {
    this.#changed = changed;
  }

  /** Oldest first. */
  list(accountId: string): Webhook[] {
    return this.#options.store
      .range(webhooks, { prefix: [accountId] })
      .map(({ key: [, id], value }) => ({ ...value, id }))
      .sort((one, other) => one.created_ms - other.created_ms);
  }

  /** Throws Refusal `not_found`. */
  get(accountId: string, id: string): Webhook {
    return { ...stored(this.#options.store, accountId, id), id };
  }

  /** Creates one that hears of what happens from now on. Throws Refusal `invalid_fields` or `key_limit`. */
  async create(
    accountId: string,
    { url, kinds }: { readonly url: string; readonly kinds: readonly ThingKindName[] | null },
    source: Source,
  ): Promise<WebhookWithSecret> {
    const { actors, sealer, events, now } = this.#options;
    this.#checkAddress(url);
    const from = events.positionOf(accountId, 'now');
    const made = await actors.account(accountId).once(['webhook created', url, kinds], (batch): WebhookWithSecret => {
      if (batch.range(webhooks, { prefix: [accountId] }).length >= limits.webhooksMax)
        throw invalidField('url', `an account has at most ${limits.webhooksMax} webhooks; remove one first`);
      const id = `wh_${randomBytes(8).toString('hex')}`;
      const secret = randomBytes(SECRET_BYTES);
      const record: WebhookRecord = {
        url,
        kinds,
        secret: sealer.sealKept(purposeOf(accountId, id), secret),
        former: null,
        created_ms: now(),
        disabled: null,
        position: from,
        tries: 0,
        failing_since_ms: null,
        next_ms: 0,
        deliveries: [],
      };
      batch.put(webhooks, [accountId, id], record);
      this.#note(batch, accountId, 'webhook_created', source, url);
      return { webhook: { ...record, id }, secret: secretText(secret) };
    });
    this.#changed(accountId, made.webhook.id);
    return made;
  }

  /** Changes the address, the kinds, or whether it is active: one that was disabled goes on where it stopped. Throws as `create`. */
  async change(accountId: string, id: string, change: WebhookChange, source: Source): Promise<Webhook> {
    const { actors } = this.#options;
    if (change.url !== undefined) this.#checkAddress(change.url);
    const changed = await actors.account(accountId).once(['webhook changed', id, change], (batch): Webhook => {
      const before = stored(batch, accountId, id);
      const { url = before.url, kinds = before.kinds, enabled = before.disabled === null } = change;
      // A changed address is tried at once.
      const fresh = url !== before.url || (enabled && before.disabled !== null);
      const record: WebhookRecord = {
        ...before,
        url,
        kinds,
        disabled: enabled ? null : (before.disabled ?? 'turned off'),
        ...(fresh ? { tries: 0, failing_since_ms: null, next_ms: 0 } : {}),
      };
      batch.put(webhooks, [accountId, id], record);
      this.#note(batch, accountId, 'webhook_changed', source, url);
      return { ...record, id };
    });
    this.#changed(accountId, id);
    return changed;
  }

  /** Makes a new secret; the one before signs as well for a day. Throws Refusal `not_found`. */
  async rotate(accountId: string, id: string, source: Source): Promise<WebhookWithSecret> {
    const { actors, sealer, now } = this.#options;
    const made = await actors.account(accountId).once(['webhook secret', id], (batch): WebhookWithSecret => {
      const before = stored(batch, accountId, id);
      const secret = randomBytes(SECRET_BYTES);
      const record: WebhookRecord = {
        ...before,
        secret: sealer.sealKept(purposeOf(accountId, id), secret),
        former: { secret: before.secret, until_ms: now() + limits.webhookFormerSecretHours * HOUR_MS },
      };
      batch.put(webhooks, [accountId, id], record);
      this.#note(batch, accountId, 'webhook_changed', source, before.url);
      return { webhook: { ...record, id }, secret: secretText(secret) };
    });
    this.#changed(accountId, id);
    return made;
  }

  /** Throws Refusal `not_found`. */
  async remove(accountId: string, id: string, source: Source): Promise<void> {
    await this.#options.actors.account(accountId).once(['webhook removed', id], (batch): void => {
      const { url } = stored(batch, accountId, id);
      batch.remove(webhooks, [accountId, id]);
      this.#note(batch, accountId, 'webhook_removed', source, url);
    });
    this.#changed(accountId, id);
  }

  /** The secrets that sign now, the newest first. */
  secretsOf(accountId: string, { id, secret, former }: Webhook): Uint8Array[] {
    const { sealer, now } = this.#options;
    const sealed = former === null || former.until_ms <= now() ? [secret] : [secret, former.secret];
    return sealed.map((one) => sealer.openKept(purposeOf(accountId, id), one));
  }

  #checkAddress(url: string): void {
    const { reach } = this.#options;
    if (reach === undefined) throw invalidField('url', 'the operator of this hub has turned webhooks off');
    const fault = addressFault(url, reach);
    if (fault !== undefined) throw invalidField('url', `url ${fault}`);
  }

  #note(batch: Batch, accountId: string, act: AuditedAct, source: Source, url: string): void {
    noteAct(batch, accountId, { atMs: this.#options.now(), act, source, detail: shownAddress(url) });
  }
}

/** Without what may be a secret: many services put one into the path or the query. */
export function shownAddress(url: string): string {
  return URL.canParse(url) ? new URL(url).host : '';
}

function stored(reader: Pick<Store, 'get'>, accountId: string, id: string): WebhookRecord {
  const found = reader.get(webhooks, [accountId, id]);
  if (found === undefined) throw new Refusal({ kind: 'not_found', what: 'webhook not found' });
  return found;
}

const purposeOf = (accountId: string, id: string) => `webhook-secret ${accountId} ${id}`;
