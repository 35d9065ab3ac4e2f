/** Credentials of CI jobs, which only upload archives or only download them: made, listed, and revoked one at a time. */
import { randomBytes } from 'node:crypto';
import type { ActorRegistry } from '../actors/registry.ts';
import { noteAct } from '../audit/note.ts';
import type { Source } from '../audit/records.ts';
import { Refusal } from '../common/fault.ts';
import { limits } from '../limits/service.ts';
import type { Sealer } from '../store/sealing/seal.ts';
import type { Store } from '../store/store.ts';
import { type JobAccess, jobAccess } from './fields.ts';
import { credentials, tokenHashes, type UploaderRecord, uploaders } from './records.ts';

const SECRET_BYTES = 32;
/** How their ids begin. */
const PREFIXES = { upload: 'mu_', download: 'md_' } as const;

export interface Uploader {
  readonly id: string;
  readonly name: string;
  readonly access: JobAccess;
  readonly created_at: string;
}

/** Both secrets are shown only here. Who downloads signs nothing, and has none. */
export interface NewUploader extends Uploader {
  readonly token: string;
  readonly hmac_secret: string | null;
}

export interface UploadersOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly sealer: Sealer;
  readonly now: () => number;
}

/** What the credential of an id may do; undefined: it is that of the account, which may do everything. */
export function jobAccessOf(credentialId: string): JobAccess | undefined {
  return jobAccess.options.find((access) => credentialId.startsWith(PREFIXES[access]));
}

export class Uploaders {
  readonly #options: UploadersOptions;

  constructor(options: UploadersOptions) {
    this.#options = options;
  }

  /** Throws Refusal `not_found` without the credential that its archives are bound to, or `key_limit`. */
  async create(
    accountId: string,
    { name, access }: { readonly name: string; readonly access: JobAccess },
    source: Source,
  ): Promise<NewUploader> {
    const { actors, sealer, now } = this.#options;
    const token = randomBytes(SECRET_BYTES).toString('hex');
    const secret = access === 'upload' ? randomBytes(SECRET_BYTES) : undefined;
    const id = `${PREFIXES[access]}${randomBytes(8).toString('hex')}`;
    const atMs = now();
    const record: UploaderRecord = {
      name,
      ...(secret && { hmac_secret: sealer.sealRandom(accountId, 'mirror secret', secret) }),
      token_hash: sealer.keyedHash('mirror-token', token),
      created_at: new Date(atMs).toISOString(),
    };
    return await actors.account(accountId).once(['uploader created', name, access], (batch): NewUploader => {
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
      return { id, name, access, created_at: record.created_at, token, hmac_secret: secret?.toString('hex') ?? null };
    });
  }

  list(accountId: string): Uploader[] {
    return this.#options.store
      .range(uploaders, { prefix: [accountId] })
      .map(({ key: [, id], value: { name, created_at } }) => ({
        id,
        name,
        access: jobAccessOf(id) ?? 'upload',
        created_at,
      }))
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
