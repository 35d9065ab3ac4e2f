/** Links subjects of the identity provider to accounts, and authenticates their tokens. Never creates an account. */
import type { ActorRegistry } from '../../actors/registry.ts';
import { noteAct } from '../../audit/note.ts';
import type { Source } from '../../audit/records.ts';
import { invalidField, Refusal } from '../../common/fault.ts';
import type { Principal } from '../../common/principal.ts';
import { WrongTries } from '../../http/checks/wrong-tries.ts';
import { limits } from '../../limits/service.ts';
import type { Sealer } from '../../store/sealing/seal.ts';
import type { Store } from '../../store/store.ts';
import { accountIdentities, identities } from '../records.ts';
import { type IdentityProvider, isSubject, type VerifiedIdentity } from './identity-provider.ts';

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
  /** Undefined: no provider is configured, and no token of one is accepted. */
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

  /** The identity provider whose tokens can be linked; undefined: none. */
  get issuer(): string | undefined {
    return this.#options.provider?.issuer;
  }

  /** Fetches the provider's keys before the first token arrives. */
  warm(): void {
    void this.#options.provider?.warm();
  }

  /**
   * Returns the session of a token of the identity provider: immediately when the token was checked before, else as a
   * promise. Undefined when it is not such a token, or not valid. Throws Refusal `unauthenticated` when its subject is
   * not linked to an account.
   */
  authenticate(token: string): Principal | Promise<Principal | undefined> | undefined {
    const { provider } = this.#options;
    if (provider === undefined) return undefined;
    const known = provider.known(token);
    if (known !== undefined) return this.#principalOf(known);
    return provider.isOwn(token) ? this.#check(provider, token) : undefined;
  }

  /**
   * Links the subject of a token to an account. A valid token with this hub as audience is the proof.
   * Throws Refusal `invalid_fields` (`token`), `not_found` without a provider, `rate_limited` after wrong attempts,
   * and `overloaded` while the provider's keys are unavailable.
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

  /** Links a subject without a token, for the operator. Throws Refusal `invalid_fields` (`subject`), `not_found`. */
  async linkSubject(accountId: string, subject: string, source: Source): Promise<LinkedIdentity> {
    const { provider } = this.#options;
    if (provider === undefined) throw noProvider();
    if (!isSubject(subject)) {
      throw invalidField('subject', `subject must have 1 to ${limits.idpSubjectCharsMax} ASCII characters`);
    }
    const named = { issuer: provider.issuer, subject, label: null };
    return await this.#put(accountId, named, 'subject', source);
  }

  /** Unlinks an identity: tokens of that subject no longer work. Throws Refusal `not_found`. */
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

  /** Lists the identities linked to an account, ordered by id, including those of an earlier provider. */
  list(accountId: string): LinkedIdentity[] {
    const { store } = this.#options;
    return store.range(accountIdentities, { prefix: [accountId] }).map(({ key: [, identity_id], value }) => ({
      identity_id,
      ...value,
    }));
  }

  async #check(provider: IdentityProvider, token: string): Promise<Principal | undefined> {
    const verified = await provider.verify(token);
    return verified === undefined ? undefined : this.#principalOf(verified);
  }

  #principalOf(verified: VerifiedIdentity): Principal {
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
