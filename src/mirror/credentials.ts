/** The use cases of the mirror credential: issue, rotate, destroy, and what a token opens. */
import { randomBytes } from 'node:crypto';
import type { ActorRegistry } from '../actors/registry.ts';
import { noteAct } from '../audit/note.ts';
import type { AuditedAct, Source } from '../audit/records.ts';
import { KnownCredentials } from '../cache/credentials.ts';
import { Refusal } from '../common/fault.ts';
import type { Session } from '../common/session.ts';
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

  readonly #known: KnownCredentials<Session>;

  constructor(options: MirrorCredentialsOptions) {
    this.#options = options;
    this.#known = new KnownCredentials(options.store, [tokenHashes]);
  }

  /** Gives the account's credential, or makes one; with `rotate` the old one is destroyed in the same commit. */
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
          'This account already has a mirror credential. Its secret was shown once, when it was made; rotate to get a new pair.',
      };
    }
    return {
      status: 'created',
      token: fresh.token,
      hmac_secret: fresh.hmacSecret,
      message:
        'Keep hmac_secret now: it is shown only this once. Blobs of an earlier credential must be uploaded again.',
    };
  }

  /** A new pair, and the record of it; it opens nothing before that is put. */
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

  /** Destroys the credential. Blobs stay, and fail verification until they are uploaded under a new one. */
  async destroy(accountId: string, source: Source): Promise<void> {
    await this.#options.actors.account(accountId).ask((batch) => {
      const current = batch.get(credentials, [accountId]);
      if (current === undefined) throw new Refusal({ kind: 'not_found', what: 'no credential' });
      batch.remove(credentials, [accountId]);
      batch.remove(tokenHashes, [current.token_hash]);
      this.#note(batch, accountId, 'mirror_credential_destroyed', source);
    });
  }

  /** The credential in force, without its secrets; undefined: none. */
  current(accountId: string): CurrentCredential | undefined {
    const found = this.#options.store.get(credentials, [accountId]);
    return found && { credentialId: found.credential_id, createdAt: found.created_at };
  }

  /** The session that a mirror token opens; undefined: none. */
  authenticate(token: string): Session | undefined {
    return this.#known.find(token, () => {
      if (!/^[0-9a-f]{64}$/.test(token)) return undefined;
      const found = this.#options.store.get(tokenHashes, [this.#hash(token)]);
      return found && { accountId: found.account_id, credentialId: found.credential_id };
    });
  }

  /**
   * The key that this session's uploads are signed with: the secret's 64 characters as they are shown, as ASCII, which is
   * what `openssl dgst -hmac` makes of them. Refuses when the credential is gone meanwhile.
   */
  hmacKey(session: Session): Uint8Array {
    const current = this.#options.store.get(credentials, [session.accountId]);
    if (current === undefined || current.credential_id !== session.credentialId) throw goneCredential();
    const secret = this.#options.sealer.openRandom(session.accountId, 'mirror secret', current.hmac_secret);
    return Buffer.from(Buffer.from(secret).toString('hex'), 'ascii');
  }

  #note(batch: Batch, accountId: string, act: AuditedAct, source: Source): void {
    noteAct(batch, accountId, { atMs: this.#options.now(), act, source });
  }

  #hash(token: string): string {
    return this.#options.sealer.keyedHash('mirror-token', token);
  }
}

/** Puts a credential into force for an account that has none. */
export function putCredential(batch: Batch, accountId: string, record: CredentialRecord): void {
  batch.put(credentials, [accountId], record);
  batch.put(tokenHashes, [record.token_hash], { account_id: accountId, credential_id: record.credential_id });
}

/** The credential was rotated or destroyed while a request under it ran. */
export function goneCredential(): Refusal {
  return new Refusal({
    kind: 'unauthenticated',
    scheme: 'McpKey',
    detail: 'this mirror token was replaced or destroyed while the request ran; issue a credential and send it again',
  });
}
