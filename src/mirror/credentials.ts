/** Issues, rotates and destroys the mirror credential, and authenticates its tokens. */
import { randomBytes } from 'node:crypto';
import type { ActorRegistry } from '../actors/registry.ts';
import { noteAct } from '../audit/note.ts';
import type { AuditedAct, Source } from '../audit/records.ts';
import { KnownCredentials } from '../cache/credentials.ts';
import { Recent } from '../cache/recent.ts';
import { Refusal } from '../common/fault.ts';
import type { Principal } from '../common/principal.ts';
import { limits } from '../limits/service.ts';
import type { Batch } from '../store/group-commit.ts';
import type { Sealer } from '../store/sealing/seal.ts';
import type { Store } from '../store/store.ts';
import { type CredentialRecord, credentials, tokenHashes } from './records.ts';
import type { IssuedCredential } from './views.ts';

const SECRET_BYTES = 32;

export interface FreshCredential {
  readonly record: CredentialRecord;
  readonly token: string;
  /** 64 hex characters. */
  readonly hmacSecret: string;
}

export interface CurrentCredential {
  readonly credentialId: string;
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

  /** Opened signing keys by credential id, whose secret never changes. */
  readonly #hmacKeys = new Recent<Uint8Array<ArrayBuffer>>(limits.credentialsRememberedMax);

  constructor(options: MirrorCredentialsOptions) {
    this.#options = options;
    this.#known = new KnownCredentials(options.store, [tokenHashes]);
  }

  /** Returns the account's credential, or creates one; with `rotate` the old one is destroyed in the same commit. */
  async issue(accountId: string, rotate: boolean, source: Source): Promise<IssuedCredential> {
    const { actors, sealer } = this.#options;
    const fresh = this.make(accountId);
    const existing = await actors.account(accountId).ask((batch) => {
      const current = batch.get(credentials, [accountId]);
      if (current !== undefined && !rotate) return current;
      if (current !== undefined) batch.remove(tokenHashes, [current.token_hash]);
      putCredential(batch, accountId, fresh.record);
      this.#note(batch, accountId, 'mirror_credential_created', source);
      return undefined;
    });
    if (existing !== undefined) {
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
      token: fresh.token,
      hmac_secret: fresh.hmacSecret,
      message: 'Copy hmac_secret now: you won’t see it again. Blobs of an earlier credential must be uploaded again.',
    };
  }

  /** Creates a token and secret with their record; not valid before the record is written. */
  make(accountId: string): FreshCredential {
    const { sealer, now } = this.#options;
    const token = randomBytes(SECRET_BYTES).toString('hex');
    const secret = randomBytes(SECRET_BYTES);
    const record: CredentialRecord = {
      credential_id: `mc_${randomBytes(8).toString('hex')}`,
      token: sealer.sealDeterministic(accountId, 'mirror token', Buffer.from(token, 'hex')),
      hmac_secret: sealer.sealRandom(accountId, 'mirror secret', secret),
      token_hash: this.#hash(token),
      created_at: new Date(now()).toISOString(),
    };
    return { record, token, hmacSecret: secret.toString('hex') };
  }

  /** Destroys the credential. Blobs are kept, and fail verification until uploaded under a new one. */
  async destroy(accountId: string, source: Source): Promise<void> {
    await this.#options.actors.account(accountId).ask((batch) => {
      const current = batch.get(credentials, [accountId]);
      if (current === undefined) throw new Refusal({ kind: 'not_found', what: 'no credential' });
      batch.remove(credentials, [accountId]);
      batch.remove(tokenHashes, [current.token_hash]);
      this.#note(batch, accountId, 'mirror_credential_destroyed', source);
    });
  }

  /** Returns the current credential, without its secrets; undefined: none. */
  current(accountId: string): CurrentCredential | undefined {
    const found = this.#options.store.get(credentials, [accountId]);
    return found && { credentialId: found.credential_id, createdAt: found.created_at };
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
    const current = this.#options.store.get(credentials, [principal.accountId]);
    if (current === undefined || current.credential_id !== principal.credentialId) throw goneCredential();
    const known = this.#hmacKeys.get(current.credential_id);
    if (known !== undefined) return known;
    const secret = this.#options.sealer.openRandom(principal.accountId, 'mirror secret', current.hmac_secret);
    const key = Buffer.from(Buffer.from(secret).toString('hex'), 'ascii');
    this.#hmacKeys.set(current.credential_id, key, 1);
    return key;
  }

  #note(batch: Batch, accountId: string, act: AuditedAct, source: Source): void {
    noteAct(batch, accountId, { atMs: this.#options.now(), act, source });
  }

  #hash(token: string): string {
    return this.#options.sealer.keyedHash('mirror-token', token);
  }
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
