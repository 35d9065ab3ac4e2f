/** Credentials that may upload archives and nothing else, for CI jobs: made, listed, and revoked one at a time. */
import { randomBytes } from 'node:crypto';
import type { ActorRegistry } from '../actors/registry.ts';
import { noteAct } from '../audit/note.ts';
import type { Source } from '../audit/records.ts';
import { Refusal } from '../common/fault.ts';
import { limits } from '../limits/service.ts';
import type { Sealer } from '../store/sealing/seal.ts';
import type { Store } from '../store/store.ts';
import { credentials, tokenHashes, type UploaderRecord, uploaders } from './records.ts';

const SECRET_BYTES = 32;
const PREFIX = 'mu_';

export interface Uploader {
  readonly id: string;
  readonly name: string;
  readonly created_at: string;
}

/** Both secrets are shown only here. */
export interface NewUploader extends Uploader {
  readonly token: string;
  readonly hmac_secret: string;
}

export interface UploadersOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly sealer: Sealer;
  readonly now: () => number;
}

/** True for the id of a credential that may only upload. */
export function isUploader(credentialId: string): boolean {
  return credentialId.startsWith(PREFIX);
}

export class Uploaders {
  readonly #options: UploadersOptions;

  constructor(options: UploadersOptions) {
    this.#options = options;
  }

  /** Throws Refusal `not_found` without the credential that its archives are bound to, or `key_limit`. */
  async create(accountId: string, name: string, source: Source): Promise<NewUploader> {
    const { actors, sealer, now } = this.#options;
    const [token, secret] = [randomBytes(SECRET_BYTES).toString('hex'), randomBytes(SECRET_BYTES)];
    const id = `${PREFIX}${randomBytes(8).toString('hex')}`;
    const atMs = now();
    const record: UploaderRecord = {
      name,
      hmac_secret: sealer.sealRandom(accountId, 'mirror secret', secret),
      token_hash: sealer.keyedHash('mirror-token', token),
      created_at: new Date(atMs).toISOString(),
    };
    return await actors.account(accountId).once(['uploader created', name], (batch): NewUploader => {
      if (batch.get(credentials, [accountId]) === undefined) {
        throw new Refusal({
          kind: 'not_found',
          what: 'no credential; create the backup credential first (POST /api/cert_mirror/credentials)',
        });
      }
      if (batch.range(uploaders, { prefix: [accountId] }).length >= limits.uploadersMax)
        throw new Refusal({ kind: 'key_limit', keysMax: limits.uploadersMax });
      batch.put(uploaders, [accountId, id], record);
      batch.put(tokenHashes, [record.token_hash], { account_id: accountId, credential_id: id });
      noteAct(batch, accountId, { atMs, act: 'mirror_uploader_created', source, detail: name });
      return { id, name, created_at: record.created_at, token, hmac_secret: secret.toString('hex') };
    });
  }

  list(accountId: string): Uploader[] {
    return this.#options.store
      .range(uploaders, { prefix: [accountId] })
      .map(({ key: [, id], value: { name, created_at } }) => ({ id, name, created_at }))
      .sort((one, other) => one.created_at.localeCompare(other.created_at));
  }

  /** Revokes one: its token is 401 at once, its archives stay readable. Throws Refusal `not_found`. */
  async revoke(accountId: string, id: string, source: Source): Promise<void> {
    const { actors, now } = this.#options;
    await actors.account(accountId).once(['uploader revoked', id], (batch): void => {
      const found = batch.get(uploaders, [accountId, id]);
      if (found === undefined) throw new Refusal({ kind: 'not_found', what: 'uploader not found' });
      batch.remove(uploaders, [accountId, id]);
      batch.remove(tokenHashes, [found.token_hash]);
      noteAct(batch, accountId, { atMs: now(), act: 'mirror_uploader_revoked', source, detail: found.name });
    });
  }
}
