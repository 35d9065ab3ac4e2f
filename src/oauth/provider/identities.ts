/** The use cases of linked identities: which account a subject of the identity provider opens. Nothing makes an account. */
import type { ActorRegistry } from '../../actors/registry.ts';
import { noteAct } from '../../audit/note.ts';
import type { Source } from '../../audit/records.ts';
import { invalidField, Refusal } from '../../common/fault.ts';
import type { Session } from '../../common/session.ts';
import { WrongTries } from '../../http/checks/wrong-tries.ts';
import { limits } from '../../limits/service.ts';
import type { Sealer } from '../../store/sealing/seal.ts';
import type { Store } from '../../store/store.ts';
import { accountIdentities, identities } from '../records.ts';
import type { IdentityProvider, VerifiedIdentity } from './identity-provider.ts';
import { isSubject } from './subject.ts';

export interface LinkedIdentity {
  readonly identity_id: string;
  readonly issuer: string;
  readonly subject: string;
  readonly label: string | null;
  readonly linked_at: string;
}

export interface IdentitiesOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly sealer: Sealer;
  /** Undefined: none is set, and no token of one opens anything. */
  readonly provider: IdentityProvider | undefined;
  readonly now: () => number;
}

export class Identities {
  readonly #options: IdentitiesOptions;
  readonly #wrong: WrongTries;

  constructor(options: IdentitiesOptions) {
    this.#options = options;
    this.#wrong = new WrongTries({
      triesMax: limits.userCodeTriesMax,
      windowMs: limits.userCodeTriesMs,
      now: options.now,
    });
  }

  /** The identity provider whose tokens can be linked; undefined: there is none. */
  get issuer(): string | undefined {
    return this.#options.provider?.issuer;
  }

  /** Fetches the provider's keys before the first token comes. */
  warm(): void {
    void this.#options.provider?.warm();
  }

  /**
   * The session that a token of the identity provider opens: at once when it was checked before, else a promise.
   * Undefined for what is no such token, or no valid one. Refuses with `unauthenticated` when its subject is linked to
   * no account.
   */
  authenticate(token: string): Session | Promise<Session | undefined> | undefined {
    const { provider } = this.#options;
    if (provider === undefined) return undefined;
    const known = provider.known(token);
    if (known !== undefined) return this.#sessionOf(known);
    return provider.isOwn(token) ? this.#check(provider, token) : undefined;
  }

  /**
   * Links whom a token speaks for to an account. A token that is valid now, and made out for this hub, is the proof.
   * Refuses with `invalid_fields` (`token`), `not_found` without a provider, `rate_limited` after wrong tries, and with
   * `overloaded` while the provider's keys cannot be had.
   */
  async link(accountId: string, token: string, source: Source): Promise<LinkedIdentity> {
    const { provider } = this.#options;
    if (provider === undefined) throw noProvider();
    const guessers = [`account ${accountId}`];
    this.#wrong.check(guessers);
    const verified = await provider.verify(token.trim());
    if (verified === undefined) {
      this.#wrong.add(guessers);
      throw invalidField('token', `token is not a valid token of ${provider.issuer} for this hub; get a fresh one`);
    }
    return await this.#put(accountId, verified, 'token', source);
  }

  /** Links a subject without a token, for the operator. Refuses with `invalid_fields` (`subject`), `not_found`. */
  async linkSubject(accountId: string, subject: string, source: Source): Promise<LinkedIdentity> {
    const { provider } = this.#options;
    if (provider === undefined) throw noProvider();
    if (!isSubject(subject)) {
      throw invalidField('subject', `subject must have 1 to ${limits.idpSubjectCharsMax} ASCII characters`);
    }
    const named = { issuer: provider.issuer, subject, label: null };
    return await this.#put(accountId, named, 'subject', source);
  }

  /** Takes a link back; tokens of that subject open nothing from now on. Refuses with `not_found`. */
  async unlink(accountId: string, identityId: string, source: Source): Promise<void> {
    await this.#options.actors.account(accountId).ask((batch) => {
      const found = batch.get(accountIdentities, [accountId, identityId]);
      if (found === undefined) {
        throw new Refusal({ kind: 'not_found', what: 'this account has no linked identity with this id' });
      }
      batch.remove(accountIdentities, [accountId, identityId]);
      batch.remove(identities, [found.issuer, found.subject]);
      noteAct(batch, accountId, { atMs: this.#options.now(), act: 'identity_unlinked', source, detail: found.subject });
    });
  }

  /** The identities that open an account, also those of an earlier provider, in the order of their ids. */
  list(accountId: string): LinkedIdentity[] {
    const { store } = this.#options;
    return store.range(accountIdentities, { prefix: [accountId] }).map(({ key: [, identity_id], value }) => ({
      identity_id,
      ...value,
    }));
  }

  async #check(provider: IdentityProvider, token: string): Promise<Session | undefined> {
    const verified = await provider.verify(token);
    return verified === undefined ? undefined : this.#sessionOf(verified);
  }

  #sessionOf(verified: VerifiedIdentity): Session {
    const found = this.#options.store.get(identities, [verified.issuer, verified.subject]);
    if (found === undefined) {
      throw new Refusal({
        kind: 'unauthenticated',
        scheme: 'Bearer',
        detail: 'this identity is linked to no account here; link it on the settings page, or send another credential',
      });
    }
    return { accountId: found.account_id, credentialId: this.#idOf(verified.issuer, verified.subject) };
  }

  async #put(accountId: string, verified: VerifiedIdentity, field: string, source: Source): Promise<LinkedIdentity> {
    const { issuer, subject, label } = verified;
    const identityId = this.#idOf(issuer, subject);
    return await this.#options.actors.account(accountId).ask((batch) => {
      const owner = batch.get(identities, [issuer, subject])?.account_id;
      const existing = batch.get(accountIdentities, [accountId, identityId]);
      if (owner === accountId && existing !== undefined) return { identity_id: identityId, ...existing };
      if (owner !== undefined) {
        throw invalidField(field, 'this identity is linked to another account; unlink it there first');
      }
      if (batch.range(accountIdentities, { prefix: [accountId] }).length >= limits.identitiesMax) {
        throw invalidField(
          field,
          `this account already has ${limits.identitiesMax} linked identities; unlink one first`,
        );
      }
      const row = { issuer, subject, label, linked_at: new Date(this.#options.now()).toISOString() };
      batch.put(identities, [issuer, subject], { account_id: accountId });
      batch.put(accountIdentities, [accountId, identityId], row);
      noteAct(batch, accountId, { atMs: this.#options.now(), act: 'identity_linked', source, detail: subject });
      return { identity_id: identityId, ...row };
    });
  }

  #idOf(issuer: string, subject: string): string {
    return `idn_${this.#options.sealer.keyedHash('identity', `${issuer}\n${subject}`).slice(0, 24)}`;
  }
}

function noProvider(): Refusal {
  return new Refusal({
    kind: 'not_found',
    what: 'this hub has no identity provider; its operator sets CAIRN_IDP_ISSUER',
  });
}
