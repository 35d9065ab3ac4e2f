/** Issues, rotates and destroys the mirror credential, and authenticates its tokens. */
import { randomBytes } from 'node:crypto';
import type { ActorRegistry } from '../actors/registry.ts';
import { noteAct } from '../audit/note.ts';
import type { AuditedAct, Source } from '../audit/records.ts';
import { KnownCredentials } from '../cache/credentials.ts';
import { Remembered } from '../cache/lru.ts';
import { Refusal } from '../common/fault.ts';
import type { Principal } from '../common/principal.ts';
import { limits } from '../limits/service.ts';
import type { Batch } from '../store/group-commit.ts';
import type { Sealer } from '../store/sealing/seal.ts';
import type { Store } from '../store/store.ts';
import type { Reader } from '../store/table.ts';
import { type ReadableArchives, readableArchives } from './bound.ts';
import { archivesIdOf, type CredentialRecord, credentials, tokenHashes, uploaders } from './records.ts';
import { jobAccessOf } from './uploaders.ts';
import type { IssuedCredential, RotatedCredential } from './views.ts';

const SECRET_BYTES = 32;
/** The tables that have them. */
const SECRETS = [credentials, uploaders];

export interface FreshCredential {
  readonly record: CredentialRecord;
  readonly token: string;
  /** 64 hex characters. */
  readonly hmacSecret: string;
}

export interface CurrentCredential {
  readonly credentialId: string;
  /** Id that readable archives are bound to. */
  readonly archivesId: string;
  readonly createdAt: string;
}

export interface MirrorCredentialsOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly sealer: Sealer;
  readonly now: () => number;
}

export class MirrorCredentials {
  readonly #options: MirrorCredentialsOptions;

  readonly #known: KnownCredentials<Principal>;

  /** Opened signing keys by credential id, as long as no credential of their account changes. */
  readonly #hmacKeys = new Remembered<Uint8Array<ArrayBuffer>>(limits.credentialsRememberedMax);

  constructor(options: MirrorCredentialsOptions) {
    this.#options = options;
    this.#known = new KnownCredentials(options.store, [tokenHashes]);
  }

  /** Returns the account's credential, or creates one; with `rotate` the old one is destroyed in the same commit. */
  async issue(accountId: string, rotate: boolean, source: Source): Promise<IssuedCredential> {
    const { actors, sealer } = this.#options;
    const issued = await actors
      .account(accountId)
      .once(['credential issued', rotate], (batch): { existing: CredentialRecord } | FreshCredential => {
        const current = batch.get(credentials, [accountId]);
        if (current !== undefined && !rotate) return { existing: current };
        if (current !== undefined) batch.remove(tokenHashes, [current.token_hash]);
        const fresh = this.make(accountId);
        putCredential(batch, accountId, fresh.record);
        this.#note(batch, accountId, 'mirror_credential_created', source);
        return fresh;
      });
    if ('existing' in issued) {
      const { existing } = issued;
      return {
        status: 'existing',
        token: Buffer.from(sealer.openDeterministic(accountId, 'mirror token', existing.token)).toString('hex'),
        hmac_secret: null,
        message:
          'This account already has a mirror credential. Its secret was shown only at creation; rotate to get a new pair.',
      };
    }
    return {
      status: 'created',
      token: issued.token,
      hmac_secret: issued.hmacSecret,
      message: 'Copy hmac_secret now: you won’t see it again. Blobs of an earlier credential must be uploaded again.',
    };
  }

  /** Creates a token and secret with their record; not valid before the record is written. */
  make(accountId: string, archivesId?: string): FreshCredential {
    const { sealer, now } = this.#options;
    const token = randomBytes(SECRET_BYTES).toString('hex');
    const secret = randomBytes(SECRET_BYTES);
    const record: CredentialRecord = {
      credential_id: `mc_${randomBytes(8).toString('hex')}`,
      token: sealer.sealDeterministic(accountId, 'mirror token', Buffer.from(token, 'hex')),
      hmac_secret: sealer.sealRandom(accountId, 'mirror secret', secret),
      token_hash: this.#hash(token),
      created_at: new Date(now()).toISOString(),
      ...(archivesId === undefined ? {} : { archives_id: archivesId }),
    };
    return { record, token, hmacSecret: secret.toString('hex') };
  }

  /**
   * Replaces the credential in one commit: the old token and secret end, and every archive readable before is readable
   * under the new ones. The account's owner vouches for them; their signatures were checked when they were uploaded.
   * Throws Refusal `not_found` without a credential.
   */
  async rotate(accountId: string, source: Source): Promise<RotatedCredential> {
    const { actors } = this.#options;
    const fresh = await actors.account(accountId).once(['credential rotated'], (batch) => {
      const current = batch.get(credentials, [accountId]);
      if (current === undefined) throw new Refusal({ kind: 'not_found', what: 'no credential' });
      const made = this.make(accountId, archivesIdOf(current));
      batch.remove(tokenHashes, [current.token_hash]);
      putCredential(batch, accountId, made.record);
      this.#note(batch, accountId, 'mirror_credential_rotated', source);
      return made;
    });
    const { readable, unreadable } = this.archives(accountId);
    return {
      status: 'created',
      token: fresh.token,
      hmac_secret: fresh.hmacSecret,
      message: "The old credential no longer works. Copy hmac_secret now: you won't see it again.",
      archives_kept: readable,
      archives_unreadable: unreadable,
    };
  }

  /** Counts the archives that can be downloaded now, and those that cannot. */
  archives(accountId: string): ReadableArchives {
    return readableArchives(this.#options.store, accountId);
  }

  /** Destroys the credential and those of CI jobs. Blobs are kept, and fail verification until uploaded under a new one. */
  async destroy(accountId: string, source: Source): Promise<void> {
    await this.#options.actors.account(accountId).once(['credential destroyed'], (batch) => {
      const current = batch.get(credentials, [accountId]);
      if (current === undefined) throw new Refusal({ kind: 'not_found', what: 'no credential' });
      batch.remove(credentials, [accountId]);
      batch.remove(tokenHashes, [current.token_hash]);
      for (const { key, value } of batch.range(uploaders, { prefix: [accountId] })) {
        batch.remove(uploaders, key);
        batch.remove(tokenHashes, [value.token_hash]);
      }
      this.#note(batch, accountId, 'mirror_credential_destroyed', source);
    });
  }

  /** Returns the current credential, without its secrets; undefined: none. */
  current(accountId: string): CurrentCredential | undefined {
    const found = this.#options.store.get(credentials, [accountId]);
    return (
      found && {
        credentialId: found.credential_id,
        archivesId: archivesIdOf(found),
        createdAt: found.created_at,
      }
    );
  }

  /** Returns the principal of a mirror token; undefined: invalid. */
  authenticate(token: string): Principal | undefined {
    return this.#known.find(token, () => {
      if (!/^[0-9a-f]{64}$/.test(token)) return undefined;
      const found = this.#options.store.get(tokenHashes, [this.#hash(token)]);
      return found && { accountId: found.account_id, credentialId: found.credential_id };
    });
  }

  /**
   * Returns the signing key for this session's uploads: the displayed 64 characters of the secret as ASCII, as
   * `openssl dgst -hmac` uses them. Throws Refusal when the credential was rotated or destroyed.
   */
  hmacKey(principal: Principal): Uint8Array<ArrayBuffer> {
    const { accountId, credentialId } = principal;
    const { store, sealer } = this.#options;
    const revision = store.revision(SECRETS, accountId);
    const known = revision === undefined ? undefined : this.#hmacKeys.get(credentialId, revision);
    if (known !== undefined) return known;
    const sealed = secretOf(store, principal);
    if (sealed === undefined) throw goneCredential();
    const secret = sealer.openRandom(accountId, 'mirror secret', sealed);
    // In separate memory: threads get a copy of the memory that it is in.
    const key = Uint8Array.from(Buffer.from(Buffer.from(secret).toString('hex'), 'ascii'));
    if (revision !== undefined) this.#hmacKeys.set(credentialId, revision, key, 1);
    return key;
  }

  #note(batch: Batch, accountId: string, act: AuditedAct, source: Source): void {
    noteAct(batch, accountId, { atMs: this.#options.now(), act, source });
  }

  #hash(token: string): string {
    return this.#options.sealer.keyedHash('mirror-token', token);
  }
}

/**
 * Returns the sealed secret of the credential that a request uses; undefined: it was replaced, destroyed or revoked.
 * `known`: the current credential, when it was read already.
 */
export function secretOf(
  reader: Pick<Reader, 'get'>,
  { accountId, credentialId }: Principal,
  known?: CredentialRecord,
): Uint8Array | undefined {
  if (jobAccessOf(credentialId) !== undefined) return reader.get(uploaders, [accountId, credentialId])?.hmac_secret;
  const current = known ?? reader.get(credentials, [accountId]);
  return current?.credential_id === credentialId ? current.hmac_secret : undefined;
}

/** Writes a credential for an account without one. */
export function putCredential(batch: Batch, accountId: string, record: CredentialRecord): void {
  batch.put(credentials, [accountId], record);
  batch.put(tokenHashes, [record.token_hash], { account_id: accountId, credential_id: record.credential_id });
}

/** Returns the Refusal for a credential rotated or destroyed during a request. */
export function goneCredential(): Refusal {
  return new Refusal({
    kind: 'unauthenticated',
    scheme: 'McpKey',
    detail:
      'this mirror token was replaced or destroyed while the request ran; issue a new credential, then repeat the request',
  });
}
