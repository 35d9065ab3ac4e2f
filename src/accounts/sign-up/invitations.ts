/** Manages invitations: codes for a number of new accounts, valid until a date. Only their keyed hashes are stored. */
import { randomBytes } from 'node:crypto';
import type { ActorRegistry } from '../../actors/registry.ts';
import { noteHub, OPERATOR } from '../../audit/note.ts';
import type { Source } from '../../audit/records.ts';
import { invalidField, Refusal } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import type { Batch } from '../../store/group-commit.ts';
import type { Sealer } from '../../store/sealing/seal.ts';
import type { Store } from '../../store/store.ts';
import type { Reader } from '../../store/table.ts';
import { DAY_MS } from '../../time/calendar.ts';
import { normalizeEmail } from '../rules.ts';
import { type InvitationRecord, invitations } from './records.ts';

const CODE_BYTES = 24;
const CODE_SHAPE = /^inv_[A-Za-z0-9_-]{32}$/;

export interface NewInvitationInput {
  readonly email?: string | undefined;
  /** Maximum number of accounts; default 1. */
  readonly uses?: number | undefined;
  readonly days?: number | undefined;
}

/** An invitation without its code. */
export interface InvitationSummary {
  readonly invite_id: string;
  readonly email: string | null;
  readonly uses_left: number;
  readonly created_at: string;
  readonly expires_at: string;
}

export interface NewInvitation extends InvitationSummary {
  readonly code: string;
}

export interface InvitationsOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly sealer: Sealer;
  readonly now: () => number;
}

export class Invitations {
  readonly #options: InvitationsOptions;

  constructor(options: InvitationsOptions) {
    this.#options = options;
  }

  /** Creates an invitation; its code is returned only here. Throws Refusal `invalid_fields`. */
  async create(
    { email, uses = 1, days = limits.inviteDaysDefault }: NewInvitationInput,
    source: Source = OPERATOR,
  ): Promise<NewInvitation> {
    const address = email === undefined || email === '' ? null : normalizeEmail(email);
    checkCount('uses', uses, limits.inviteUsesMax);
    checkCount('days', days, limits.inviteDaysMax);
    if (address !== null && uses > 1) throw invalidField('uses', 'an invitation for one email admits one account');
    const code = `inv_${randomBytes(CODE_BYTES).toString('base64url')}`;
    const hash = this.#hash(code);
    const nowMs = this.#options.now();
    const record: InvitationRecord = {
      invite_id: `invite_${hash.slice(0, 16)}`,
      email: address,
      uses_left: uses,
      created_at: new Date(nowMs).toISOString(),
      expires_ms: nowMs + days * DAY_MS,
    };
    await this.#options.actors.directory().ask((batch) => {
      const all = batch.range(invitations, { prefix: [] });
      const expired = all.filter(({ value }) => value.expires_ms <= nowMs);
      for (const { key } of expired) batch.remove(invitations, key);
      if (all.length - expired.length >= limits.invitesMax) {
        throw invalidField('invite', `${limits.invitesMax} invitations are open; revoke some first`);
      }
      batch.put(invitations, [hash], record);
      const { invite_id: detail } = record;
      noteHub(batch, null, { atMs: nowMs, act: 'invitation_created', source, detail });
    });
    return { ...summaryOf(record), code };
  }

  /** Lists open invitations, the first to expire first. */
  list(): InvitationSummary[] {
    const nowMs = this.#options.now();
    return this.#options.store
      .range(invitations, { prefix: [] })
      .map(({ value }) => value)
      .filter((one) => one.expires_ms > nowMs)
      .sort((a, b) => a.expires_ms - b.expires_ms)
      .map(summaryOf);
  }

  /** Revokes an invitation immediately. Throws Refusal `not_found`. */
  async revoke(inviteId: string, source: Source = OPERATOR): Promise<void> {
    await this.#options.actors.directory().ask((batch) => {
      const found = batch.range(invitations, { prefix: [] }).find(({ value }) => value.invite_id === inviteId);
      if (found === undefined) throw new Refusal({ kind: 'not_found', what: 'no open invitation has this id' });
      batch.remove(invitations, found.key);
      noteHub(batch, null, { atMs: this.#options.now(), act: 'invitation_revoked', source, detail: inviteId });
    });
  }

  /** Throws Refusal `invalid_fields` (`invite_code`) for a code invalid for this email. One wording for all reasons. */
  check(reader: Pick<Reader, 'get'>, code: string, email: string): void {
    this.#find(reader, code, email);
  }

  /** Within the decision that creates the account: uses the code once. Throws Refusal as `check` does. */
  use(batch: Batch, code: string, email: string): void {
    const { hash, record } = this.#find(batch, code, email);
    if (record.uses_left === 1) batch.remove(invitations, [hash]);
    else batch.put(invitations, [hash], { ...record, uses_left: record.uses_left - 1 });
  }

  #find(reader: Pick<Reader, 'get'>, code: string, email: string) {
    const hash = this.#hash(code);
    const record = CODE_SHAPE.test(code) ? reader.get(invitations, [hash]) : undefined;
    const isOpen = record !== undefined && record.expires_ms > this.#options.now();
    if (!isOpen || (record.email !== null && record.email !== email)) {
      const why = 'invite_code is unknown, used, expired or meant for another email; ask for a new invitation';
      throw invalidField('invite_code', why);
    }
    return { hash, record };
  }

  #hash(code: string): string {
    return this.#options.sealer.keyedHash('invitation', code);
  }
}

function checkCount(field: string, value: number, max: number): void {
  if (!Number.isInteger(value) || value < 1 || value > max) {
    throw invalidField(field, `${field} must be a whole number from 1 to ${max}`);
  }
}

function summaryOf({ expires_ms, ...shown }: InvitationRecord): InvitationSummary {
  return { ...shown, expires_at: new Date(expires_ms).toISOString() };
}
